"""Rows with a text, an id and perhaps mentions → documents."""

import json
from typing import Any

from wikilda._core.errors import InputError
from wikilda.documents.document import Document, marked
from wikilda.documents.reading.settings import ReadSettings
from wikilda.text.offsets import CODE_POINTS, to_code_points


def from_line(line: str, id: str, settings: ReadSettings) -> Document:  # noqa: A002
    """A document from a line of JSON: `text`, with `mentions` or without, or `marked` with [[mentions]]."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"is not JSON ({error}).") from None
    if not isinstance(row, dict):
        raise InputError("is not a JSON object.")
    return from_row(row, id, settings)


def from_row(row: dict[str, Any], id: str, settings: ReadSettings) -> Document:  # noqa: A002
    """A document from a row of named values."""
    given = row.get(settings.id_column or "id")
    name = id if given is None else str(given)
    if settings.text_column not in row and isinstance(row.get("marked"), str):
        return marked(row["marked"], name)
    text = row.get(settings.text_column)
    if not isinstance(text, str):
        raise InputError(f'needs "{settings.text_column}", a string.')
    if len(text) > settings.largest:
        raise InputError(f"has a text of {len(text):,} characters, more than the {settings.largest:,} of --largest.")
    return Document(text, _mentions(row.get("mentions"), text, settings), name)


def _mentions(given: Any, text: str, settings: ReadSettings) -> list[tuple[int, int]] | None:
    if given is None:
        return None
    if not isinstance(given, list):
        raise InputError('has "mentions" that are not a list.')
    return to_code_points(text, [_span(each, settings.unit) for each in given], settings.unit)


def _span(mention: Any, unit: str) -> tuple[int, int]:
    if isinstance(mention, dict):
        mention = (mention.get("start"), mention.get("end"))
    if isinstance(mention, list | tuple) and len(mention) == 2 and all(type(each) is int for each in mention):
        return mention[0], mention[1]
    counted = "characters" if unit == CODE_POINTS else unit
    raise InputError(f'has a mention that is not {{"start": 0, "end": 5}} or [0, 5], in {counted}.')

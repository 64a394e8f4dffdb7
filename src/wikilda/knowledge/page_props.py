"""Wikidata ids and disambiguation marks from the official `page_props.sql.gz`."""

import re
from pathlib import Path

import numpy as np
import pyarrow as pa

from wikilda.errors import InputError
from wikilda.files import open_any

_ROW = re.compile(rb"\((\d+),'(?:wikibase_item','[Qq](\d+)'|(disambiguation)',)")


def read_page_props(path: Path) -> pa.Table:
    """Rows of (id, wikidata, disambiguation), one a page."""
    if not path.is_file():
        raise InputError(f"{path}: no such file. `wikilda download --page-props` fetches it.")
    items: dict[str, list[np.ndarray]] = {"item": [], "mark": []}
    try:
        with open_any(path) as lines:
            for line in lines:
                if line.startswith(b"INSERT INTO"):
                    _read_line(line, items)
    except (OSError, EOFError) as error:
        raise InputError(f"{path}: cannot be read to its end ({error}). Download it again.") from None
    if not items["item"] and not items["mark"]:
        raise InputError(f"{path}: has no rows of the table page_props. Is it the dump's page_props.sql.gz?")
    return _as_table(items)


def _read_line(line: bytes, items: "dict[str, list[np.ndarray]]") -> None:
    found = _ROW.findall(line)
    pairs = [(int(page), int(item)) for page, item, mark in found if not mark]
    items["item"].append(np.array(pairs, np.int64).reshape(-1, 2))
    items["mark"].append(np.array([int(page) for page, _, mark in found if mark], np.int64))


def _as_table(items: "dict[str, list[np.ndarray]]") -> pa.Table:
    pairs, marked = np.concatenate(items["item"]), np.concatenate(items["mark"])
    pages, first = np.unique(np.append(pairs[:, 0], marked), return_index=True)
    wikidata = np.append(pairs[:, 1], np.zeros(len(marked), np.int64))[first]
    return pa.table({"id": pages, "wikidata": wikidata, "disambiguation": np.isin(pages, marked)})

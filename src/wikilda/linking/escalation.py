"""Doubtful mentions for a person or another model to decide, and the decisions read back.

A line of the file is a mention: its place and context, its candidates with their first sentences and the log odds of
each kind of evidence, and `title`, to be filled in: a title, or null for NIL. A line without `title` is undecided. The
other mentions of a document are then inferred given the decisions.
"""

import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from wikilda._core.compression import whole_lines
from wikilda._core.errors import InputError, SettingsError
from wikilda.documents.encoding import EncodedDocument
from wikilda.documents.writing import json_line
from wikilda.linking.results import Linked, LinkedMention

if TYPE_CHECKING:
    from wikilda.linking.linker import Linker

_AROUND = 300  # characters of text on either side
Span = tuple[int, int]
Decisions = Mapping[Span, str | None]


def doubtful(linker: "Linker", linked: Linked, below: float) -> Iterator[dict[str, Any]]:
    """The mentions of a document whose answer, an entity or NIL, is less probable than `below`."""
    numbers = [at for at, each in enumerate(linked.mentions) if max(each.confidence, each.nil) < below]
    if not numbers:
        return
    reasons = _reasons(linker, linked, numbers)
    for at in numbers:
        yield {"document": linked.id, **_described(linker, linked, linked.mentions[at], reasons.get(at, {}))}


def _described(linker: "Linker", linked: Linked, mention: LinkedMention, reasons: dict[str, Any]) -> dict[str, Any]:
    sentences = linker.knowledge.sentences
    return {
        "start": mention.start,
        "end": mention.end,
        "mention": mention.text,
        "before": linked.text[max(0, mention.start - _AROUND) : mention.start],
        "after": linked.text[mention.end : mention.end + _AROUND],
        "confidence": round(mention.confidence, 6),
        "nil": round(mention.nil, 6),
        "candidates": [
            {**each.to_dict(), "sentence": sentences[each.entity.topic], "log_odds": reasons.get(each.entity.title)}
            for each in mention.candidates
        ],
    }


def _reasons(linker: "Linker", linked: Linked, numbers: list[int]) -> dict[int, dict[str, Any]]:
    """By mention and title the log odds against the best rival; none from a method that has no evidence."""
    inference = linker.infer_request(linked.request)
    spans = [(each.start, each.end) for each in (linked.mentions[at] for at in numbers)]
    try:
        explained = inference.explain_some(spans)
    except SettingsError:
        return {}
    return {
        at: {
            each.entity.title: {name: round(value, 3) for name, value in asdict(each.odds).items()}
            for each in explanation.candidates
        }
        for at, explanation in zip(numbers, explained, strict=True)
    }


class DoubtfulMentions:
    """The side output of `--escalate`: doubtful mentions, one per line, beside the results."""

    def __init__(self, output: Path, below: float, linker: "Linker") -> None:
        self.path, self.below, self.linker = output.with_name(f"{output.name}.doubtful.jsonl"), below, linker

    def lines(self, linked: Linked) -> bytes:
        """Return the doubtful mentions of a document."""
        return b"".join(map(json_line, doubtful(self.linker, linked, self.below)))

    def write(self, journal: Path, target: Path) -> None:
        """Write the output."""
        shutil.copyfile(journal, target)


def read_decisions(path: Path) -> dict[str, dict[Span, str | None]]:
    """Read the decisions by document and span."""
    found: dict[str, dict[Span, str | None]] = {}
    for number, row in _rows(path):
        if "title" not in row:
            continue
        try:
            title = row["title"]
            found.setdefault(str(row["document"]), {})[int(row["start"]), int(row["end"])] = title and str(title)
        except (ValueError, KeyError, TypeError, OverflowError) as error:
            raise _no_decision(path, number, error) from None
    return found


def _rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows of a file of decisions, with the numbers of their lines."""
    try:
        with path.open("rb") as stream:
            for number, line in enumerate(whole_lines(stream, path), 1):
                if line.strip():
                    row = json.loads(line)
                    if not isinstance(row, dict):
                        raise _no_decision(path, number, TypeError("not an object"))
                    yield number, row
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error}). Correct the file.") from None
    except (ValueError, RecursionError) as error:
        raise _no_decision(path, number, error) from None


def _no_decision(path: Path, number: int, error: Exception) -> InputError:
    return InputError(f"{path}:{number}: is not a decision: {error!r}. Give document, start, end and title.")


def given(linker: "Linker", encoded: EncodedDocument, decisions: Decisions) -> EncodedDocument:
    """Return a document with decided mentions.

    A mention of a topic is replaced by its least ambiguous string, one of NIL by an unknown string.
    """
    places = {tuple(span): at for at, span in enumerate(encoded.spans)}
    symbols = np.array(encoded.mentions, np.int64)
    for span, title in decisions.items():
        if span not in places:
            raise InputError(
                f"document {encoded.id!r}: has no mention [{span[0]}, {span[1]}), which was decided. "
                "Remove the decision."
            )
        symbols[places[span]] = -1 if title is None else _symbol(linker, title, int(symbols[places[span]]))
    return replace(encoded, mentions=symbols)


def _symbol(linker: "Linker", title: str, before: int) -> int:
    """Return the least ambiguous mention string of a topic: its title, a redirect, or the string itself."""
    known, topic = linker.knowledge, linker.entity(title).topic
    strings = (known.find_mention(each) for each in (known.titles[topic], title))
    best = max(
        (each for each in (*strings, before) if each >= 0), key=lambda each: _share(linker, each, topic), default=-1
    )
    return best if best >= 0 and _share(linker, best, topic) > 0 else before


def _share(linker: "Linker", mention: int, topic: int) -> float:
    topics, counts = linker.knowledge.mentions.row(mention)
    return float(counts[topics == topic].sum() / counts.sum())

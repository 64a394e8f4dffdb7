"""A sample of articles with their links, kept in the knowledge, to learn the weights of the evidence from.

Articles are chosen by a hash of their title, so that the sample of a build does not depend on workers. Pieces keep a
limited number of candidates: after an update a few articles may differ from those of a build. Which links
lead to a topic is decided when the pieces are assembled; the others are mentions whose meaning the wiki lacks.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.array_checks import Array, Arrays, rows, strings
from wikilda._core.arrays import StringTable, offsets_of
from wikilda.mediawiki.wikitext import ANCHOR_END, ANCHOR_START, IN_ASIDE, Scanned

if TYPE_CHECKING:  # linking reads the sample's arrays, and needs no pyarrow
    import pyarrow as pa

    from wikilda._core.artifact import Writer
    from wikilda.knowledge._pieces import Folder
    from wikilda.knowledge.knowledge import Knowledge

ARTICLES = 400  # of the sample
LEAST_LINKS = 3
LEAST_BYTES = 1_000  # characters of text, as in a short news story: the words of a stub say little
MOST_BYTES = 12_000  # of its text that are kept
_TABLE = "sample"
RED = -1  # instead of a topic: a link to a missing page
ARRAYS: Arrays = {
    "sample/topics": Array(np.uint32, "sampled", below="topics", optional=True),
    **strings("sample/texts", "sampled", optional=True),
    **rows("sample/links_", "sampled", optional=True, starts=Array(np.int64, minimum=0),
           ends=Array(np.int64, minimum=0), targets=Array(np.int64, below="topics", minimum=RED)),
}  # fmt: skip


class Article(NamedTuple):
    """An article of the sample: its topic, its text, and its links as spans of the text with their topics, or RED."""

    topic: int
    text: str
    spans: list[tuple[int, int]]
    targets: NDArray[np.int64]


def sample_piece(folder: "Folder", pages: NDArray[np.uint64], keys: NDArray[np.uint64], scanned: Scanned,
                 targets: NDArray[np.uint64]) -> None:  # fmt: skip
    """Write the articles of a piece that may be among those of the sample."""
    most = most_of_piece(folder.number, ARTICLES)
    in_text = scanned.links[IN_ASIDE] == 0
    bounds, links = scanned.text_bounds, scanned.link_bounds
    linked = np.concatenate(([0], np.cumsum(in_text)))
    enough = (np.diff(linked[links]) >= LEAST_LINKS) & (np.diff(bounds) >= LEAST_BYTES)
    ranks = rank(keys[: len(pages)])
    order = np.argsort(ranks, kind="stable")
    chosen = np.sort(order[enough[order]][:most]) if len(pages) else order
    rows = list[tuple[Any, ...]]()
    for page in chosen.tolist():
        begin = int(bounds[page])
        text = beginning(scanned.text[begin : bounds[page + 1]].tobytes())
        own = np.arange(links[page], links[page + 1])
        own = own[in_text[own]]
        starts, ends = (scanned.links[row, own].astype(np.int64) - begin for row in (ANCHOR_START, ANCHOR_END))
        whole = (starts >= 0) & (ends <= len(text)) & (ends > starts)
        rows.append((pages[page], ranks[page], text, starts[whole], ends[whole], targets[own[whole]]))
    folder.write(_TABLE, candidates(rows))


def candidates(rows: Iterable[tuple[Any, ...]]) -> "pa.Table":
    """Articles with their links as a table: pages, ranks, texts, and the starts, ends and targets of links in bytes."""
    import pyarrow as pa

    types = {"page": pa.uint64(), "rank": pa.uint64(), "text": pa.binary(), "starts": pa.list_(pa.int64()),
             "ends": pa.list_(pa.int64()), "targets": pa.list_(pa.uint64())}  # fmt: skip
    columns = list(zip(*rows, strict=True)) or [()] * len(types)
    return pa.table({name: pa.array(list(column), types[name]) for name, column in zip(types, columns, strict=True)})


def most_of_piece(number: int, articles: int) -> int:
    """Return the number of articles that a piece keeps, so that the first by rank of all pieces are among them.

    It is more than the expected share, given that there are at least as many pieces as the piece's own number says.
    """
    expected = articles / (number + 1)
    return int(expected + 4.0 * expected**0.5) + 4


def sampled_links(chunks: Path) -> "pa.Table | None":
    """Return the candidates of all pieces by rank; None if there are none."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    files = sorted(chunks.glob(f"*/{_TABLE}.parquet"))
    if not files:
        return None
    return pa.concat_tables([pq.read_table(file) for file in files]).sort_by("rank")


def write_sample(
    out: "Writer[Knowledge]", table: "pa.Table", topic_of_page: dict[int, int], topic_of_key: dict[int, int]
) -> None:
    """Write the sample: the first articles by rank that are topics."""
    topics, texts, spans = list[int](), list[bytes](), list[tuple[NDArray[Any], ...]]()
    for row in table.to_pylist():
        topic = topic_of_page.get(row["page"])
        if topic is None or len(topics) == ARTICLES:
            continue
        targets = np.array([topic_of_key.get(key, RED) for key in row["targets"]], np.int64)
        starts, ends, kept = _in_characters(row["text"], np.array(row["starts"]), np.array(row["ends"]))
        topics.append(topic)
        texts.append(row["text"])
        spans.append((starts, ends, targets[kept]))
    out.array("sample/topics", np.array(topics, np.uint32))
    out.strings("sample/texts", _strings(texts))
    out.array("sample/links_offsets", offsets_of(np.array([len(each[0]) for each in spans], np.int64)))
    for at, name in enumerate(("starts", "ends", "targets")):
        out.array(f"sample/links_{name}", np.concatenate([np.empty(0, np.int64), *(each[at] for each in spans)]))


def articles(knowledge: "Knowledge") -> Iterator[Article]:
    """Yield the articles of the sample; none without links in texts."""
    if not knowledge.has("sample/topics"):
        return
    topics, texts = knowledge.array("sample/topics"), knowledge.strings("sample/texts")
    bounds = knowledge.array("sample/links_offsets")
    starts, ends, targets = (knowledge.array(f"sample/links_{name}") for name in ("starts", "ends", "targets"))
    for number, topic in enumerate(topics.tolist()):
        span = slice(bounds[number], bounds[number + 1])
        spans = list(zip(starts[span].tolist(), ends[span].tolist(), strict=True))
        yield Article(topic, texts[number], spans, np.asarray(targets[span]))


def rank(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return hashes of keys, which are hashes that other parts of the build sort by."""
    mixed: NDArray[np.uint64] = (keys ^ (keys >> np.uint64(31))) * np.uint64(0x9E3779B97F4A7C15)
    return mixed ^ (mixed >> np.uint64(29))


def beginning(text: bytes) -> bytes:
    """Return the beginning of a text, cut at a character."""
    return text[:MOST_BYTES].decode("utf-8", "ignore").encode()


def _in_characters(
    text: bytes, starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Spans in characters, without white space at their ends; those that are left, which do not overlap."""
    places = np.cumsum((np.frombuffer(text, np.uint8) & 0xC0) != 0x80)
    places = np.append(np.concatenate(([0], places)), places[-1] if len(places) else 0)
    string = text.decode("utf-8", "ignore")
    found, last = list[tuple[int, int, int]](), 0
    for at in np.argsort(starts, kind="stable").tolist():
        start, end = int(places[starts[at]]), int(places[ends[at]])
        while start < end and string[start].isspace():
            start += 1
        while start < end and string[end - 1].isspace():
            end -= 1
        if last <= start < end and "\n" not in string[start:end]:
            found.append((start, end, at))
            last = end
    columns = np.array(found, np.int64).reshape(-1, 3)
    return columns[:, 0], columns[:, 1], columns[:, 2]


def _strings(texts: list[bytes]) -> StringTable:
    data = np.frombuffer(b"".join(texts), np.uint8)
    return StringTable(data, offsets_of(np.array([len(each) for each in texts], np.int64)))

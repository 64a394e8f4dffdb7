"""Link data frames: pandas, Polars, Arrow, or others with the Arrow interface.

Texts are read from Arrow's memory in batches. Only the needed columns of the frame are read.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import accumulate, count, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from wikilda._core.errors import InputError
from wikilda._core.settings import suggestion
from wikilda.documents.document import Document
from wikilda.linking.results import Linked

if TYPE_CHECKING:
    from wikilda.linking.linker import Linker

MENTIONS, DOCUMENTS = "mentions", "documents"
COLUMNS = {
    "start": pa.int64(), "end": pa.int64(), "mention": pa.string(), "title": pa.string(), "topic": pa.int64(),
    "wikidata": pa.string(), "confidence": pa.float64(), "posterior": pa.float64(), "nil": pa.float64(),
    "prior": pa.float64(), "type": pa.string(),
}  # fmt: skip
MENTION = pa.struct(list(COLUMNS.items()))
_BATCH = 4096  # documents per batch of Python objects
_TEXTS = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)


def mention_rows(linked: Linked) -> Iterator[tuple[Any, ...]]:
    """The values of `COLUMNS` for each mention; those of an entity are None where the mention is NIL."""
    for each in linked.mentions:
        entity, best = each.entity, each.candidates[0] if each.candidates else None
        known = (entity.title, entity.topic, entity.wikidata) if entity else (None, None, None)
        numbers = (each.confidence, best.probability if best else None, each.nil, best.prior if best else None)
        yield (each.start, each.end, each.text, *known, *numbers, entity.type if entity else None)


def link_table(
    linker: "Linker", table: pa.Table, text: str = "text", *, id: str | None = None, rows: str = MENTIONS,  # noqa: A002
    workers: int = 1, candidates: int = 1,
) -> pa.Table:  # fmt: skip
    """Link the texts of an Arrow table: see `Linker.link_frame`."""
    if rows not in (MENTIONS, DOCUMENTS):
        raise InputError(f"rows must be {MENTIONS} or {DOCUMENTS}, not {rows!r}.")
    texts = _strings(table, text)
    names = table.column(column_of(table, id)) if id else pa.chunked_array([pa.array(range(len(texts)), pa.int64())])
    documents = (
        Document(each.as_py() or "", id=str(name.as_py())) for each, name in zip(texts, names, strict=True)
    )  # fmt: skip
    results = linker.link_many(documents, workers=workers, candidates=candidates, topics=0)
    if rows == DOCUMENTS:
        lists = [_nested(each) for each in _batches(results)]
        return _without(table, "mentions").append_column("mentions", pa.chunked_array(lists, pa.list_(MENTION)))
    if pa.types.is_string_view(names.type):  # Polars' strings, which Arrow cannot take from
        names = names.cast(pa.large_string())
    parts = [_flat(names, first, each) for first, each in zip(count(0, _BATCH), _batches(results))]
    return pa.concat_tables(parts) if parts else _flat(names, 0, [])


def _batches(results: Iterable[Linked]) -> Iterator[list[Linked]]:
    """Yield documents in batches, because Python objects of a million would not fit into memory."""
    results = iter(results)
    while batch := list(islice(results, _BATCH)):
        yield batch


def _nested(batch: list[Linked]) -> pa.Array:
    """Return a list of mentions per document."""
    ends = accumulate((len(each.mentions) for each in batch), initial=0)
    mentions = pa.StructArray.from_arrays(_columns(batch), fields=list(MENTION))
    return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), mentions)


def _columns(batch: list[Linked]) -> list[pa.Array]:
    rows = [row for each in batch for row in mention_rows(each)]
    columns = zip(*rows, strict=True) if rows else [()] * len(COLUMNS)
    return [pa.array(each, kind) for each, kind in zip(columns, COLUMNS.values(), strict=True)]


def _flat(names: pa.ChunkedArray, first: int, batch: list[Linked]) -> pa.Table:
    """Return one row per mention; `first` is the index of the batch's first document in `names`."""
    places = [place for place, each in enumerate(batch, first) for _ in each.mentions]
    return pa.table([names.take(pa.array(places, pa.int64())), *_columns(batch)], ["document", *COLUMNS])


def link_frame(linker: "Linker", frame: Any, text: str = "text", **options: Any) -> Any:
    """Link the texts of a data frame, and return one of the same library: see `Linker.link_frame`."""
    table, library = as_table(frame)
    return like(link_table(linker, table, text, **options), library)


def like(table: pa.Table, library: str) -> Any:
    """Return a table as a data frame of a library; else as Arrow's."""
    if library == "pandas":
        return table.to_pandas()
    if library == "polars":
        import polars

        return polars.from_arrow(table)
    return table


class BatchLinker:
    """Links Arrow batches: what Ray Data's `map_batches`, Dask's `map_partitions` or `datasets.map` can call.

    It travels to other processes as the path of its model, which is opened where it is first called.

    Examples
    --------
    >>> import pyarrow as pa
    >>> link = BatchLinker(sample, rows="documents")
    >>> found = link(pa.table({"text": ["Croft bowled for England.", None]}))
    >>> [len(each) for each in found.column("mentions").to_pylist()]
    [2, 0]
    """

    def __init__(self, model: str | Path, text: str = "text", **options: Any) -> None:
        self.model, self.text, self.options = str(model), text, options

    def __call__(self, batch: Any) -> Any:
        """Link a batch: an Arrow table or record batch, or a data frame."""
        return link_frame(_opened(self.model), batch, self.text, **self.options)


@lru_cache(maxsize=1)
def _opened(model: str) -> "Linker":
    from wikilda.linking.linker import Linker

    return Linker.open(model)


def as_table(frame: Any) -> tuple[pa.Table, str]:
    """Return a frame as an Arrow table, and its library. Unsuitable columns raise an error."""
    library = type(frame).__module__.split(".")[0]
    if isinstance(frame, pa.Table):
        return frame, library
    if isinstance(frame, pa.RecordBatch):
        return pa.Table.from_batches([frame]), library
    try:
        if library == "pandas":
            return pa.Table.from_pandas(frame, preserve_index=False), library
        if library == "polars" and hasattr(frame, "collect"):
            frame = frame.collect()
        return pa.table(frame), library
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise InputError(
            f"a column of the data frame has values of several types: {error}. Convert them to one."
        ) from None
    except (TypeError, ValueError):
        raise InputError(
            f"a {type(frame).__name__} is not a data frame with an Arrow interface. "
            "Convert it to pandas, Polars or Arrow."
        ) from None


def column_of(table: pa.Table, name: str) -> str:
    """Check that a column exists, and return its name."""
    if name not in table.column_names:
        raise InputError(f"there is no column {name!r}{suggestion(name, table.column_names)}")
    return name


def _strings(table: pa.Table, name: str) -> pa.ChunkedArray:
    found = table.column(column_of(table, name))
    if pa.types.is_dictionary(found.type):
        found = found.cast(found.type.value_type)
    if pa.types.is_null(found.type):
        return found.cast(pa.string())
    if not any(test(found.type) for test in _TEXTS):
        raise InputError(f"column {name!r} has values of type {found.type}. Give strings.")
    return found


def _without(table: pa.Table, name: str) -> pa.Table:
    return table.drop_columns([name]) if name in table.column_names else table

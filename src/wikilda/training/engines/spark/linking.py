"""Bulk linking: Parquet in, Parquet out. Every node maps the model's files, which must be there under the same path."""

import tempfile
from collections.abc import Iterator
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from wikilda.errors import InputError, SettingsError
from wikilda.inference.settings import SamplerSettings
from wikilda.inference.urn import UrnSettings
from wikilda.linking import Linked, Linker, Text
from wikilda.training.engines.spark.session import open_session, worded

_MENTION = (
    "start int, end int, text string, title string, page_id bigint, wikidata string, url string, "
    "probability double, prior double"
)
LINKED = (
    f"id string, mentions array<struct<{_MENTION}>>, topics array<struct<title string, share double>>, error string"
)


class Linking(NamedTuple):
    """How documents are linked."""

    model: Path
    knowledge: Path | None = None
    settings: UrnSettings | SamplerSettings = UrnSettings()
    topics: int = 10


def link_on(
    master: str | None, source: str, target: str, how: Linking, *, text: str = "text", identity: str = "id",
    overwrite: bool = False,
) -> None:  # fmt: skip
    """Link the documents of Parquet files, and write a row for each: its mentions, its topics, or what is wrong."""
    Linker.open(how.model, knowledge=how.knowledge, settings=how.settings)  # what is wrong with it is said at once
    with tempfile.TemporaryDirectory(prefix="wikilda-spark-") as scratch:
        spark = open_session(master, {}, Path(scratch))
        try:
            with worded():
                documents = spark.read.parquet(source)
                missing = [name for name in (text, identity) if name not in documents.columns]
                if missing:
                    raise SettingsError(f"{source}: has no column {missing[0]}; it has {', '.join(documents.columns)}.")
                linked = link_documents(documents, how, text=text, identity=identity)
                linked.write.mode("overwrite" if overwrite else "error").parquet(target)
        finally:
            spark.stop()


def link_documents(documents: DataFrame, how: Linking, *, text: str = "text", identity: str = "id") -> DataFrame:
    """A table of documents linked; a column `mentions` of start and end, in characters, is used where there is one."""
    spans = F.col("mentions") if "mentions" in documents.columns else F.lit(None)
    columns = documents.select(
        F.col(identity).cast("string").alias("id"),
        F.col(text).alias("text"),
        spans.cast("array<struct<start int, end int>>").alias("mentions"),
    )
    return columns.mapInArrow(partial(link_batches, how=how), LINKED)


def link_batches(batches: Iterator[pa.RecordBatch], how: Linking) -> Iterator[pa.RecordBatch]:
    """What a worker does."""
    linker = _linker(how)
    for batch in batches:
        rows = [_row(linker, document, how.topics) for document in batch.to_pylist()]
        yield pa.RecordBatch.from_pylist(rows, _SCHEMA)


@lru_cache(maxsize=1)
def _linker(how: Linking) -> Linker:
    return Linker.open(how.model, knowledge=how.knowledge, settings=how.settings)


def _row(linker: Linker, document: dict[str, Any], topics: int) -> dict[str, Any]:
    spans = document["mentions"]
    try:
        if document["text"] is None:
            raise InputError("has no text.")
        given = None if spans is None else [(each["start"], each["end"]) for each in spans]
        linked = linker.link(Text(document["text"], given, document["id"] or ""), candidates=1, topics=topics)
    except InputError as error:
        return {"id": document["id"], "error": str(error)}
    return {"id": document["id"], **_plain(linked)}


def _plain(linked: Linked) -> dict[str, Any]:
    mentions = []
    for each in linked.mentions:
        row: dict[str, Any] = {"start": each.start, "end": each.end, "text": each.text, "nil": each.nil}
        if each.entity:
            best, entity = each.candidates[0], each.entity
            row |= {"title": entity.title, "page_id": entity.page_id, "wikidata": entity.wikidata, "url": entity.url}
            row |= {"probability": best.probability, "prior": best.prior}
        mentions.append(row)
    return {"mentions": mentions, "topics": [{"title": t.entity.title, "share": t.share} for t in linked.topics]}


_FIELDS = {
    "start": pa.int32(), "end": pa.int32(), "text": pa.string(), "title": pa.string(), "page_id": pa.int64(),
    "wikidata": pa.string(), "url": pa.string(), "probability": pa.float64(), "prior": pa.float64(),
    "nil": pa.float64(),
}  # fmt: skip
_SCHEMA = pa.schema(
    {
        "id": pa.string(),
        "mentions": pa.list_(pa.struct(_FIELDS)),
        "topics": pa.list_(pa.struct({"title": pa.string(), "share": pa.float64()})),
        "error": pa.string(),
    }
)

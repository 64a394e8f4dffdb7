"""Bulk linking: Parquet in, Parquet out, with the answers of `wikilda link`.

Every node maps the model's files, which must be there under the same path.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import from_arrow_schema

from wikilda._core.errors import InputError
from wikilda._core.spark import entries, running, worded
from wikilda.documents.detection import choose_detector
from wikilda.documents.reading import Bad
from wikilda.documents.reading.rows import from_row
from wikilda.documents.reading.tables import check_columns
from wikilda.documents.writing.parquet import schema_of, storable
from wikilda.lda.settings import LdaSettings
from wikilda.linking import DetectorSettings, Linker, ReadSettings
from wikilda.linking.batch import guarded_link
from wikilda.urn import UrnSettings

_PLACE = "place of the row"  # a column that rows get: the id of documents that have none
_CONF = {"spark.sql.execution.arrow.maxRecordsPerBatch": "64"}  # documents that a worker holds


class Linking(NamedTuple):
    """How documents are read, linked and answered: the settings of `wikilda link`."""

    model: Path
    knowledge: Path | None = None
    settings: UrnSettings | LdaSettings = UrnSettings()
    detector: str = "dictionary"
    detection: DetectorSettings = DetectorSettings()
    reading: ReadSettings = ReadSettings()
    candidates: int = 5
    topics: int = 10
    with_text: bool = False
    with_mentions: bool = True

    def open(self) -> Linker:
        """Open what links."""
        linker = Linker.open(self.model, knowledge=self.knowledge, settings=self.settings)
        linker.detector = choose_detector(self.detector, linker.knowledge, self.detection)
        return linker

    def schema(self) -> pa.Schema:
        """The columns of answers: those of `wikilda link`, and what was wrong with a document."""
        extra = {"text": self.with_text, "mentions": self.with_mentions}
        names = ["id", *(name for name, wanted in extra.items() if wanted), "topics", "knowledge"]
        return schema_of(names).append(pa.field("error", pa.string()))


def link_files(
    sources: Sequence[str], target: str, how: Linking, *, master: str | None = None,
    conf: Mapping[str, str] | None = None, overwrite: bool = False,
) -> tuple[int, int]:  # fmt: skip
    """Link the documents of Parquet files, and write a row for each; gives how many there are, and how many are bad."""
    how.open()  # what is wrong with it is said at once
    with running(master, {**_CONF, **(conf or {})}) as spark, worded("Run the same command again."):
        if not overwrite and any(not name.startswith("_temporary") for name in entries(spark, target)):
            raise InputError(f"{target}: exists already. Say --overwrite to replace it.")
        documents = _read(spark, sources, how)
        link_documents(documents, how).write.mode("overwrite").parquet(target)
        written = spark.read.parquet(target).select("error")
        return written.count(), written.where("error is not null").count()


def _read(spark: SparkSession, sources: Sequence[str], how: Linking) -> DataFrame:
    found = spark.read.parquet(*sources)
    try:
        check_columns(found.columns, how.reading)
    except InputError as error:
        raise InputError(f"{', '.join(sources)}: {error}") from None
    if found.isEmpty():
        raise InputError("there are no documents in what was given.")
    return found.withColumn(_PLACE, _place())


def _place() -> Column:
    """A document's file and the number of its row, as the local command has them where paths are absolute."""
    file = F.regexp_replace("_metadata.file_path", "^file:/+", "/")
    return F.concat(file, F.lit(":"), (F.col("_metadata.row_index") + 1).cast("string"))


def link_documents(documents: DataFrame, how: Linking) -> DataFrame:
    """A table of documents linked. It has the columns that `how.reading` names, and perhaps `mentions`."""
    wanted = (how.reading.text_column, how.reading.id_column or "id", "mentions", _PLACE)
    some = documents.select(*(F.col(f"`{name}`") for name in dict.fromkeys(wanted) if name in documents.columns))
    return some.mapInArrow(partial(link_batches, how=how), from_arrow_schema(how.schema()))


def link_batches(batches: Iterator[pa.RecordBatch], how: Linking) -> Iterator[pa.RecordBatch]:
    """What a worker does."""
    linker, schema = _linker(how), how.schema()
    for batch in batches:
        yield pa.RecordBatch.from_pylist([storable(_answer(linker, row, how)) for row in batch.to_pylist()], schema)


@lru_cache(maxsize=1)
def _linker(how: Linking) -> Linker:
    return how.open()


def _answer(linker: Linker, row: dict[str, Any], how: Linking) -> dict[str, Any]:
    given, place = row.get(how.reading.id_column or "id"), row.get(_PLACE) or ""
    name = place if given is None else str(given)
    try:
        linked = guarded_link(linker, from_row(row, place, how.reading), how.candidates, how.topics)
    except InputError as error:
        return {"id": name, "error": str(error)}
    if isinstance(linked, Bad):
        return {"id": name, "error": linked.why}
    return linked.to_json(how.reading.unit, with_text=how.with_text, with_mentions=how.with_mentions)

"""Linking on Spark: Parquet in, Parquet out, with the results of `link_files`.

Every node maps the model's files, which must be there under the same path.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import from_arrow_schema

from wikilda._core.errors import InputError
from wikilda._core.spark import entries, running, worded
from wikilda.documents.reading import Bad
from wikilda.documents.reading.rows import from_row
from wikilda.documents.reading.tables import check_columns
from wikilda.documents.writing.parquet import schema_of, storable
from wikilda.linking.files import Job
from wikilda.linking.linker import Linker

_PLACE = "place of the row"  # a column that rows get: the id of documents that have none
_CONF = {"spark.sql.execution.arrow.maxRecordsPerBatch": "64"}  # documents that a worker holds


def schema_for(job: Job) -> pa.Schema:
    """The columns of results: those of `wikilda link`, and what was wrong with a document."""
    extra = {"text": job.with_text, "mentions": job.with_mentions}
    names = ["id", *(name for name, wanted in extra.items() if wanted), "topics", "knowledge"]
    return schema_of(names).append(pa.field("error", pa.string()))


def link_files(
    sources: Sequence[str], target: str, job: Job, *, master: str | None = None,
    conf: Mapping[str, str] | None = None, overwrite: bool = False,
) -> tuple[int, int]:  # fmt: skip
    """Link the documents of Parquet files, and write a row for each; gives how many there are, and how many are bad."""
    job.restriction.check(job.open().knowledge)  # errors come before Spark starts
    with running(master, {**_CONF, **(conf or {})}) as spark, worded("Run the same command again."):
        if not overwrite and any(not name.startswith("_temporary") for name in entries(spark, target)):
            raise InputError(f"{target}: exists already. Use --overwrite to replace it.")
        documents = _read(spark, sources, job)
        link_documents(documents, job).write.mode("overwrite").parquet(target)
        written = spark.read.parquet(target).select("error")
        return written.count(), written.where("error is not null").count()


def _read(spark: SparkSession, sources: Sequence[str], job: Job) -> DataFrame:
    found = spark.read.parquet(*sources)
    try:
        check_columns(found.columns, job.reading)
    except InputError as error:
        raise InputError(f"{', '.join(sources)}: {error}") from None
    if found.isEmpty():
        raise InputError("there are no documents in what was given.")
    return found.withColumn(_PLACE, _place())


def _place() -> Column:
    """The name of a document's file and the number of its row, as `link_files` has them."""
    file = F.element_at(F.split("_metadata.file_path", "/"), -1)
    return F.concat(file, F.lit(":"), (F.col("_metadata.row_index") + 1).cast("string"))


def link_documents(documents: DataFrame, job: Job) -> DataFrame:
    """A table of documents linked. It has the columns that `job.reading` names, and perhaps `mentions`."""
    wanted = (job.reading.text_column, job.reading.id_column or "id", "mentions", _PLACE)
    some = documents.select(*(F.col(f"`{name}`") for name in dict.fromkeys(wanted) if name in documents.columns))
    return some.mapInArrow(partial(link_batches, job=job), from_arrow_schema(schema_for(job)))


def link_batches(batches: Iterator[pa.RecordBatch], job: Job) -> Iterator[pa.RecordBatch]:
    """What a worker does."""
    linker, schema = _linker(job), schema_for(job)
    for batch in batches:
        yield pa.RecordBatch.from_pylist([storable(_answer(linker, row, job)) for row in batch.to_pylist()], schema)


@lru_cache(maxsize=1)
def _linker(job: Job) -> Linker:
    return job.open()


def _answer(linker: Linker, row: dict[str, Any], job: Job) -> dict[str, Any]:
    given, place = row.get(job.reading.id_column or "id"), row.get(_PLACE) or ""
    name = place if given is None else str(given)
    try:
        linked = job.link(linker, from_row(row, place, job.reading))
    except InputError as error:
        return {"id": name, "error": str(error)}
    return {"id": name, "error": linked.why} if isinstance(linked, Bad) else job.row(linked)

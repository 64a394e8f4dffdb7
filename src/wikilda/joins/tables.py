"""Parquet tables on Spark's file systems, written and read by the driver in parts."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from wikilda._core.errors import WikildaError
from wikilda._core.spark import entries, file_system, hadoop_path

_DONE = "_SUCCESS"  # Spark's marker of complete tables


class Tables:
    """Tables below a directory that every node sees; `scratch` is a place on the driver's disk."""

    def __init__(self, spark: SparkSession, root: str, scratch: Path) -> None:
        self.spark, self.root, self.scratch = spark, root, scratch
        scratch.mkdir(parents=True, exist_ok=True)

    def uri(self, name: str) -> str:
        """Return the address of a table."""
        return f"{self.root}/{name}"

    def read(self, name: str, schema: str) -> DataFrame:
        """A table."""
        return self.spark.read.schema(schema).parquet(self.uri(name))

    def is_whole(self, name: str) -> bool:
        """Return whether a table is complete. One that the driver has written and that was cut short is refused."""
        system, path = self._at(name)
        if not system.exists(path):
            return False
        found = {str(each.getPath().getName()): int(each.getLen()) for each in system.listStatus(path)}
        if not found.get(_DONE):
            return _DONE in found
        for file, size in self._sizes(name).items():
            if found.get(file) != size:
                raise WikildaError(
                    f"{self.uri(name)}: is cut short: {file} has {found.get(file, 0):,} of {size:,} bytes. "
                    "Remove the table, and run the same command again."
                )
        return True

    def _sizes(self, name: str) -> dict[str, int]:
        """Return the sizes of the files that the driver has written."""
        local = self.scratch / "sizes.json"
        system, path = self._at(f"{name}/{_DONE}")
        system.copyToLocalFile(False, path, hadoop_path(self.spark, local.resolve().as_uri()), True)
        sizes: dict[str, int] = json.loads(local.read_text("utf-8"))
        return sizes

    def remove(self, name: str) -> None:
        """Remove a table, if it exists."""
        system, path = self._at(name)
        system.delete(path, True)

    def rename(self, name: str, to: str) -> None:
        """Give a table its name."""
        self.remove(to)
        system, path = self._at(name)
        system.rename(path, self._at(to)[1])

    def write(self, name: str, files: Iterable[Iterable[pa.RecordBatch]]) -> None:
        """Write a table, file by file."""
        self.remove(name)
        sizes = {}
        for number, batches in enumerate(files):
            local = self.scratch / f"part-{number:05d}.parquet"
            _write_file(local, batches)
            sizes[local.name] = local.stat().st_size
            self._put(local, f"{name}/{local.name}")
        local = self.scratch / _DONE
        local.write_text(json.dumps(sizes), "utf-8")
        self._put(local, f"{name}/{_DONE}")

    def copied(self, name: str, target: Path) -> list[Path]:
        """A table's files, brought to the driver's disk."""
        target.mkdir(parents=True, exist_ok=True)
        made = []
        for file in sorted(each for each in entries(self.spark, self.uri(name)) if each.startswith("part-")):
            system, source = self._at(f"{name}/{file}")
            system.copyToLocalFile(False, source, hadoop_path(self.spark, (target / file).resolve().as_uri()), True)
            made.append(target / file)
        return made

    def batches(self, name: str) -> Iterator[pa.RecordBatch]:
        """A table's rows in the order of its files, each of which is brought to the driver's disk in turn."""
        for file in sorted(each for each in entries(self.spark, self.uri(name)) if each.startswith("part-")):
            local = self.scratch / "fetched.parquet"
            system, source = self._at(f"{name}/{file}")
            system.copyToLocalFile(False, source, hadoop_path(self.spark, local.as_uri()), True)
            with pq.ParquetFile(local) as opened:
                yield from opened.iter_batches(batch_size=4096)
            local.unlink()

    def _put(self, local: Path, name: str) -> None:
        system, path = self._at(name)
        system.copyFromLocalFile(True, True, hadoop_path(self.spark, local.resolve().as_uri()), path)

    def _at(self, name: str) -> tuple[Any, Any]:
        return file_system(self.spark, self.uri(name))


def _plain_blocks(schema: pa.Schema) -> dict[str, Any]:
    """Return options for tables of blocks, of which a dictionary and the smallest would take long to find."""
    columns = [each.name for each in schema if each.type != pa.binary()]
    return {"use_dictionary": columns, "write_statistics": columns} if len(columns) < len(schema) else {}


def _write_file(path: Path, batches: Iterable[pa.RecordBatch]) -> None:
    writer = None
    for batch in batches:
        writer = writer or pq.ParquetWriter(path, batch.schema, **_plain_blocks(batch.schema))
        writer.write_batch(batch)
    if writer:
        writer.close()

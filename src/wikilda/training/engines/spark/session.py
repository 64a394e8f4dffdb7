"""A Spark session with what the engine needs; on one machine, it listens to that machine only."""

import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from wikilda.errors import SettingsError, WikildaError
from wikilda.training.engines.spark.java import java_home

_ALWAYS = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "2000",  # rows hold lists, so few make a batch
    "spark.sql.execution.arrow.pyspark.fallback.enabled": "false",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
_LOOPBACK = "127.0.0.1"


def open_session(master: str | None, more: Mapping[str, str], scratch: Path) -> SparkSession:
    """Start Spark at `master`, or as `spark-submit` was told; `more` are further settings of Spark."""
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
        raise SettingsError(f"Spark does not start at {master or 'the master of spark-submit'}: {error}") from None
    session.sparkContext.setLogLevel("ERROR")
    return session


@contextmanager
def _where_unset(environment: Mapping[str, str | None]) -> Iterator[None]:
    """Variables for what the block starts; `scratch`, of which they may speak, does not outlive the session."""
    added = {name: value for name, value in environment.items() if value and not os.environ.get(name)}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]


@contextmanager
def running(master: str | None, more: Mapping[str, str]) -> Iterator[SparkSession]:
    """A session for as long as the block runs."""
    with tempfile.TemporaryDirectory(prefix="wikilda-spark-", ignore_cleanup_errors=True) as scratch:
        session = open_session(master, more, Path(scratch))
        try:
            yield session
        finally:
            session.stop()


@contextmanager
def worded(advice: str = "What is finished is kept: run the same command again.") -> Iterator[None]:
    """Failures of Spark in a few words; its own are pages long, and go to its logs."""
    try:
        yield
    except (PySparkException, Py4JError) as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        why = next((line for line in reversed(lines) if "Error:" in line and not line.startswith("at ")), lines[0])
        raise WikildaError(f"Spark has failed: {why[:500]}. {advice}") from error

"""The engine of a cluster: Figure 3 as Spark tables. See docs/spark.md."""

import importlib.util

from wikilda.errors import SettingsError

if importlib.util.find_spec("pyspark") is None:
    raise SettingsError("Spark is not installed. Run: pip install 'wikilda[spark]'")

from wikilda.training.engines.spark.engine import SparkEngine

__all__ = ["SparkEngine"]

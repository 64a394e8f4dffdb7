"""The engine of a cluster: Figure 3 as Spark tables. See docs/spark.md."""

from wikilda.training.engines.spark.engine import SparkEngine

__all__ = ["SparkEngine"]

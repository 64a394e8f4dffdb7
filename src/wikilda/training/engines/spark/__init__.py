"""The engine of a cluster: Figure 3 as Spark tables. See docs/method/joins.md."""

from wikilda.training.engines.spark._engine import SparkEngine

__all__ = ["SparkEngine"]

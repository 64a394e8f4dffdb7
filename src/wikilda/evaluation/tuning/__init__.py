"""The paper's greedy search for settings: one at a time, keeping what measures best."""

from wikilda.evaluation.tuning.record import Record
from wikilda.evaluation.tuning.search import Search, Step
from wikilda.evaluation.tuning.space import Space, read_space
from wikilda.evaluation.tuning.trial import Point, Task

__all__ = ["Point", "Record", "Search", "Space", "Step", "Task", "read_space"]

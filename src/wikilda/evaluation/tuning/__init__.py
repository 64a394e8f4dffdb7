"""The paper's greedy search for settings: one at a time, keeping what measures best."""

from wikilda.evaluation.tuning._search import Point, Record, Search, Space, Step, Task, own_space, read_space

__all__ = ["Point", "Record", "Search", "Space", "Step", "Task", "own_space", "read_space"]

"""What was met while something was read: counts, and examples of what was wrong."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

_EXAMPLES = 20
_FILE = "report.json"


@dataclass
class Report:
    """Counts, and examples of what was wrong."""

    counts: dict[str, int] = field(default_factory=dict)
    examples: list[str] = field(default_factory=list)

    def count(self, what: str, amount: int = 1) -> None:
        """Count something."""
        self.counts[what] = self.counts.get(what, 0) + amount

    def complain(self, what: str, example: str) -> None:
        """Count something wrong and keep an example of it."""
        self.count(what)
        if len(self.examples) < _EXAMPLES:
            self.examples.append(example)

    def add(self, other: "Report") -> None:
        """Take another report into this one."""
        for what, amount in other.counts.items():
            self.count(what, amount)
        self.examples = (self.examples + other.examples)[:_EXAMPLES]

    def save(self, directory: Path) -> None:
        """Write it into a directory."""
        (directory / _FILE).write_text(json.dumps(asdict(self)), "utf-8")

    @classmethod
    def read(cls, directory: Path) -> "Report":
        """Read what `save` has written."""
        return cls(**json.loads((directory / _FILE).read_text("utf-8")))

"""Results of an earlier run, to be compared with: the same documents, paired."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from wikilda._core.errors import InputError
from wikilda.evaluation import bootstrap
from wikilda.evaluation.bootstrap import Difference
from wikilda.evaluation.metrics import by_document, shares
from wikilda.evaluation.run import Run


class Earlier:
    """A file that `wikilda evaluate --output` has written."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.datasets: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))["datasets"]
            self._documents = {each["name"]: each["documents_by_method"] for each in self.datasets}
        except (ValueError, KeyError, TypeError, AttributeError):
            raise InputError(f"{path}: is not what `wikilda evaluate --output` writes.") from None

    def compare(self, run: Run) -> dict[str, Difference] | None:
        """By how much a run is better than the same method was then; nothing if that was not run on this data set."""
        then = self._documents.get(run.gold.name, {}).get(run.method)
        if then is None:
            return None
        total = by_document(run.gold.known, run.gold)
        names = [document.id for document in run.gold.documents]
        if [each["id"] for each in then] != names or [each["in_knowledge"] for each in then] != total.tolist():
            raise InputError(
                f"{self.path}: its {run.gold.name} has other documents or other gold; they cannot be paired."
            )
        right = np.array([each["right"] for each in then], np.float64)
        return bootstrap.differences(shares(run), bootstrap.shares(right, total))

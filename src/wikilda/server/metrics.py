"""Numbers for Prometheus. Processes write their own files in one directory, and any of them answers for all."""

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ROUTES = (
    "/", "/v1/link", "/v1/link/batch", "/v1/explain", "/v1/topics/{title:path}", "/v1/mentions/{string:path}",
    "/v1/model", "/v1/examples", "/health", "/health/live", "/metrics", "/openapi.json", "/tag", "/spot", "/rel",
    "/annotate", "/candidates", "/disambiguate", "/nif", "/page/{name}", "other",
)  # fmt: skip
STATUSES = (200, 304, 400, 401, 404, 405, 408, 413, 415, 422, 499, 500, 503, 504, 0)  # 0: any other
BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
WORKED = ("documents", "mentions", "characters")  # what has been linked

_ANSWERS = len(ROUTES) * len(STATUSES)
_TIMES = len(ROUTES) * (len(BOUNDS) + 2)  # by route: buckets, one beyond the last bound, and the sum
_SIZE = _ANSWERS + _TIMES + len(WORKED) + 1  # the last is a gauge: requests that are open
_ROUTE_NUMBERS = {route: number for number, route in enumerate(ROUTES)}
_STATUS_NUMBERS = {status: number for number, status in enumerate(STATUSES)}

Row = NDArray[np.float64]


class Metrics:
    """The numbers of one process, in memory or in a file that other processes read."""

    def __init__(self, directory: Path | None = None) -> None:
        self._directory = directory
        if directory is None:
            self.row: Row = np.zeros(_SIZE)
        else:
            self.row = np.memmap(directory / f"{os.getpid()}.row", np.float64, "w+", shape=(_SIZE,))

    def note(self, route: str, status: int, seconds: float) -> None:
        """Count one answer."""
        at = _ROUTE_NUMBERS.get(route, len(ROUTES) - 1)
        self.row[at * len(STATUSES) + _STATUS_NUMBERS.get(status, len(STATUSES) - 1)] += 1
        times = self.row[_ANSWERS + at * (len(BOUNDS) + 2) :]
        times[np.searchsorted(BOUNDS, seconds)] += 1
        times[len(BOUNDS) + 1] += seconds

    def open(self, change: int) -> None:
        """Count requests that have begun and not ended."""
        self.row[-1] += change

    def worked(self, documents: int, mentions: int, characters: int) -> None:
        """Count what has been linked."""
        self.row[_ANSWERS + _TIMES : -1] += (documents, mentions, characters)

    def text(self, *, ready: bool) -> str:
        """All numbers in Prometheus' text format."""
        rows = self._rows()
        total = np.sum([row for row, _ in rows], axis=0)
        alive = sum(int(row[-1]) for row, lives in rows if lives)
        lines = [*_answers(total), *_times(total)]
        for name, value in zip(WORKED, total[_ANSWERS + _TIMES : -1], strict=True):
            lines += _head(f"wikilda_linked_{name}_total", "counter", f"{name} that have been linked")
            lines.append(f"wikilda_linked_{name}_total {value:.0f}")
        lines += _head("wikilda_open_requests", "gauge", "requests that have begun and not ended")
        lines.append(f"wikilda_open_requests {alive}")
        lines += _head("wikilda_ready", "gauge", "1 once the model is warm")
        lines.append(f"wikilda_ready {int(ready)}")
        return "\n".join(lines) + "\n"

    def _rows(self) -> list[tuple[Row, bool]]:
        """The numbers of all processes, and whether each still runs; counters of those that ended stay."""
        if self._directory is None:
            return [(self.row, True)]
        files = [(each, int(each.stem)) for each in sorted(self._directory.glob("*.row"))]
        return [(np.fromfile(file, np.float64, _SIZE), Path(f"/proc/{process}").exists()) for file, process in files]


def _answers(total: Row) -> list[str]:
    lines = _head("wikilda_requests_total", "counter", "answers by route and status (0: any other)")
    counts = total[:_ANSWERS].reshape(len(ROUTES), len(STATUSES))
    for route, row in zip(ROUTES, counts, strict=True):
        for status, count in zip(STATUSES, row, strict=True):
            if count:
                lines.append(f'wikilda_requests_total{{route="{route}",status="{status}"}} {count:.0f}')
    return lines


def _times(total: Row) -> list[str]:
    name = "wikilda_request_seconds"
    lines = _head(name, "histogram", "time from a request's head to the end of its answer")
    for route, row in zip(ROUTES, total[_ANSWERS : _ANSWERS + _TIMES].reshape(len(ROUTES), -1), strict=True):
        counts = np.cumsum(row[:-1])
        if not counts[-1]:
            continue
        for bound, count in zip([*map(str, BOUNDS), "+Inf"], counts, strict=True):
            lines.append(f'{name}_bucket{{route="{route}",le="{bound}"}} {count:.0f}')
        lines.append(f'{name}_sum{{route="{route}"}} {row[-1]:.6f}')
        lines.append(f'{name}_count{{route="{route}"}} {counts[-1]:.0f}')
    return lines


def _head(name: str, kind: str, about: str) -> list[str]:
    return [f"# HELP {name} {about}", f"# TYPE {name} {kind}"]

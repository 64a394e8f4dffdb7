"""Metrics for Prometheus. Processes write files in one directory, and any of them answers for all."""

import os
from pathlib import Path

BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_LINKED = ("documents", "mentions", "characters")
_DIRECTORY = "PROMETHEUS_MULTIPROC_DIR"  # of prometheus_client, which looks at it when it is first imported


class Metrics:
    """The numbers of one process; with a directory, also those of all others that have it."""

    def __init__(self, directory: Path | None = None) -> None:
        if directory is not None:
            os.environ[_DIRECTORY] = str(directory)
        from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics

        disable_created_metrics()  # type: ignore[no-untyped-call]
        self._directory, self._registry = directory, CollectorRegistry()
        own = self._registry
        self._answers = Counter("wikilda_requests", "answers by route and status", ["route", "status"], registry=own)
        about = "time from a request's head to the end of its answer"
        self._seconds = Histogram("wikilda_request_seconds", about, ["route"], buckets=BOUNDS, registry=own)
        self._linked = [
            Counter(f"wikilda_linked_{each}", f"{each} that have been linked", registry=own) for each in _LINKED
        ]
        self._open = Gauge(
            "wikilda_open_requests", "requests that have begun and not ended", multiprocess_mode="livesum", registry=own
        )
        self._ready = Gauge("wikilda_ready", "1 once the model is warm", multiprocess_mode="livemin", registry=own)

    def note(self, route: str, status: int, seconds: float) -> None:
        """Count one answer by the declared path of its route."""
        self._answers.labels(route, status).inc()
        self._seconds.labels(route).observe(seconds)

    def open(self, change: int) -> None:
        """Count open requests."""
        self._open.inc(change)

    def worked(self, documents: int, mentions: int, characters: int) -> None:
        """Count what has been linked."""
        for counter, amount in zip(self._linked, (documents, mentions, characters), strict=True):
            counter.inc(amount)

    def text(self, *, ready: bool) -> bytes:
        """All numbers in Prometheus' text format."""
        from prometheus_client import CollectorRegistry, generate_latest
        from prometheus_client.multiprocess import MultiProcessCollector

        self._ready.set(ready)
        if self._directory is None:
            return generate_latest(self._registry)
        everyone = CollectorRegistry()
        MultiProcessCollector(everyone, str(self._directory))  # type: ignore[no-untyped-call]
        return generate_latest(everyone)


def forget_process(directory: Path, process: int) -> None:
    """Remove the open requests of a process that has ended. Its counts stay."""
    from prometheus_client.multiprocess import mark_process_dead

    mark_process_dead(process, str(directory))  # type: ignore[no-untyped-call]

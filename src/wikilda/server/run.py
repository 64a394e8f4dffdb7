"""Runs the application: in this process, or in several that share one memory-mapped model."""

import json
import logging
import os
import resource
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI

from wikilda.inference.settings import SamplerSettings
from wikilda.linking import Linker
from wikilda.server.app import create_app
from wikilda.server.metrics import Metrics
from wikilda.server.settings import ServerSettings
from wikilda.settings import from_mapping, to_mapping

_PLAN = "WIKILDA_SERVE"  # how worker processes are told what to serve


@dataclass(frozen=True)
class Plan:
    """What to serve, and how."""

    model: Path
    knowledge: Path | None
    server: ServerSettings
    sampler: SamplerSettings

    def open(self) -> Linker:
        """Open the model."""
        return Linker.open(self.model, knowledge=self.knowledge, settings=self.sampler)


def serve(plan: Plan) -> None:
    """Serve until a signal says to stop; what has begun is finished first."""
    linker = plan.open()  # what is wrong with it is said here, once, before anything listens
    _raise_file_limit()
    common = _options(plan.server)
    if plan.server.workers == 1:
        uvicorn.run(create_app(lambda: linker, plan.server), **common)
    else:
        _serve_in_processes(plan, common)


def _serve_in_processes(plan: Plan, common: dict[str, Any]) -> None:
    numbers = tempfile.mkdtemp(prefix="wikilda-metrics-")
    os.environ[_PLAN] = _to_json(plan, numbers)
    try:
        uvicorn.run("wikilda.server.run:worker", factory=True, workers=plan.server.workers, **common)
    finally:
        shutil.rmtree(numbers, ignore_errors=True)


def worker() -> FastAPI:
    """The application of one of several processes."""
    told = json.loads(os.environ[_PLAN])
    plan = Plan(
        Path(told["model"]),
        Path(told["knowledge"]) if told["knowledge"] else None,
        from_mapping(ServerSettings, told["server"]),
        from_mapping(SamplerSettings, told["sampler"]),
    )
    return create_app(plan.open, plan.server, Metrics(Path(told["numbers"])))


def _to_json(plan: Plan, numbers: str) -> str:
    return json.dumps({
        "model": str(plan.model),
        "knowledge": str(plan.knowledge) if plan.knowledge else None,
        "server": to_mapping(plan.server),
        "sampler": to_mapping(plan.sampler),
        "numbers": numbers,
    })  # fmt: skip


def _options(settings: ServerSettings) -> dict[str, Any]:
    return {
        "host": settings.host,
        "port": settings.port,
        "http": "wikilda.server.protocol:PatientProtocol",
        "ws": "none",
        "access_log": False,
        "log_config": _logging(),
        "limit_concurrency": settings.connections,
        "timeout_keep_alive": 15,
        "timeout_graceful_shutdown": settings.drain,
        "server_header": False,
        "proxy_headers": False,
    }


def _logging() -> dict[str, Any]:
    handler = {"class": "logging.StreamHandler", "formatter": "plain", "stream": "ext://sys.stderr"}
    logger = {"handlers": ["errors"], "level": "INFO", "propagate": False}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"plain": {"format": "%(asctime)s %(levelname)s %(message)s"}},
        "handlers": {"errors": handler},
        "loggers": {"uvicorn": logger, "uvicorn.error": {"level": logging.INFO}, "wikilda.server": logger},
    }


def _raise_file_limit() -> None:
    """Every connection is a file: ask for as many as we may have."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))

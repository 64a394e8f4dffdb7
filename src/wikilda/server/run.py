"""Runs the application: in this process, or in several that share one memory-mapped model."""

import logging
import logging.config
import resource
import socket
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn

from wikilda._core.errors import WikildaError
from wikilda.lda.settings import LdaSettings
from wikilda.linking import Linker
from wikilda.server._processes import Workers
from wikilda.server.app import create_app
from wikilda.server.metrics import Metrics
from wikilda.server.service import warm
from wikilda.server.settings import ServerSettings
from wikilda.urn import UrnSettings

log = logging.getLogger("wikilda.server")


@dataclass(frozen=True)
class Plan:
    """What to serve, and how."""

    model: Path
    knowledge: Path | None
    server: ServerSettings
    settings: UrnSettings | LdaSettings


def serve(plan: Plan) -> None:
    """Serve until a signal says to stop; what has begun is finished first."""
    # What is wrong with the model is said here, once, before anything listens.
    linker = Linker.open(plan.model, knowledge=plan.knowledge, settings=plan.settings)
    _raise_file_limit()
    with _bound(plan.server) as listener:
        logging.config.dictConfig(_logging())
        host = f"[{plan.server.host}]" if ":" in plan.server.host else plan.server.host
        log.info("http://%s:%d", host, listener.getsockname()[1])
        if plan.server.workers == 1:
            _serve(linker, plan.server, Metrics(), listener)
        else:
            _serve_in_processes(linker, plan.server, listener.getsockname())


def _serve(linker: Linker, settings: ServerSettings, metrics: Metrics, listener: socket.socket) -> None:
    app = create_app(lambda: linker, settings, metrics)
    uvicorn.Server(uvicorn.Config(app, **uvicorn_options(settings))).run(sockets=[listener])


def _serve_in_processes(linker: Linker, settings: ServerSettings, address: tuple[Any, ...]) -> None:
    """Each process has a listener of its own: from a common one, the first to wake takes all that wait."""
    warm(linker)  # what is loaded here, all processes share

    def work() -> None:
        _serve(linker, settings, Metrics(Path(numbers)), _socket(address, shared=True))

    with tempfile.TemporaryDirectory(prefix="wikilda-metrics-") as numbers:
        Workers(settings.workers, work).run()


def _bound(settings: ServerSettings) -> socket.socket:
    """A socket that has the address, if nobody else has it; with several workers it keeps it for them."""
    address = (settings.host, settings.port)
    try:
        alone = _socket(address)
        if settings.workers == 1:
            return alone
        with alone:
            address = alone.getsockname()
        return _socket(address, shared=True)
    except OSError as error:
        where = f"{settings.host}, port {settings.port}"
        raise WikildaError(f"{where}: {error.strerror or error}. Give another --host or --port.") from None


def _socket(address: tuple[Any, ...], *, shared: bool = False) -> socket.socket:
    made = socket.socket(socket.AF_INET6 if ":" in address[0] else socket.AF_INET)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if shared:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    try:
        made.bind(address)
    except OSError:
        made.close()
        raise
    return made


def uvicorn_options(settings: ServerSettings) -> dict[str, Any]:
    """What the web server is told."""
    return {
        "http": "wikilda.server.protocol:PatientProtocol",
        "ws": "none",
        "access_log": False,
        "log_config": None,
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
        "loggers": {"uvicorn": logger, "wikilda.server": logger},
    }


def _raise_file_limit() -> None:
    """Every connection is a file: ask for as many as we may have."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))

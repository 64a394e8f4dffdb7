"""Runs the application: in this process, or in several that share one memory-mapped model."""

import logging
import logging.config
import os
import signal
import socket
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import uvicorn

from wikilda._core.errors import WikildaError
from wikilda._core.jit import tier
from wikilda._core.platform import RELOAD_SIGNAL, can_fork, end_with_parent, raise_file_limit
from wikilda.lda.settings import LdaSettings
from wikilda.linking import Linker
from wikilda.server.app import create_app
from wikilda.server.metrics import Metrics, forget_process
from wikilda.server.protocol import PatientProtocol
from wikilda.server.service import warm
from wikilda.server.settings import ServerSettings
from wikilda.urn import UrnSettings

log = logging.getLogger("wikilda.server")


@dataclass(frozen=True)
class Plan:
    """The model to serve, and the settings."""

    model: Path
    knowledge: Path | None
    server: ServerSettings
    settings: UrnSettings | LdaSettings

    def open(self) -> Linker:
        """Open the model and its knowledge in their present state."""
        return Linker.open(self.model, knowledge=self.knowledge, settings=self.settings)


def _alone() -> None:
    """Notify no other process."""


def run(plan: Plan) -> None:
    """Serve until a signal stops it, after running requests have finished. SIGHUP reloads the model."""
    tier.stay()
    # Errors of the model are raised here, once, before the server listens.
    linker = plan.open()
    if plan.server.workers > 1 and not can_fork():
        raise WikildaError("this system has no processes that share memory. Serve with one worker.")
    raise_file_limit()
    with _bound(plan.server) as listener:
        logging.config.dictConfig(_logging())
        host = f"[{plan.server.host}]" if ":" in plan.server.host else plan.server.host
        log.info("http://%s:%d", host, listener.getsockname()[1])
        if plan.server.workers == 1:
            _serve(plan, linker, Metrics(), listener)
        else:
            _serve_in_processes(plan, linker, listener.getsockname())


_SWITCH = 0.001  # seconds that a thread may run Python while the event loop waits; Python's default is five times that


def _serve(
    plan: Plan, linker: Linker | None, metrics: Metrics, listener: socket.socket, reloaded: Callable[[], None] = _alone
) -> None:
    """Serve in this process, with a linker that is open already or one that is opened now."""
    sys.setswitchinterval(_SWITCH)
    first = [linker] if linker else []
    app = create_app(lambda: first.pop() if first else plan.open(), plan.server, metrics, reloaded)
    if RELOAD_SIGNAL is not None:
        signal.signal(RELOAD_SIGNAL, lambda _, __: app.state.service.reload_later())
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [RELOAD_SIGNAL])
    _Server(uvicorn.Config(app, **uvicorn_options(plan.server))).run(sockets=[listener])


_GRACE = 1.0  # seconds after `drain` for closing connections, after which a process ends


class _Server(uvicorn.Server):
    """Uvicorn's server, whose process has ended soon after `drain`."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to stop."""
        if not self.should_exit:
            _after(float(self.config.timeout_graceful_shutdown or 0) + _GRACE, lambda: os._exit(128 + sig))
        super().handle_exit(sig, frame)


def _after(seconds: float, do: Callable[[], None]) -> None:
    """Call something later, if this process still runs."""
    timer = threading.Timer(seconds, do)
    timer.daemon = True
    timer.start()


def _serve_in_processes(plan: Plan, linker: Linker, address: tuple[Any, ...]) -> None:
    """Each process has a listener of its own: from a common one, the first to wake takes all that wait."""
    warm(linker)  # loaded here, shared by all processes
    parent = os.getpid()

    def work(stale: bool) -> None:
        own = _socket(address, shared=True)
        _serve(plan, None if stale else linker, Metrics(numbers), own, lambda: os.kill(parent, RELOAD))

    with tempfile.TemporaryDirectory(prefix="wikilda-metrics-") as directory:
        numbers = Path(directory)
        patience = plan.server.drain + 1.5 * _GRACE
        Workers(plan.server.workers, work, lambda ended: forget_process(numbers, ended), patience).run()


def _bound(settings: ServerSettings) -> socket.socket:
    """Bind a socket to the address, or raise an error if it is taken. With several workers it reserves the address."""
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
    """Return the options of the web server."""
    return {
        "http": PatientProtocol,
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


_STOPS = (signal.SIGTERM, signal.SIGINT)
RELOAD = signal.SIGHUP
_SIGNALS = (*_STOPS, RELOAD)
_PAUSE = 0.5  # seconds before a process that ended is replaced


class Workers:
    """Runs the same work in several processes until it is stopped. Processes that end are replaced.

    SIGHUP is passed on to all of them. `work` learns whether one came before its process began; `ended` learns
    which process has ended. Processes that have not stopped after some seconds are killed.
    """

    def __init__(
        self, count: int, work: Callable[[bool], None], ended: Callable[[int], None], patience: float
    ) -> None:  # fmt: skip
        self._count, self._work, self._ended, self._patience = count, work, ended, patience
        self._running: set[int] = set()
        self._stopping = self._reloaded = False

    def run(self) -> None:
        """Work until a signal says to stop, and all processes have finished."""
        handlers = {**dict.fromkeys(_STOPS, self._stop), RELOAD: self._reload}
        before = {each: signal.signal(each, handler) for each, handler in handlers.items()}
        try:
            for _ in range(self._count):
                self._start()
            while self._running:
                ended, status = os.wait()
                self._running.discard(ended)
                self._ended(ended)
                if not self._stopping:
                    log.error("worker %d ended with status %d; another takes its place", ended, status)
                    time.sleep(_PAUSE)
                    self._start()
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)

    def _stop(self, _: int, __: FrameType | None) -> None:
        if not self._stopping:
            _after(self._patience, self._kill)
        self._stopping = True
        for each in self._running:
            os.kill(each, signal.SIGTERM)

    def _kill(self) -> None:
        for each in list(self._running):
            with suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)

    def _reload(self, _: int, __: FrameType | None) -> None:
        self._reloaded = True
        for each in self._running:
            os.kill(each, RELOAD)

    def _start(self) -> None:
        # A worker that is not known yet could not be stopped, nor told to reload.
        signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
        try:
            if self._stopping:
                return
            process = os.fork()
            if process == 0:
                self._child()
            self._running.add(process)
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)

    def _child(self) -> None:
        """Work, and never return."""
        status = 1
        try:
            end_with_parent()
            for each in _STOPS:
                signal.signal(each, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPS)  # `work` unblocks the signal once it can reload
            self._work(self._reloaded)
            status = 0
        except Exception:
            traceback.print_exc()
        finally:
            os._exit(status)

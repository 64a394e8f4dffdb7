"""Processes that serve together: forked from one that has the model open and warm, so that they share its memory."""

import logging
import os
import signal
import time
import traceback
from collections.abc import Callable
from types import FrameType

from wikilda._core.platform import end_with_parent

log = logging.getLogger("wikilda.server")

_STOPS = (signal.SIGTERM, signal.SIGINT)
RELOAD = signal.SIGHUP
_SIGNALS = (*_STOPS, RELOAD)
_PAUSE = 0.5  # before a process that ended by itself is replaced


class Workers:
    """Runs the same work in some processes until it is told to stop; one that ends before is replaced.

    SIGHUP is passed on to all of them. `work` is told whether one has come before its process began; `ended` is told
    which process has ended.
    """

    def __init__(self, count: int, work: Callable[[bool], None], ended: Callable[[int], None]) -> None:
        self._count, self._work, self._ended = count, work, ended
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
        self._stopping = True
        for each in self._running:
            os.kill(each, signal.SIGTERM)

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
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPS)  # `work` lets reloading through once it can handle it
            self._work(self._reloaded)
            status = 0
        except Exception:
            traceback.print_exc()
        finally:
            os._exit(status)

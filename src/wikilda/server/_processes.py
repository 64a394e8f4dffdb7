"""Processes that serve together: forked from one that has the model open and warm, so that they share its memory."""

import ctypes
import logging
import os
import signal
import time
import traceback
from collections.abc import Callable
from types import FrameType

log = logging.getLogger("wikilda.server")

_STOPS = (signal.SIGTERM, signal.SIGINT)
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG of Linux
_PAUSE = 0.5  # before a process that ended by itself is replaced


class Workers:
    """Runs the same work in some processes until it is told to stop; one that ends before is replaced."""

    def __init__(self, count: int, work: Callable[[], None]) -> None:
        self._count, self._work = count, work
        self._running: set[int] = set()
        self._stopping = False

    def run(self) -> None:
        """Work until a signal says to stop, and all processes have finished."""
        before = {each: signal.signal(each, self._stop) for each in _STOPS}
        try:
            for _ in range(self._count):
                self._start()
            while self._running:
                ended, status = os.wait()
                self._running.discard(ended)
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

    def _start(self) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, _STOPS)  # a worker that is not known yet could not be stopped
        try:
            if self._stopping:
                return
            process = os.fork()
            if process == 0:
                self._child()
            self._running.add(process)
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPS)

    def _child(self) -> None:
        """Work, and never return."""
        status = 1
        try:
            ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGTERM)
            for each in _STOPS:
                signal.signal(each, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPS)
            self._work()
            status = 0
        except Exception:
            traceback.print_exc()
        finally:
            os._exit(status)

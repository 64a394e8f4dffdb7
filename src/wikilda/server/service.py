"""The service behind all routes: the linker, threads, limits and metrics."""

import asyncio
import copy
import gc
import json
import logging
import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from contextvars import ContextVar
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import Response

from wikilda._core.errors import InputError, SettingsError, WikildaError
from wikilda._core.platform import available_cores
from wikilda.knowledge.graph import nearest, similarity
from wikilda.linking import Document, Linked, Linker
from wikilda.server.errors import Problem, busy, full, invalid, late, too_large, warming
from wikilda.server.metrics import Metrics
from wikilda.server.settings import MOST_MENTIONS, ServerSettings

Result = TypeVar("Result")


MAX_VALUES = 250_000  # values in a JSON body, counted by commas
MAX_FIELDS = 30_000  # and named values, each of which may become an error
LARGE = 1 << 15  # bytes of a body from which parsing it takes a millisecond or more
# Units of work, about the time that linking a character takes: see `Service.limit_work`.
PER_CANDIDATE, EXPLAINED, MATCHED, PER_VALUE = 0.1, 30.0, 8.0, 50.0
_until: ContextVar[float] = ContextVar("until", default=float("inf"))


class Work:
    """A pool of threads with a bounded queue, and a time limit for each call.

    Calls over their time are answered 504. The thread ends at the next `check`. A compiled kernel cannot be
    interrupted; the limits of a request keep it short.
    """

    def __init__(self, threads: int, queue: int, seconds: float) -> None:
        self.threads, self.seconds = threads, seconds
        self._most = threads + queue
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="wikilda")
        self._lock = threading.Lock()
        self.inside = 0  # waiting or running
        self._stopped = False

    async def run(self, function: Callable[..., Result], *arguments: Any) -> Result:
        """Call a function in a thread, and return its result."""
        with self._lock:
            if self.inside >= self._most:
                raise busy()
            self.inside += 1
        try:
            future = self._pool.submit(self._call, time.monotonic() + self.seconds, function, *arguments)
        except RuntimeError:  # the pool is shut: the server is stopping
            self._done(None)
            raise busy() from None
        future.add_done_callback(self._done)
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), self.seconds)
        except TimeoutError:
            future.cancel()
            raise late(self.seconds) from None

    def check(self) -> None:
        """End the work of this thread if its time is over or the server has stopped."""
        if self._stopped or time.monotonic() > _until.get():
            raise late(self.seconds)

    def stop(self) -> None:
        """Take no more work, and abandon what is running: requests have had their time to finish."""
        self._stopped = True
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _call(self, until: float, function: Callable[..., Result], *arguments: Any) -> Result:
        token = _until.set(until)
        try:
            self.check()
            return function(*arguments)
        finally:
            _until.reset(token)

    def _done(self, _: "Future[Any] | None") -> None:
        with self._lock:
            self.inside -= 1


class Memory:
    """The bytes of large bodies that are held at a time, by their owners. Small ones are not counted."""

    def __init__(self, most: int) -> None:
        self.most, self.held = most, 0
        self._owners: dict[object, int] = {}

    def hold(self, owner: object, size: int) -> None:
        """Set the size that an owner holds, or refuse it if all together are too large."""
        size = size if size > LARGE else 0
        self.held += size - self._owners.pop(owner, 0)
        if size:
            self._owners[owner] = size
            if self.held > self.most:
                raise full()

    def release(self, owner: object) -> None:
        """The owner holds nothing more."""
        self.hold(owner, 0)


def threads_for(threads: int, workers: int) -> int:
    """Return the number of threads per process."""
    cores = available_cores()
    return threads or max(1, cores // workers)


Spans = list[tuple[int, int]]

log = logging.getLogger("wikilda.server")
_WARM_UP = "Croft took three wickets for England at The Oval. Pakistan lost."


class Service:
    """A linker that is opened and warmed in the background, with the limits of requests."""

    def __init__(
        self, opener: Callable[[], Linker], settings: ServerSettings, metrics: Metrics,
        reloaded: Callable[[], None] | None = None,
    ) -> None:  # fmt: skip
        self.settings, self.metrics, self._opener, self._reloaded = settings, metrics, opener, reloaded
        self._reloading = threading.Lock()
        self.work = Work(threads_for(settings.threads, settings.workers), settings.queue, settings.seconds)
        self.memory = Memory((self.work.threads + settings.queue) * settings.max_body)
        self._turns = asyncio.Lock()
        self._linker: Linker | None = None
        self._warmed = False
        self._thread = threading.Thread(target=self._warm, name="wikilda-warming", daemon=True)

    @property
    def ready(self) -> bool:
        """Whether requests are answered without loading or compiling kernels first."""
        return self._linker is not None and self._warmed

    @property
    def linker(self) -> Linker:
        """The linker, or an error that it is not ready yet."""
        if self._linker is None:
            raise warming()
        return self._linker

    def start(self) -> None:
        """Start warming."""
        self._thread.start()

    def stop(self) -> None:
        """Stop working."""
        self.work.stop()
        gc.unfreeze()

    def now(self) -> "Service":
        """Return the present state: a request uses one linker, even if the model is reloaded meanwhile."""
        return copy.copy(self)

    def reload(self, *, tell: bool = False) -> Linker:
        """Open the model again and serve it from the next request on. If that fails, the old one stays.

        With `tell`, other processes reload, too.
        """
        if not self._reloading.acquire(blocking=False):
            raise Problem(409, "reloading", "The model is being opened already. Wait until it is.")
        try:
            linker = self._opener()
            warm(linker)
            self._linker = linker
            gc.unfreeze()  # the next collection frees the old model
        finally:
            self._reloading.release()
        log.info("reloaded: %s", linker.model.identity)
        if tell and self._reloaded:
            self._reloaded()
        return linker

    def reload_later(self) -> None:
        """Reload in the background. Errors are logged."""

        def reload() -> None:
            try:
                self.reload()
            except (WikildaError, OSError, Problem) as error:
                log.error("not reloaded, the old model stays: %s", error)

        threading.Thread(target=reload, name="wikilda-reloading", daemon=True).start()

    def text(self, text: str, spans: Spans | None = None, name: str = "") -> Document:
        """Check that a document is within the limits and its spans are inside it."""
        self.check(text, len(spans or ()))
        try:
            return Document(text, spans, name)
        except InputError as error:
            raise invalid(str(error)) from None

    def check(self, text: str, mentions: int) -> None:
        """Refuse texts over the limits, or without text."""
        if len(text) > self.settings.max_text:
            raise too_large("The text in characters", len(text), self.settings.max_text, "max_text")
        if mentions > MOST_MENTIONS:
            raise too_large("The mentions of a text", mentions, MOST_MENTIONS)
        if not text.isascii():
            try:
                text.encode()
            except UnicodeEncodeError as error:
                raise invalid(f"text: character {error.start} is half a surrogate pair, which is no text.") from None

    def limit_work(self, units: float) -> None:
        """Refuse a request that would take too long, before it begins.

        Sizes do not bound time: a request may multiply texts by candidates, or entities by properties. All
        routes that do so count their work here, in characters to link.
        """
        if units > self.settings.max_work:
            raise too_large("The work of the request", math.ceil(units), self.settings.max_work, "max_work")

    def link(self, document: Document, candidates: int = 5, topics: int = 10, **options: Any) -> Linked:
        """Link a document and count it. `options` are those of `Linker.link`. Runs in a thread."""
        self.work.check()
        linked = self.linker.link(document, candidates=candidates, topics=topics, **options)
        self.metrics.worked(1, linked.mention_count, len(document.text))
        return linked

    async def turn(self, size: int) -> None:
        """Wait for this request's turn to parse a body: large ones one by one, others in between."""
        if size > LARGE:
            async with self._turns:
                await asyncio.sleep(0)

    async def answer(self, function: Callable[[], Any]) -> Response:
        """Return the result of a function as JSON, computed and written in a thread."""
        self.linker  # noqa: B018 - says so at once when it is not there

        def work() -> bytes:
            found = function()
            return found if isinstance(found, bytes) else dumps(found)

        return JSON(await self.work.run(work))

    def _warm(self) -> None:
        self._linker = linker = self._opener()  # requests are answered from now on
        warm(linker)
        self._warmed = True
        log.info("ready")
        # Kernels that only explanations and lookups need are loaded when nobody waits for them.
        with suppress(SettingsError):  # a method without explanations
            linker.explain(Document(_WARM_UP))
        graph = linker.knowledge.graph
        if len(linker.knowledge.titles):
            similarity(graph, 0, 0)
            nearest(graph, 0, 1)
        # Frozen objects are skipped by garbage collections, during which requests wait.
        gc.collect()
        gc.freeze()


def check_values(text: bytes) -> None:
    """Refuse JSON of too many values: nothing else runs while it is parsed."""
    for mark, most in ((b",", MAX_VALUES), (b'":', MAX_FIELDS)):
        if (found := text.count(mark)) > most:
            raise too_large("The values of a request", found, most)


def warm(linker: Linker) -> None:
    """Load the kernels that linking needs."""
    linker.link(Document(_WARM_UP))


class JSON(Response):
    """JSON that has been serialised already."""

    media_type = "application/json"


def dumps(value: Any, levels: int = 2) -> bytes:
    """Compact JSON in UTF-8.

    The elements of the outer containers are encoded one by one: the encoder lets no other thread run, the event loop's
    included, until it is done.
    """
    if levels and isinstance(value, dict):
        return b"{%b}" % b",".join(
            [b"%b:%b" % (dumps(str(key)), dumps(each, levels - 1)) for key, each in value.items()]
        )
    if levels and isinstance(value, list):
        return b"[%b]" % b",".join([dumps(each, levels - 1) for each in value])
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


async def service_of(request: Request) -> Service:
    """Return the service of a request's application, in its state when the request begins.

    Asynchronous, because the framework would run a plain function in another thread.
    """
    service: Service = request.app.state.service
    return service.now()

"""`/v1/batch`: JSON lines in and out, streamed both ways, with bounded memory."""

import asyncio
import re
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter, Depends, Request
from pydantic import ValidationError
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from wikilda.server import schemas
from wikilda.server.api import WORK, document_of, linked, work_of
from wikilda.server.errors import Problem, problem_json, too_large
from wikilda.server.service import Memory, Service, check_values, dumps, service_of
from wikilda.server.settings import ServerSettings

router = APIRouter(prefix="/v1", tags=["wikilda"], responses=schemas.errors(401, 503, 504))
_NDJSON = "application/x-ndjson"
_EXAMPLE = '{"text": "Croft took three wickets for England."}\n{"text": "Lara batted.", "types": ["person"]}\n'
_LINES = {"schema": {"type": "string", "examples": [_EXAMPLE]}}
_IN = {"requestBody": {"required": True, "content": {"text/plain": _LINES}}}  # any content type is taken
_OUT: dict[int | str, dict[str, Any]] = {
    200: {"description": "an answer a line", "content": {_NDJSON: {"schema": {"type": "string"}}}}
}


_AHEAD = 16  # lines that are split ahead
_BLANK = re.compile(rb"\s*+")


class Line(NamedTuple):
    """A line of a request with its number from 1, or its error. The end has the number 0."""

    number: int
    data: bytes
    problem: Problem | None = None


_END = Line(0, b"")


class Lines:
    """The lines of a request, read ahead as far as `max_body` allows; then the client has to wait."""

    def __init__(self, receive: Receive, settings: ServerSettings, memory: Memory) -> None:
        self._receive, self._settings, self._memory = receive, settings, memory
        self._waiting: deque[Line] = deque()
        self._held, self._changed = 0, asyncio.Condition()
        self.gone = False  # the client has closed its connection
        self.task = asyncio.create_task(self._read())

    async def get(self) -> Line:
        """The next line."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._waiting)
            line = self._waiting.popleft()
            self._held -= len(line.data)
            self._memory.hold(self, self._held)
            self._changed.notify_all()
            return line

    def stop(self) -> None:
        """Read no further."""
        self.task.cancel()
        self._memory.release(self)

    async def _put(self, line: Line) -> None:
        async with self._changed:
            most = self._settings.max_body
            # Few lines at a time: a piece may have thousands, and splitting blocks the event loop.
            await self._changed.wait_for(
                lambda: not self._waiting or (len(self._waiting) < _AHEAD and self._held + len(line.data) <= most)
            )
            self._waiting.append(line)
            self._held += len(line.data)
            self._changed.notify_all()

    async def _read(self) -> None:
        try:
            async for line in self._split():
                await self._put(line)
        except TimeoutError:
            said = f"The next line did not come within {self._settings.patience:g} s. Send it faster."
            await self._put(Line(-1, b"", Problem(408, "slow", said, {"Connection": "close"})))
        except Problem as problem:
            await self._put(Line(-1, b"", problem))
        await self._put(_END)
        while not self.gone:
            self.gone = (await self._receive())["type"] == "http.disconnect"

    async def _split(self) -> AsyncIterator[Line]:
        """Split off lines that are not blank. Lines that are too long are not kept.

        Blank lines cost nearly nothing, and do not give a client more time.
        """
        number, most = 1, self._settings.max_body
        kept, size, more, loop = bytearray(), 0, True, asyncio.get_running_loop()
        until = loop.time() + self._settings.patience
        while more:
            async with asyncio.timeout_at(until):
                message = await self._receive()
            if message["type"] == "http.disconnect":
                self.gone = True
                return
            more = message.get("more_body", False)
            body, at = message.get("body", b""), 0
            while at < len(body) or (not more and size):
                if not size and (blank := _BLANK.match(body, at)) and (last := body.rfind(b"\n", at, blank.end())) >= 0:
                    number, at = number + body.count(b"\n", at, last + 1), last + 1
                    continue
                end = body.find(b"\n", at)
                piece = body[at : end if end >= 0 else len(body)]
                size, at = size + len(piece), at + len(piece) + 1
                kept += piece[: max(most + 1 - len(kept), 0)]
                self._memory.hold(self, self._held + len(kept))
                if end < 0 and more:
                    break
                if size > most:
                    yield Line(number, b"", too_large("The line in bytes", size, most, "max_body"))
                elif kept.strip():
                    yield Line(number, bytes(kept))
                    until = loop.time() + self._settings.patience
                number, size = number + 1, 0
                kept.clear()


class LineResponse(Response):
    """Streams answers. It does not touch the request, which is still being read."""

    media_type = _NDJSON

    def __init__(self, answers: AsyncIterator[bytes], lines: Lines) -> None:
        super().__init__()
        del self.headers["content-length"]
        self._answers, self._lines = answers, lines

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send what there is."""
        try:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            async for each in self._answers:
                if self._lines.gone:
                    break
                await send({"type": "http.response.body", "body": each, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            self._lines.stop()


@router.post(
    "/batch", response_class=Response, responses={**WORK, **_OUT}, summary="Link JSON lines", openapi_extra=_IN
)
async def batch(request: Request, service: Annotated[Service, Depends(service_of)]) -> Response:
    """Answer JSON lines: one document per line in, one answer per line out, in order, each as soon as it is known.

    A line is a request to `/v1/link`, or a record that `wikilda link` reads: fields that are not known are ignored.

    A line that cannot be answered gets `{"line": 3, "error": {…}}`. Requests may have any length: the server reads on
    as answers are read, so clients have to read while they send.
    """
    service.linker  # noqa: B018 - says so at once when it is not there
    lines = Lines(request.receive, service.settings, service.memory)
    first = await lines.get()
    if first.number < 1:
        lines.stop()
        raise first.problem or Problem(400, "no_lines", "Send JSON lines: a request to /v1/link on each.")
    return LineResponse(_answers(service, lines, first), lines)


async def _answers(service: Service, lines: Lines, line: Line) -> AsyncIterator[bytes]:
    """Yield answers in the order of lines, working on one line per thread."""
    waiting: deque[asyncio.Task[bytes]] = deque()
    try:
        while line.number:
            waiting.append(asyncio.create_task(_answer(service, line)))
            if len(waiting) >= service.work.threads:
                yield await waiting.popleft()
            line = await lines.get()
        while waiting:
            yield await waiting.popleft()
    finally:
        for each in waiting:  # the client has disconnected
            each.cancel()


async def _answer(service: Service, line: Line) -> bytes:
    try:
        if line.problem:
            raise line.problem
        await service.turn(len(line.data))
        check_values(line.data)
        asked = schemas.LineRequest.model_validate_json(line.data)
        document = document_of(service, asked)
        service.limit_work(work_of(document, asked))
        return await _patiently(service, lambda: linked(service, document, asked)) + b"\n"
    except ValidationError as error:
        said = "; ".join(f"{'.'.join(map(str, each['loc'])) or 'line'}: {each['msg']}" for each in error.errors()[:3])
        return _said(line, "invalid", said[:500])
    except Problem as problem:
        return _said(line, problem.code, problem.message)


def _said(line: Line, code: str, message: str) -> bytes:
    where = {"line": line.number} if line.number > 0 else {}
    return dumps({**where, **problem_json(code, message)}) + b"\n"


async def _patiently(service: Service, work: Callable[[], bytes]) -> bytes:
    """Wait for a place in the queue, so that other requests run between the lines of a batch."""
    while True:
        try:
            return await service.work.run(work)
        except Problem as problem:
            if problem.code != "busy":
                raise
            await asyncio.sleep(0.05)

"""Middleware: limits of a request's body, headers of the answer, the log, metrics, keys."""

import asyncio
import hmac
import ipaddress
import logging
import re
import traceback
from time import perf_counter
from urllib.parse import unquote_to_bytes

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from wikilda.server.errors import Problem, too_large
from wikilda.server.service import Service, check_values

log = logging.getLogger("wikilda.server")

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = [
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
]
_HOST = re.compile(r"(?:\[(?P<address>[0-9a-f:.]+)\]|(?P<name>[\w-]+(?:\.[\w-]+)*)\.?)(?::[0-9]{1,5})?", re.ASCII)
_OPEN = ("/health", "/openapi.json", "/docs", "/page/")  # no key is needed for these, nor for the page
_STREAMED = ("/v1/batch",)  # requests of these are read as they are answered
_TOKEN = re.compile(rb"(?:^|&)gcube-token=([^&]{1,4096})(?=&|$)")
_GONE = 499  # the client disconnected before it had sent its request


class Gone(Exception):  # noqa: N818
    """The client has closed its connection."""


class Guard:
    """The outermost layer: every request gets one answer, which is counted."""

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self.app, self.service, self.settings, self.metrics = app, service, service.settings, service.metrics
        self._paths: frozenset[str] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection event of ASGI."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1002})
        elif scope["type"] != "http":
            await self.app(scope, receive, send)
        else:
            await self._request(scope, receive, send)

    async def _request(self, scope: Scope, receive: Receive, send: Send) -> None:
        started, status, owner = perf_counter(), 0, object()
        self.metrics.open(1)

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                own = message.get("headers", [])
                named = {name.lower() for name, _ in own}  # a route may have a policy of its own
                message["headers"] = [*own, *(each for each in _HEADERS if each[0] not in named)]
            await send(message)

        try:
            self._check_host(scope)
            if scope["path"] not in _STREAMED:
                body = await self._body(scope, receive, owner)
                await self.service.turn(len(body))
                if body[:1] in (b"{", b"["):
                    check_values(body)
                receive = _again({"type": "http.request", "body": body, "more_body": False}, receive)
            await self.app(scope, receive, answer)
        except Gone:
            status = _GONE
        except Problem as problem:
            await problem.response()(scope, receive, answer)
        except Exception as error:
            _log_error(error)
            if not status:
                await Problem(500, "internal", "Something is wrong with the server, and has been logged.").response()(
                    scope, receive, answer
                )
        finally:
            self.service.memory.release(owner)
            self.metrics.open(-1)
            self._note(scope, status, perf_counter() - started)

    def _plain(self, scope: Scope) -> frozenset[str]:
        """The paths of routes without parameters."""
        if self._paths is None:
            found = (getattr(each, "path", "{") for each in scope["app"].routes)
            self._paths = frozenset(each for each in found if "{" not in each)
        return self._paths

    def _check_host(self, scope: Scope) -> None:
        """Refuse requests to other host names, which may come from DNS rebinding."""
        settings = self.settings
        if "*" in settings.hosts or not (settings.hosts or settings.is_local):
            return
        for name, value in scope["headers"]:
            if name == b"host" and not _is_ours(value.decode("latin-1"), settings.hosts):
                text = "This server is not asked by that name. If it should be, start it with --set hosts=NAME."
                raise _closing(Problem(421, "wrong_host", text))

    async def _body(self, scope: Scope, receive: Receive, owner: object) -> bytes:
        """All of a request's body, within the limits of size, time and memory."""
        most, declared = self.settings.max_body, dict(scope["headers"]).get(b"content-length", b"0")
        if declared.isdigit() and int(declared) > most:
            raise _closing(too_large("The request's body in bytes", int(declared), most, "max_body"))
        parts, size = [], 0
        try:
            async with asyncio.timeout(self.settings.patience):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise Gone
                    parts.append(message.get("body", b""))
                    size += len(parts[-1])
                    if size > most:
                        raise _closing(too_large("The request's body in bytes", size, most, "max_body"))
                    self.service.memory.hold(owner, size)
                    if not message.get("more_body"):
                        return b"".join(parts)
        except TimeoutError:
            text = f"The request's body did not come within {self.settings.patience:g} s. Send it faster."
            raise _closing(Problem(408, "slow", text)) from None

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "other")
        self.metrics.note(route, status, seconds)
        # A path may contain what a user has looked up, also if it was refused before routing.
        path = route if route != "other" else scope["path"] if scope["path"] in self._plain(scope) else "(other)"
        if self.settings.log_texts:
            query = scope["query_string"].decode("latin-1")
            path = scope["path"] + ("?" + query if query else "")
        log.info("%s %s %d %.1f ms", scope["method"], path.encode("unicode_escape").decode(), status, 1000 * seconds)


def _is_ours(host: str, names: tuple[str, ...]) -> bool:
    """Whether a Host header names this server: a given name, localhost, or an address."""
    found = _HOST.fullmatch(host.lower())
    if found is None:
        return False
    name, address = found["name"], found["address"]
    try:
        ipaddress.ip_address(name if address is None else address)
    except ValueError:
        return address is None and (
            name == "localhost" or name.endswith(".localhost") or name in (each.lower().rstrip(".") for each in names)
        )
    return True


class Keys:
    """Lets requests through that have an API key, if keys are set."""

    def __init__(self, app: ASGIApp, keys: tuple[str, ...]) -> None:
        self.app, self._keys = app, [key.encode() for key in keys]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection event of ASGI."""
        if scope["type"] != "http" or _is_open(scope):
            await self.app(scope, receive, send)
            return
        message = await receive() if _is_form(scope) else None
        given = _given(scope, message.get("body", b"") if message else b"")
        if not any(hmac.compare_digest(key, each) for key in self._keys for each in given):
            text = "Send an API key: `Authorization: Bearer KEY`, `X-API-Key: KEY`, or `gcube-token=KEY` as TagMe does."
            problem = Problem(401, "no_key", text, {"WWW-Authenticate": "Bearer"})
            await problem.response()(scope, receive, send)
            return
        await self.app(scope, _again(message, receive) if message else receive, send)


def _is_open(scope: Scope) -> bool:
    return scope["path"].startswith(_OPEN) or (scope["path"] == "/" and scope["method"] in ("GET", "HEAD"))


def _is_form(scope: Scope) -> bool:
    kind: bytes = dict(scope["headers"]).get(b"content-type", b"")
    return kind.startswith(b"application/x-www-form-urlencoded")


def _given(scope: Scope, body: bytes) -> list[bytes]:
    headers = dict(scope["headers"])
    found = [headers.get(b"x-api-key", b""), headers.get(b"authorization", b"").removeprefix(b"Bearer ")]
    for each in (scope["query_string"], body):  # the other fields are not decoded, which takes long
        found += [unquote_to_bytes(key.replace(b"+", b" ")) for key in _TOKEN.findall(each)]
    return found


def _again(first: Message, receive: Receive) -> Receive:
    """Receive a message that has been received already, then the following ones."""
    waiting = [first]

    async def replay() -> Message:
        return waiting.pop() if waiting else await receive()

    return replay


def _closing(problem: Problem) -> Problem:
    problem.headers = {**(problem.headers or {}), "Connection": "close"}
    return problem


def _log_error(error: Exception) -> None:
    """Log the place of an error without its message, which may quote a user's text."""
    where = " < ".join(
        f"{each.filename}:{each.lineno}" for each in reversed(traceback.extract_tb(error.__traceback__)[-4:])
    )
    log.error("%s at %s", type(error).__name__, where)

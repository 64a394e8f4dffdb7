"""HTTP requests: temporary errors are retried, permanent ones are raised at once."""

import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass
from email.message import Message
from email.utils import parsedate_to_datetime
from http.client import HTTPException, HTTPMessage, HTTPResponse, InvalidURL
from typing import Any, TypeVar
from urllib import request
from urllib.error import HTTPError, URLError

from wikilda import __version__
from wikilda._core.errors import InputError, WikildaError
from wikilda._core.progress import Bar, bar

Result = TypeVar("Result")


@dataclass(frozen=True)
class Patience:
    """Limits of retries; times are in seconds."""

    tries: int = 10  # in a row without a new byte of a file
    question_tries: int = 4  # for small pages: a user waits for the error of a mistyped address
    base: float = 1.0
    longest: float = 120.0
    timeout: float = 60.0

    def wait(self, failures: int, asked: float | None) -> float:
        """Return the seconds before the next try: those that the server asks for, or twice as long each time."""
        return min(self.base * 2.0 ** (failures - 1) if asked is None else asked, self.longest)


PATIENCE = Patience()


_MOST_PAGE = 1 << 24  # bytes of a page that lists dumps


class PassingError(Exception):
    """A temporary error; `asked` is the delay that the server requests."""

    def __init__(self, reason: str, asked: float | None = None) -> None:
        super().__init__(reason)
        self.asked = asked


class RefusedError(InputError):
    """The server refuses the request permanently."""

    def __init__(self, url: str, error: HTTPError) -> None:
        answer = f"{error.code} {error.reason}"
        super().__init__(f"{url}: the server answered {answer}. Try again later, or name another --mirror.")
        self.status, self.headers = error.code, error.headers


def read(url: str) -> bytes:
    """Return a small page."""

    def attempt() -> bytes:
        with ask(url, {}) as response:
            try:
                page = response.read(_MOST_PAGE + 1)
            except (OSError, HTTPException) as error:
                raise PassingError(f"the connection was dropped ({error})") from error
        if len(page) <= _MOST_PAGE and response.length:
            raise PassingError("the connection was dropped")
        if len(page) > _MOST_PAGE:
            raise InputError(f"{url}: is longer than {_MOST_PAGE >> 20} MB, which no list is. Check --mirror.")
        return page

    with bar(f"asking {url.split('/')[2]}", None, unit="bytes") as shown:
        return persist(url, attempt, PATIENCE.question_tries, shown, lambda: 0)


def length_of(headers: Message) -> int | None:
    """Return the size that a server declares; None without a valid one."""
    text = headers.get("Content-Length", "").strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


def persist(url: str, attempt: Callable[[], Result], tries: int, shown: Bar, reached: Callable[[], int]) -> Result:
    """Retry until it works, giving up after a number of failures in a row without progress."""
    furthest, failures = reached(), 0
    while True:
        try:
            return attempt()
        except PassingError as trouble:
            # Not the bytes of this attempt: a server that starts over each time would be asked forever.
            if reached() > furthest:
                furthest, failures = reached(), 0
            failures += 1
            if failures >= tries:
                raise WikildaError(
                    f"{url}: {trouble}; gave up after {tries} tries. Check the network or name another "
                    "--mirror, then run the same command again: what has arrived is kept."
                ) from trouble
            seconds = PATIENCE.wait(failures, trouble.asked)
            shown.label(f"{trouble}; trying again in {seconds:.0f} s")
            time.sleep(seconds)


def ask(url: str, headers: dict[str, str]) -> HTTPResponse:
    """Request `url`. Errors are a PassingError, a RefusedError or an InputError."""
    try:
        asked = request.Request(url, headers={"User-Agent": f"wikilda/{__version__}", **headers})
        response: HTTPResponse = _opener().open(asked, timeout=PATIENCE.timeout)
    except HTTPError as error:
        error.close()
        if error.code in (408, 429) or error.code >= 500:
            reason = f"the server answered {error.code} {error.reason}"
            raise PassingError(reason, _retry_after(error.headers)) from error
        raise RefusedError(url, error) from error
    except OSError as error:
        raise _failure(url, error.reason if isinstance(error, URLError) else error) from error
    except (InvalidURL, ValueError) as error:
        raise InputError(f"{url}: not a usable address ({error}). Check --mirror.") from error
    except HTTPException as error:
        raise PassingError(f"the connection was dropped ({error})") from error
    return response


class _Redirects(request.HTTPRedirectHandler):
    """Follows redirects, but not from https to http."""

    def redirect_request(
        self, req: request.Request, fp: Any, code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> request.Request | None:
        """Return the redirected request."""
        if req.type == "https" and not newurl.lower().startswith("https:"):
            raise InputError(f"{req.full_url}: leads to {newurl[:200]}, which is not secure. Name another --mirror.")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _opener() -> request.OpenerDirector:
    """Return an opener without urllib's file:, ftp: and data: addresses, to which a server could redirect."""
    opener = request.OpenerDirector()
    for handler in (
        request.ProxyHandler,
        request.UnknownHandler,
        request.HTTPHandler,
        request.HTTPSHandler,
        request.HTTPDefaultErrorHandler,
        _Redirects,
        request.HTTPErrorProcessor,
    ):
        opener.add_handler(handler())
    return opener


def _failure(url: str, reason: str | BaseException) -> Exception:
    """Distinguish temporary errors (a broken connection) from permanent ones (a certificate, an address)."""
    if isinstance(reason, ssl.SSLError) and not isinstance(reason, ssl.SSLEOFError | ssl.SSLZeroReturnError):
        return WikildaError(
            f"{url}: no secure connection (TLS): {getattr(reason, 'verify_message', '') or reason}. "
            "Check this machine's clock and certificates, or name another --mirror."
        )
    if isinstance(reason, str):
        return InputError(f"{url}: {reason}. Check --mirror; only http and https addresses can be used.")
    words = getattr(reason, "strerror", None) or reason
    return PassingError(f"the server cannot be reached ({words})")


def _retry_after(headers: Message) -> float | None:
    text = headers.get("Retry-After", "").strip()
    if text.isascii() and text.isdigit() and len(text) < 19:
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None

"""Asking a server: what may pass is tried again, what will not is told at once."""

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
    """How long a failing server is borne; times are in seconds."""

    tries: int = 10  # in a row without a new byte of a file
    question_tries: int = 4  # for the small pages: a user is waiting to hear of a mistyped address
    base: float = 1.0
    longest: float = 120.0
    timeout: float = 60.0

    def wait(self, failures: int, asked: float | None) -> float:
        """Seconds before the next try: what the server asked for, or twice as long each time."""
        return min(self.base * 2.0 ** (failures - 1) if asked is None else asked, self.longest)


PATIENCE = Patience()


_MOST_PAGE = 1 << 24  # bytes of a page that lists dumps


class PassingError(Exception):
    """It may go better next time; `asked` is how long the server wants to be left alone."""

    def __init__(self, reason: str, asked: float | None = None) -> None:
        super().__init__(reason)
        self.asked = asked


class RefusedError(InputError):
    """The server said no, and would say so again."""

    def __init__(self, url: str, error: HTTPError) -> None:
        answer = f"{error.code} {error.reason}"
        super().__init__(f"{url}: the server answered {answer}. Try again later, or name another --mirror.")
        self.status, self.headers = error.code, error.headers


def read(url: str) -> bytes:
    """A small page in full."""

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
    """The size that a server gives for what it sends; None where it gives none that can be."""
    text = headers.get("Content-Length", "").strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


def persist(url: str, attempt: Callable[[], Result], tries: int, shown: Bar, reached: Callable[[], int]) -> Result:
    """Attempt until it works, giving up after so many failures in a row that got no further."""
    furthest, failures = reached(), 0
    while True:
        try:
            return attempt()
        except PassingError as trouble:
            # Not what this attempt brought: a server that starts anew each time would be asked for ever.
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
    """Ask for `url`; what goes wrong is a PassingError, a RefusedError or an InputError."""
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
    """Follows a server elsewhere, but not from https to http, where anybody on the way could answer."""

    def redirect_request(
        self, req: request.Request, fp: Any, code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> request.Request | None:
        """The request that follows."""
        if req.type == "https" and not newurl.lower().startswith("https:"):
            raise InputError(f"{req.full_url}: leads to {newurl[:200]}, which is not secure. Name another --mirror.")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _opener() -> request.OpenerDirector:
    """An opener without urllib's file:, ftp: and data: addresses, to which a server could lead us."""
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
    """Tell what may pass (a line that breaks) from what will not (a certificate, an address)."""
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

"""What a client did wrong, or has to wait for: a status code and a message that says what to change."""

from typing import Any

from starlette.responses import JSONResponse

_LONGEST_ECHO = 100  # characters of a request that an answer repeats


def shortened(text: str) -> str:
    """Something that was sent, short enough to be repeated in an answer."""
    return text if len(text) <= _LONGEST_ECHO else text[: _LONGEST_ECHO - 1] + "…"


class Problem(Exception):  # noqa: N818
    """Ends a request with a status code and a JSON error."""

    def __init__(self, status: int, code: str, message: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.status, self.code, self.message, self.headers = status, code, message, headers

    def response(self) -> JSONResponse:
        """The answer that says so."""
        return JSONResponse(problem_json(self.code, self.message), self.status, self.headers)


def problem_json(code: str, message: str, **more: Any) -> dict[str, Any]:
    """The body of every error."""
    return {"error": {"code": code, "message": message, **more}}


def too_large(what: str, size: int, most: int, setting: str = "") -> Problem:
    """Something is over its limit."""
    larger = f", or start the server with a larger --{setting.replace('_', '-')}" if setting else ""
    code = f"{setting.removeprefix('max_') or 'request'}_too_large"
    return Problem(413, code, f"{what}: {size:,} is over {most:,}. Send less{larger}.")


def invalid(message: str) -> Problem:
    """A value that cannot be used."""
    return Problem(422, "invalid", message)


def busy(seconds: int = 1) -> Problem:
    """No thread will be free soon."""
    text = f"All threads are at work and the queue is full. Try again in {seconds} s."
    return Problem(503, "busy", text, {"Retry-After": str(seconds)})


def warming() -> Problem:
    """The model is still being opened."""
    return Problem(503, "warming", "The model is being opened. Try again in a second.", {"Retry-After": "1"})


def late(seconds: float) -> Problem:
    """The work took too long."""
    text = f"Not done within {seconds:g} s. Send a shorter text, or start the server with more --seconds."
    return Problem(504, "late", text)

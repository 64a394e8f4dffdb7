"""Errors of requests: a status code and a message that says what to change."""

from dataclasses import asdict
from typing import Any

from starlette.responses import JSONResponse

from wikilda.linking.reasons import Explained, Explanation, Reasons, Support
from wikilda.text.offsets import from_code_points

_LONGEST_ECHO = 100  # characters of a request that an answer repeats


def shortened(text: str) -> str:
    """Return a part of a request, shortened for an answer."""
    return text if len(text) <= _LONGEST_ECHO else text[: _LONGEST_ECHO - 1] + "…"


class Problem(Exception):  # noqa: N818
    """Ends a request with a status code and a JSON error."""

    def __init__(self, status: int, code: str, message: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.status, self.code, self.message, self.headers = status, code, message, headers

    def response(self) -> JSONResponse:
        """Return the response."""
        return JSONResponse(problem_json(self.code, self.message), self.status, self.headers)


def problem_json(code: str, message: str, **more: Any) -> dict[str, Any]:
    """The body of every error."""
    return {"error": {"code": code, "message": message, **more}}


def too_large(what: str, size: int, most: int, setting: str = "") -> Problem:
    """Something is over its limit."""
    larger = f", or start the server with --set {setting}=N" if setting else ""
    code = f"{setting.removeprefix('max_') or 'request'}_too_large"
    return Problem(413, code, f"{what}: {size:,} is over {most:,}. Send less{larger}.")


def invalid(message: str) -> Problem:
    """A value that cannot be used."""
    return Problem(422, "invalid", message)


def busy(seconds: int = 1) -> Problem:
    """No thread will be free soon."""
    text = f"All threads are at work and the queue is full. Try again in {seconds} s."
    return Problem(503, "busy", text, {"Retry-After": str(seconds)})


def full() -> Problem:
    """Other large requests take the memory that there is for them. This one is not read to its end."""
    text = "Too many large requests are being read. Try again in 1 s, or send less at a time."
    return Problem(503, "busy", text, {"Retry-After": "1", "Connection": "close"})


def warming() -> Problem:
    """The model is still being opened."""
    return Problem(503, "warming", "The model is being opened. Try again in a second.", {"Retry-After": "1"})


def late(seconds: float) -> Problem:
    """The work took too long."""
    text = f"Not done within {seconds:g} s. Send a shorter text, or start the server with --set seconds=N."
    return Problem(504, "late", text)


def explained_json(explained: Explained, name: str, text: str, unit: str) -> dict[str, Any]:
    """The body of an `ExplainAnswer`, with offsets in a unit."""
    spans = from_code_points(text, [(each.start, each.end) for each in explained.mentions], unit)
    return {
        "id": name,
        "mentions": [_mention(each, *span) for each, span in zip(explained.mentions, spans, strict=True)],
        "related": [_rounded(asdict(each)) for each in explained.related],
        "topics": [each.to_dict() for each in explained.topics],
    }


def _mention(explanation: Explanation, start: int, end: int) -> dict[str, Any]:
    candidates = [_reasons(each) for each in explanation.candidates]
    nil = round(explanation.nil, 6)
    unknown = explanation.unknown
    entity = explanation.entity
    return {
        "start": start,
        "end": end,
        "text": explanation.text,
        "title": entity.title if entity else None,
        "confidence": round(explanation.confidence, 6),
        "nil": nil,
        "unknown": _rounded(asdict(unknown) | {"total": unknown.total}) if unknown else None,
        "candidates": candidates,
    }


def _reasons(reasons: Reasons) -> dict[str, Any]:
    return {
        **reasons.entity.to_dict(),
        **_rounded({"probability": reasons.probability, "prior": reasons.prior}),
        "sentence": reasons.sentence,
        "rival": reasons.rival,
        "odds": _rounded(asdict(reasons.odds) | {"total": reasons.odds.total}),
        "top_words": [_rounded(asdict(each)) for each in reasons.top_words],
        "support": [_support(each) for each in reasons.support],
    }


def _support(support: Support) -> dict[str, Any]:
    values = _rounded(asdict(support))
    del values["entity"]
    return support.entity.to_dict() | values


def _rounded(values: dict[str, Any]) -> dict[str, Any]:
    return {name: round(value, 6) if isinstance(value, float) else value for name, value in values.items()}

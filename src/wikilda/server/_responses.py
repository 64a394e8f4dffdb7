"""From explanations to plain values for JSON."""

from dataclasses import asdict
from typing import Any

from wikilda.linking.reasons import Explained, Explanation, Reasons, Support
from wikilda.text.offsets import from_code_points


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
    return {"start": start, "end": end, "text": explanation.text, "nil": nil, "candidates": candidates}


def _reasons(reasons: Reasons) -> dict[str, Any]:
    return {
        **reasons.entity.to_dict(),
        **_rounded({"probability": reasons.probability, "prior": reasons.prior}),
        "sentence": reasons.sentence,
        "rival": reasons.rival,
        "odds": _rounded(asdict(reasons.odds) | {"total": reasons.odds.total}),
        "urn": _rounded(asdict(reasons.urn)),
        "top_words": [_rounded(asdict(each)) for each in reasons.top_words],
        "support": [_support(each) for each in reasons.support],
    }


def _support(support: Support) -> dict[str, Any]:
    values = _rounded(asdict(support))
    del values["entity"]
    return support.entity.to_dict() | values


def _rounded(values: dict[str, Any]) -> dict[str, Any]:
    return {name: round(value, 6) if isinstance(value, float) else value for name, value in values.items()}

"""From explanations to plain values for JSON."""

from dataclasses import asdict
from typing import Any

from wikilda.linking.explain import Explained, Explanation, Reasons
from wikilda.linking.offsets import from_code_points


def explained_json(explained: Explained, name: str, text: str, unit: str) -> dict[str, Any]:
    """The body of an `ExplainAnswer`, with offsets in a unit."""
    spans = from_code_points(text, [(each.start, each.end) for each in explained.mentions], unit)
    return {
        "id": name,
        "mentions": [_mention(each, *span) for each, span in zip(explained.mentions, spans, strict=True)],
        "similarities": [asdict(each) for each in explained.similarities],
        "topics": [each.to_json() for each in explained.topics],
    }


def _mention(explanation: Explanation, start: int, end: int) -> dict[str, Any]:
    candidates = [_reasons(each) for each in explanation.candidates]
    return {"start": start, "end": end, "text": explanation.text, "candidates": candidates}


def _reasons(reasons: Reasons) -> dict[str, Any]:
    numbers = ("probability", "prior", "name", "words", "mentions", "coherence")
    return {
        **reasons.entity.to_json(),
        **{name: round(getattr(reasons, name), 6) for name in numbers},
        "sentence": reasons.sentence,
        "top_words": [asdict(each) for each in reasons.top_words],
        "company": [
            {**each.entity.to_json(), "mention": each.mention, "probability": each.probability,
             "similarity": each.similarity}
            for each in reasons.company
        ],
    }  # fmt: skip

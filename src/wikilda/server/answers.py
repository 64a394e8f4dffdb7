"""From the linker's answers to plain values for JSON."""

from dataclasses import asdict
from typing import Any

from wikilda.linking import Entity, Linked, LinkedMention, TopicShare
from wikilda.linking.explain import Explained, Explanation, Reasons


def linked_json(linked: Linked) -> dict[str, Any]:
    """The body of a `LinkAnswer`."""
    return {
        "id": linked.id,
        "mentions": [_mention(each) for each in linked.mentions],
        "topics": [_topic(each) for each in linked.topics],
    }


def explained_json(explained: Explained, name: str) -> dict[str, Any]:
    """The body of an `ExplainAnswer`."""
    return {
        "id": name,
        "mentions": [explanation_json(each) for each in explained.mentions],
        "similarities": [asdict(each) for each in explained.similarities],
        "topics": [_topic(each) for each in explained.topics],
    }


def explanation_json(explanation: Explanation) -> dict[str, Any]:
    """The body of an `ExplanationAnswer`."""
    return {
        "start": explanation.start,
        "end": explanation.end,
        "text": explanation.text,
        "candidates": [_reasons(each) for each in explanation.candidates],
    }


def _mention(mention: LinkedMention) -> dict[str, Any]:
    best = mention.candidates[0] if mention.candidates else None
    return {
        "start": mention.start,
        "end": mention.end,
        "text": mention.text,
        **(_entity(best.entity) if best else {"title": None, "page_id": None, "wikidata": None, "url": None}),
        "probability": round(best.probability, 6) if best else None,
        "candidates": [
            {**_entity(each.entity), "probability": round(each.probability, 6), "prior": round(each.prior, 6)}
            for each in mention.candidates
        ],
    }


def _reasons(reasons: Reasons) -> dict[str, Any]:
    rounded = {
        name: round(getattr(reasons, name), 6)
        for name in ("probability", "prior", "name", "words", "mentions", "coherence")
    }
    return {
        **_entity(reasons.entity),
        **rounded,
        "sentence": reasons.sentence,
        "top_words": [asdict(each) for each in reasons.top_words],
        "company": [
            {**_entity(each.entity), "mention": each.mention, "probability": each.probability,
             "similarity": each.similarity}
            for each in reasons.company
        ],
    }  # fmt: skip


def _entity(entity: Entity) -> dict[str, Any]:
    return {"title": entity.title, "page_id": entity.page_id, "wikidata": entity.wikidata, "url": entity.url}


def _topic(topic: TopicShare) -> dict[str, Any]:
    return {"title": topic.entity.title, "url": topic.entity.url, "share": round(topic.share, 6)}

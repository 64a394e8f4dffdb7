"""Texts to try: those of the package where the knowledge has their entities, else some of the wiki's own."""

from typing import Any

import numpy as np

from wikilda.knowledge import Knowledge
from wikilda.knowledge.graph import nearest
from wikilda.sample import texts

_KNOWN = 0.7  # so many of a text's entities must be known
_OWN = 4  # so many texts are made of the wiki's sentences


def examples(knowledge: Knowledge) -> list[dict[str, Any]]:
    """Texts with titles."""
    shipped = [each for each in texts() if _known(each, knowledge) >= _KNOWN]
    return [{"title": each["title"], "text": each["text"]} for each in shipped] or _own(knowledge)


def _known(text: dict[str, Any], knowledge: Knowledge) -> float:
    found = [knowledge.find_topic(each["title"]) >= 0 for each in text["mentions"]]
    return sum(found) / max(len(found), 1)


def _own(knowledge: Knowledge) -> list[dict[str, Any]]:
    """The first sentences of well-known topics, each with those of its nearest topics."""
    found: list[dict[str, Any]] = []
    for topic in np.argsort(-np.diff(knowledge.graph.in_offsets), kind="stable")[:200].tolist():
        near = [topic, *(other for other, _ in nearest(knowledge.graph, topic, 12))]
        sentences = [each for other in near if len(each := knowledge.sentences[other]) > 40]
        if len(sentences) >= 3:
            text = " ".join(sentences[:5])
            found.append({"title": knowledge.titles[topic], "text": text})
        if len(found) == _OWN:
            break
    return found

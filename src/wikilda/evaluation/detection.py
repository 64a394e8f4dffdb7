"""Runs from end to end: mentions are found in the text first, by one detector for all methods."""

from collections.abc import Callable
from dataclasses import replace

from wikilda.evaluation.gold import NIL
from wikilda.evaluation.methods.base import Method, Spans, spans_of
from wikilda.evaluation.run import NIL_FROM, Gold, on_threads
from wikilda.evaluation.spans import Linked, Scores, micro_and_macro
from wikilda.knowledge import Knowledge
from wikilda.linking import Text
from wikilda.linking.detection import DictionaryDetector

Detect = Callable[[str], Spans]


def detector(knowledge: Knowledge) -> Detect:
    """What finds mentions: the dictionary of the knowledge."""
    return DictionaryDetector(knowledge).detect


def end_to_end(method: Method, gold: Gold, detect: Detect, threads: int | None = None) -> tuple[Scores, Scores]:
    """Precision, recall and F1, micro and macro, of what is found and linked in the bare texts."""

    def link(document: Text) -> list[Linked]:
        spans = detect(document.text)
        answers = method.link(replace(document, mentions=spans))
        topics = [each.topics[0] if each.topics and each.nil < NIL_FROM else NIL for each in answers]
        return [(start, end, topic) for (start, end), topic in zip(spans, topics, strict=True)]

    wanted: list[list[Linked]] = []
    topics = iter(gold.topics.tolist())
    for document in gold.documents:
        wanted.append([(start, end, next(topics)) for start, end in spans_of(document)])
    label = f"{gold.name}: {method.name}, end to end"
    return micro_and_macro(wanted, list(on_threads(link, gold.documents, label, threads)))

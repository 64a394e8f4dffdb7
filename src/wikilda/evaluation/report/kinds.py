"""Kinds of errors, by what led to them."""

from wikilda.evaluation.gold import ABSENT, NIL
from wikilda.evaluation.run import Run

KINDS = {
    "unknown": "the knowledge does not have the string",
    "missing": "gold is not among the candidates",
    "popular": "the most common meaning was taken, and gold is another",
    "astray": "gold is the most common meaning, and another was taken",
    "other": "neither gold nor the answer is the most common meaning",
    "refused": "NIL was answered, and gold has a topic",
    "linked": "a topic was answered, and gold says NIL",
    "absent": "a topic was answered, and gold's entity is not in the knowledge",
}


def kind_of(run: Run, mention: int, most_common: int) -> str | None:
    """The kind of error of a mention's answer, or none if it is right."""
    gold, answer, verdict = int(run.gold.topics[mention]), int(run.answers[mention]), run.verdicts[mention]
    if answer == gold or (gold < 0 and answer == NIL):
        return None
    if gold < 0:
        return "absent" if gold == ABSENT else "linked"
    if not verdict.topics:
        return "unknown"
    if verdict.rank < 0:
        return "missing"
    if answer == NIL:
        return "refused"
    return "popular" if answer == most_common else "astray" if gold == most_common else "other"

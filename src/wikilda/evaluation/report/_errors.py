"""Documents with errors of a method: each error in its text, with candidates and scores."""

from collections import Counter
from typing import Any

from wikilda.evaluation.gold import ABSENT, NIL, NO_ANSWER
from wikilda.evaluation.methods.base import priors, spans_of, symbols_of
from wikilda.evaluation.results import Runs, gold_title
from wikilda.evaluation.run import Run
from wikilda.linking import Document

KINDS = {
    "failed": "the method gave no answer",
    "unknown": "the knowledge does not have the string",
    "missing": "gold is not among the candidates",
    "popular": "the most common meaning was taken, and gold is another",
    "astray": "gold is the most common meaning, and another was taken",
    "other": "neither gold nor the answer is the most common meaning",
    "refused": "NIL was answered, and gold has a topic",
    "linked": "a topic was answered, and gold says NIL",
    "absent": "a topic was answered, and gold's entity is not in the knowledge",
}
SHOWN = 5  # candidates of the method itself
SHOWN_METHODS = 6  # whose scores are shown: the last ones
_GLOSS = 110

Shares = dict[int, float]


def kind_of(run: Run, mention: int, most_common: int) -> str | None:
    """The kind of error of a mention's answer, or none if it is right."""
    gold, answer, verdict = int(run.gold.topics[mention]), int(run.answers[mention]), run.verdicts[mention]
    if answer == gold or (gold < 0 and answer == NIL):
        return None
    if answer == NO_ANSWER:
        return "failed"
    if gold < 0:
        return "absent" if gold == ABSENT else "linked"
    if not verdict.topics:
        return "unknown"
    if verdict.rank < 0:
        return "missing"
    if answer == NIL:
        return "refused"
    return "popular" if answer == most_common else "astray" if gold == most_common else "other"


class Errors:
    """The errors of the last run."""

    def __init__(self, runs: Runs, prefix: str) -> None:
        self.runs, self.run, self.gold, self.prefix = runs[-SHOWN_METHODS:], runs[-1], runs[-1].gold, prefix
        self.others = [run for run in self.runs if run.method != "prior"]
        self.counts: Counter[str] = Counter()

    def documents(self) -> list[dict[str, Any]]:
        """Return documents with errors: their text in pieces, and cards."""
        found, at = [], 0
        for document in self.gold.documents:
            symbols = symbols_of(document, self.gold.knowledge)
            shares = [dict(priors(self.gold.knowledge, symbol)) if symbol >= 0 else {} for symbol in symbols]
            kinds = [kind_of(self.run, at + n, next(iter(share), NIL)) for n, share in enumerate(shares)]
            self.counts.update(kind for kind in kinds if kind)
            if any(kinds):
                found.append(self._document(document, at, kinds, shares))
            at += len(symbols)
        return found

    def _document(self, document: Document, at: int, kinds: list[str | None], shares: list[Shares]) -> dict[str, Any]:
        alike: dict[object, list[int]] = {}  # mentions with equal strings and answers share a card
        for number, kind in enumerate(kinds):
            if kind:
                start, end = spans_of(document)[number]
                verdicts = [str(run.verdicts[at + number]) for run in self.runs]
                key = (document.text[start:end].lower(), int(self.gold.topics[at + number]), *verdicts)
                alike.setdefault(key, []).append(number)
        targets = {number: f"{self.prefix}{at + group[0]}" for group in alike.values() for number in group}
        return {
            "id": document.id,
            "wrong": len(targets),
            "mentions": len(kinds),
            "pieces": self._pieces(document, at, kinds, targets),
            "cards": [self._card(document, at, group, str(kinds[group[0]]), shares) for group in alike.values()],
        }

    def _pieces(
        self, document: Document, at: int, kinds: list[str | None], targets: dict[int, str]
    ) -> list[dict[str, Any]]:
        pieces: list[dict[str, Any]] = []
        last = 0
        for number, (start, end) in enumerate(spans_of(document)):
            if start < last:  # inside another mention: it has a card, but no own colour
                continue
            gold = gold_title(self.gold, at + number) or "NIL"
            pieces.append({"text": document.text[last:start], "gold": None})
            mention = {"text": document.text[start:end], "gold": gold, "kind": kinds[number]}
            pieces.append({**mention, "target": targets.get(number)})
            last = end
        return [*pieces, {"text": document.text[last:], "gold": None}]

    def _card(self, document: Document, at: int, group: list[int], kind: str, shares: list[Shares]) -> dict[str, Any]:
        mention, (start, end) = at + group[0], spans_of(document)[group[0]]
        answer = int(self.run.answers[mention])
        return {
            "id": f"{self.prefix}{mention}",
            "kind": kind,
            "count": len(group),
            "text": document.text[start:end],
            "gold": gold_title(self.gold, mention) or "NIL",
            "answer": self.gold.knowledge.titles[answer] if answer >= 0 else "NIL" if answer == NIL else "nothing",
            "candidates": self._candidates(mention, shares[group[0]]),
        }

    def _candidates(self, mention: int, shares: Shares) -> list[dict[str, Any]]:
        gold = int(self.gold.topics[mention])
        own = self.run.verdicts[mention].topics[:SHOWN]
        firsts = [int(run.first[mention]) for run in self.runs]
        topics = dict.fromkeys(topic for topic in [*own, *firsts, *list(shares)[:1], gold] if topic >= 0)
        scores = [
            dict(zip(run.verdicts[mention].topics, run.verdicts[mention].scores, strict=True)) for run in self.others
        ]
        return [
            {
                "title": self.gold.knowledge.titles[topic],
                "gloss": self._gloss(topic),
                "is_gold": topic == gold,
                "prior": shares.get(topic),
                "cells": [
                    {"score": score.get(topic), "chosen": int(run.answers[mention]) == topic}
                    for run, score in zip(self.others, scores, strict=True)
                ],
            }
            for topic in topics
        ]

    def _gloss(self, topic: int) -> str:
        sentence = self.gold.knowledge.sentences[topic]
        return sentence if len(sentence) <= _GLOSS else sentence[:_GLOSS] + "…"

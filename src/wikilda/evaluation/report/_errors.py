"""Documents in which a method went wrong: each error in its text, with the candidates and all methods' scores."""

from collections import Counter
from collections.abc import Iterator
from html import escape

from wikilda.evaluation.gold import ABSENT, NIL, NO_ANSWER
from wikilda.evaluation.methods.base import priors, spans_of, symbols_of
from wikilda.evaluation.results import Runs, gold_title
from wikilda.evaluation.run import Run
from wikilda.knowledge import Knowledge
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


SHOWN = 5  # candidates of the method itself
_GLOSS = 110


class Errors:
    """The errors of the last of some runs."""

    def __init__(self, runs: Runs, prefix: str) -> None:
        self.runs, self.run, self.gold, self.prefix = runs, runs[-1], runs[-1].gold, prefix
        self.knowledge: Knowledge = self.gold.knowledge
        self.counts: Counter[str] = Counter()
        self.parts = list(self._documents())

    def html(self) -> str:
        """Filters and documents."""
        boxes = "".join(
            f'<label><input type="checkbox" checked data-kind="{kind}"> {escape(about)} '
            f"<b>{self.counts[kind]:,}</b></label>"
            for kind, about in KINDS.items()
            if self.counts[kind]
        )
        search = '<input type="search" placeholder="mention, title or document">'
        return f'<form class="filters">{boxes}{search}<output></output></form>{"".join(self.parts)}'

    def _documents(self) -> Iterator[str]:
        at = 0
        for text in self.gold.documents:
            symbols = symbols_of(text, self.knowledge)
            shares = [dict(priors(self.knowledge, symbol)) if symbol >= 0 else {} for symbol in symbols]
            kinds = [kind_of(self.run, at + n, next(iter(share), NIL)) for n, share in enumerate(shares)]
            self.counts.update(kind for kind in kinds if kind)
            if any(kinds):
                yield self._document(text, at, kinds, shares)
            at += len(symbols)

    def _document(self, text: Document, at: int, kinds: list[str | None], shares: list[dict[int, float]]) -> str:
        alike: dict[object, list[int]] = {}  # mentions of the same string with the same answers share a card
        for number, kind in enumerate(kinds):
            if kind:
                start, end = spans_of(text)[number]
                said = [str(run.verdicts[at + number]) for run in self.runs]
                key = (text.text[start:end].lower(), int(self.gold.topics[at + number]), *said)
                alike.setdefault(key, []).append(number)
        cards = "".join(self._card(text, at, group, str(kinds[group[0]]), shares) for group in alike.values())
        targets = {number: at + group[0] for group in alike.values() for number in group}
        return (
            f'<section class="document"><h3>{escape(text.id)} <small>{len(targets)} of {len(kinds)} mentions wrong'
            f'</small></h3><div class="columns"><div class="text">{self._text(text, at, kinds, targets)}</div>'
            f'<div class="cards">{cards}</div></div></section>'
        )

    def _text(self, text: Document, at: int, kinds: list[str | None], targets: dict[int, int]) -> str:
        parts, last = [], 0
        for number, (start, end) in enumerate(spans_of(text)):
            if start < last:  # inside another mention: it may have a card, but no colour of its own
                continue
            parts.append(escape(text.text[last:start]))
            surface, title = escape(text.text[start:end]), escape(gold_title(self.gold, at + number) or "NIL")
            if number in targets:
                link = f"#{self.prefix}{targets[number]}"
                parts.append(f'<a class="wrong {kinds[number]}" href="{link}" title="gold: {title}">{surface}</a>')
            else:
                parts.append(f'<span class="right" title="{title}">{surface}</span>')
            last = end
        return "".join([*parts, escape(text.text[last:])])

    def _card(self, text: Document, at: int, group: list[int], kind: str, shares: list[dict[int, float]]) -> str:
        mention, (start, end) = at + group[0], spans_of(text)[group[0]]
        answer = int(self.run.answers[mention])
        given = self.knowledge.titles[answer] if answer >= 0 else "NIL"
        times = f" × {len(group)}" if len(group) > 1 else ""
        return (
            f'<article class="card" id="{self.prefix}{mention}" data-kind="{kind}" data-count="{len(group)}"><h4>'
            f"{escape(text.text[start:end])}{times} <small>gold "
            f'<b class="gold">{escape(gold_title(self.gold, mention) or "NIL")}</b>, answered <b>{escape(given)}</b>'
            f"</small></h4><p>{escape(KINDS[kind])}</p>{self._candidates(mention, shares[group[0]])}</article>"
        )

    def _candidates(self, mention: int, shares: dict[int, float]) -> str:
        gold = int(self.gold.topics[mention])
        others = [run for run in self.runs if run.method != "prior"]
        own = self.run.verdicts[mention].topics[:SHOWN]
        firsts = [int(run.first[mention]) for run in self.runs]
        topics = list(dict.fromkeys(topic for topic in [*own, *firsts, *list(shares)[:1], gold] if topic >= 0))
        if not topics:
            return ""
        head = "".join(f"<th>{escape(name)}</th>" for name in ["candidate", "P(k|v)", *(run.method for run in others)])
        scores = [dict(zip(run.verdicts[mention].topics, run.verdicts[mention].scores, strict=True)) for run in others]
        rows = []
        for topic in topics:
            cells = [f"<td>{shares[topic]:.3f}</td>" if topic in shares else "<td>–</td>"]
            for run, score in zip(others, scores, strict=True):
                chosen = ' class="chosen"' if int(run.answers[mention]) == topic else ""
                cells.append(f"<td{chosen}>{score[topic]:.3f}</td>" if topic in score else f"<td{chosen}></td>")
            rows.append(f"<tr{' class=gold' * (topic == gold)}><td>{self._named(topic)}</td>{''.join(cells)}</tr>")
        return f'<table class="candidates"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'

    def _named(self, topic: int) -> str:
        sentence = self.knowledge.sentences[topic]
        gloss = sentence if len(sentence) <= _GLOSS else sentence[:_GLOSS] + "…"
        return f"{escape(self.knowledge.titles[topic])} <small>{escape(gloss)}</small>"

"""Hand-annotated BBC stories, AIDA, and what a linker finds in their raw text."""

import json
import lzma
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.linking.aida import Gold, read_aida
from wikilda.linking import Document, Linked, Linker

_TITLED = re.compile(r"\b(?:Mr|Mrs|Ms|Miss)\.?\s+((?:[A-Z][\w'’]*-?)+)")


@dataclass
class Counts:
    """Counts of right answers, of answers, and of what there was to find."""

    right: int = 0
    answered: int = 0
    wanted: int = 0
    of_documents: list[float] = field(default_factory=list)  # F1

    def add(self, answers: set[object], gold: set[object]) -> None:
        self.right += len(answers & gold)
        self.answered += len(answers)
        self.wanted += len(gold)
        if answers or gold:
            self.of_documents.append(200 * len(answers & gold) / (len(answers) + len(gold)))

    def row(self) -> dict[str, float]:
        """Precision, recall and F1 in percent."""
        return {
            "precision": round(100 * self.right / max(self.answered, 1), 1),
            "recall": round(100 * self.right / max(self.wanted, 1), 1),
            "F1": round(200 * self.right / max(self.answered + self.wanted, 1), 1),
            "F1, mean of documents": round(sum(self.of_documents) / max(len(self.of_documents), 1), 1),
        }


@dataclass
class Scores:
    """Scores of one linker on one set of documents."""

    detection: Counts = field(default_factory=Counts)  # all annotated spans, NIL or not
    end_to_end: Counts = field(default_factory=Counts)  # spans and entities, as far as the knowledge has them
    given: Counts = field(default_factory=Counts)  # the same with the annotated spans given
    best: int = 0  # given mentions whose best candidate is right, NIL or not


def read_stories(path: Path) -> list[Gold]:
    """Annotated stories: one JSON line each."""
    found = []
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        spans = [(each["start"], each["end"]) for each in row["mentions"]]
        found.append(Gold(Document(row["text"], spans, row["id"]), [each["title"] for each in row["mentions"]]))
    return found


def read_gold(path: Path) -> list[Gold]:
    """Gold documents of either kind."""
    return read_stories(path) if path.suffix == ".jsonl" else list(read_aida(path))


def score(linker: Linker, corpus: list[Gold]) -> Scores:
    """Score the answers of `link` on documents, from raw text and with the annotated spans."""
    scores, known = Scores(), linker.knowledge
    for gold in corpus:
        spans = gold.document.mentions or []
        named = [known.find_topic(title) if title else -1 for title in gold.titles]
        wanted = {(*span, spelled(known.titles[k])) for span, k in zip(spans, named, strict=True) if k >= 0}
        raw = linker.link(Document(gold.document.text, None, gold.document.id), topics=0)
        scores.detection.add({(each.start, each.end) for each in raw.mentions}, set(spans))
        scores.end_to_end.add(answers(raw), set(wanted))
        given = linker.link(Document(gold.document.text, spans, gold.document.id), topics=0)
        scores.given.add(answers(given), set(wanted))
        scores.best += sum(
            bool(each.candidates) and (each.start, each.end, spelled(each.candidates[0].entity.title)) in wanted
            for each in given.mentions
        )
    return scores


def answers(linked: Linked) -> set[object]:
    """The spans that are linked, and their titles."""
    return {(each.start, each.end, spelled(each.entity.title)) for each in linked.mentions if each.entity}


def spelled(title: str) -> str:
    """A title without points and capitals: some knowledge has redirects as topics (`U.S. Open`, `US Open`)."""
    return "".join(each for each in title.casefold() if each.isalnum())


def read_news(path: Path) -> Iterator[Document]:
    """News stories without annotations."""
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            yield Document(row["text"], None, row["id"])


def titled_names(linked: Linked) -> list[tuple[str, str | None, str]]:
    """Surnames after `Mr`, `Ms`, `Mrs` whose full name is linked in the same document.

    Each has the title that it is linked to, or None, and that of the nearest full name before it (or else after it).
    """
    full = [
        (each.start, each.text.split()[-1].lower(), each.entity.title)
        for each in linked.mentions
        if each.entity and each.entity.type == "person" and len(each.text.split()) > 1
    ]
    found = []
    for match in _TITLED.finditer(linked.text):
        start, end = match.span(1)
        name = match.group(1).removesuffix("'s").removesuffix("’s").rstrip("-'’")
        known = [each for each in full if each[1] == name.lower()]
        if not known or any(each[0] == start for each in full):
            continue
        before = [each for each in known if each[0] < start]
        nearest = before[-1] if before else known[0]
        here = [each for each in linked.mentions if each.start <= start < each.end <= end]
        title = here[0].entity.title if here and here[0].entity else None
        found.append((match.group(0), title, nearest[2]))
    return found

"""Raw AIDA documents: F1 of finding mentions and of linking them, for each detector, and with mentions given.

python -m benchmarks.linking.detection MODEL [--data ../shared/data/aida/aida-testa.tsv] [--detectors dictionary spacy]

Spans must match exactly. "found" counts all annotated mentions; "in knowledge" counts those with a gold topic that
the knowledge has (as GERBIL's InKB); "linked" also asks for the right topic, among the latter.
"""

import argparse
import time
from pathlib import Path

from benchmarks.linking.aida import Gold, read_aida
from wikilda.documents.detection import Spans, choose_detector
from wikilda.linking import Document, Linker

DATA = Path("../shared/data/aida/aida-testa.tsv")


class Score:
    """Counts of what is right, what was answered, and what there was to find."""

    def __init__(self) -> None:
        self.right = self.answered = self.wanted = 0

    def add(self, answers: set[object], gold: set[object]) -> None:
        self.right += len(answers & gold)
        self.answered += len(answers)
        self.wanted += len(gold)

    def __str__(self) -> str:
        precision, recall = self.right / max(self.answered, 1), self.right / max(self.wanted, 1)
        f1 = 2 * self.right / max(self.answered + self.wanted, 1)
        return f"P {precision:.1%} R {recall:.1%} F1 {f1:.1%}"


def spans_of(detector: str, linker: Linker, gold: Gold) -> Spans:
    return gold.document.mentions or [] if detector == "given" else linker.detector.detect(gold.document.text)


def measure(detector: str, linker: Linker, corpus: list[Gold]) -> None:
    if detector != "given":
        linker.detector = choose_detector(detector, linker.knowledge)
    linker.link(corpus[0].document.text)  # compiles
    found, known, linked, seconds = Score(), Score(), Score(), 0.0
    for gold in corpus:
        began = time.perf_counter()
        spans = spans_of(detector, linker, gold)
        seconds += time.perf_counter() - began
        answers = linker.link(Document(gold.document.text, spans, gold.document.id), candidates=1, topics=0).mentions
        topics = [linker.knowledge.find_topic(title) if title else -1 for title in gold.titles]
        titles = zip(gold.document.mentions or [], topics, strict=True)
        wanted = {(*span, linker.knowledge.titles[topic]) for span, topic in titles if topic >= 0}
        found.add(set(spans), set(gold.document.mentions or []))
        known.add({(m.start, m.end) for m in answers if m.entity}, {each[:2] for each in wanted})
        linked.add({(m.start, m.end, m.entity.title) for m in answers if m.entity}, set(wanted))
    size = sum(len(gold.document.text.split()) for gold in corpus)
    speed = f"; finding {size / seconds:,.0f} tokens/s" if detector != "given" else ""
    print(f"{detector}: found {found}; in knowledge {known}; linked {linked}{speed}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("model", type=Path)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--detectors", nargs="+", default=["given", "dictionary", "spacy"])
    options = parser.parse_args()
    corpus = list(read_aida(options.data))
    linker = Linker.open(options.model)
    for detector in options.detectors:
        measure(detector, linker, corpus)


if __name__ == "__main__":
    main()

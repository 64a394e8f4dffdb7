"""The report of a training: changed answers on a sample of the texts, and strings with a new dominant meaning."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wikilda._core.atomic import write_text
from wikilda._core.errors import ArtifactError
from wikilda._core.html_page import page, table
from wikilda._core.jit import njit
from wikilda._core.progress import bar
from wikilda.documents.detection import Detector
from wikilda.documents.document import Document
from wikilda.knowledge import Knowledge
from wikilda.linking.linker import Linker
from wikilda.model import Model, Parameters

JSON_FILE, HTML_FILE = "training-report.json", "training-report.html"
NIL, NOTHING = "NIL", "not detected"
_MOST = 20  # groups, and flips
_SEVERAL = 3  # answers that have to change for a warning
_RISE = 0.05  # of the share of a meaning that is dominant now; less is a tie that was broken
_AROUND = 120  # characters of a sentence on either side of a mention
_END = re.compile(r"(?<=[.!?])\s+|\n+")


@dataclass(frozen=True)
class ChangedAnswer:
    """A string whose answer has changed, from one title to another, in `count` places.

    `before` and `after` are titles, `NIL`, or `not detected`. `flipped` is whether the string's most frequent answer
    in the sample has changed.
    """

    text: str
    before: str
    after: str
    count: int
    flipped: bool
    example: str  # a sentence, with the mention in double brackets


@dataclass(frozen=True)
class Flip:
    """A string whose dominant meaning is another in the texts than in the wiki; shares are those of the new meaning.

    Shares are those of λ̂, which counts what the string means in the texts. The default method reads a prior that texts
    change by a factor of two at most.
    """

    text: str
    before: str
    after: str
    share_before: float
    share_after: float
    texts: float | None  # that it was learned from, if they are counted
    example: str  # from the sample; empty if that does not have the string


@dataclass(frozen=True)
class TrainingReport:
    """What training has changed in the answers of a model.

    Attributes
    ----------
    documents, held_out
        The documents of the sample, and the number of them that were not trained on. The others are linked without
        their own counts.
    answers, changed
        Mentions of the sample, and those whose answer has changed.
    groups
        The largest groups of equal changes.
    flipped, flips
        The number of strings whose dominant meaning has changed, and those that most texts have.

    Examples
    --------
    >>> from wikilda import TrainingReport, train
    >>> made = train(sample, news, scratch / "reported", workers=1)
    >>> report = TrainingReport.read(made.path)
    >>> report.documents
    2
    >>> report.changed <= report.answers
    True
    """

    documents: int
    held_out: int
    answers: int
    changed: int
    groups: tuple[ChangedAnswer, ...]
    flipped: int
    flips: tuple[Flip, ...]

    def save(self, directory: Path) -> None:
        """Write it as JSON and as a page of HTML."""
        write_text(directory / JSON_FILE, json.dumps(asdict(self), ensure_ascii=False, indent=1) + "\n")
        write_text(directory / HTML_FILE, self.to_html())

    @classmethod
    def read(cls, model: str | Path) -> "TrainingReport":
        """Read the report of a trained model."""
        file = Path(model) / JSON_FILE
        if not file.is_file():
            raise ArtifactError(f"{model}: has no training report. Give a model that `wikilda train` wrote.")
        try:
            known = json.loads(file.read_text("utf-8"))
            groups = tuple(ChangedAnswer(**each) for each in known.pop("groups"))
            flips = tuple(Flip(**each) for each in known.pop("flips"))
            return cls(**known, groups=groups, flips=flips)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise ArtifactError(f"{file}: is not a training report ({error}). Train the model again.") from None

    @property
    def summary(self) -> str:
        """A summary in one line."""
        if not self.documents:
            return "No document was compared."
        share = self.changed / max(self.answers, 1)
        return (
            f"{self.changed:,} of {self.answers:,} answers changed ({share:.1%}). "
            f"Texts compared: {self.documents:,}, of which {self.held_out:,} held out."
        )

    @property
    def warnings(self) -> list[str]:
        """Warnings about the model."""
        found: dict[str, Flip | ChangedAnswer] = {each.text.lower(): each for each in self.flips}
        found |= {each.text.lower(): each for each in self.groups if each.flipped and each.count >= _SEVERAL}
        more = self.flipped - len(self.flips)
        if not found:
            return []
        shown = "; ".join(f"{each.text!r}: {each.before} → {each.after}" for each in list(found.values())[:3])
        count = len(found) + more
        rest = f" and {count - 3:,} more" if count > 3 else ""
        what = "a string" if count == 1 else f"{count:,} strings"
        return [f"the dominant meaning of {what} has changed ({shown}{rest}). See {HTML_FILE}."]

    def rows(self) -> Iterator[tuple[str, ...]]:
        """Groups of changes as rows of a table: count, string, before, after, whether it flipped, example."""
        for each in self.groups:
            yield f"{each.count:,}", each.text, each.before, each.after, "yes" if each.flipped else "", each.example

    def flip_rows(self) -> Iterator[tuple[str, ...]]:
        """Flips as rows of a table: string, before, after, share before and after, texts, example."""
        for each in self.flips:
            texts = "" if each.texts is None else f"{each.texts:,.0f}"
            shares = f"{each.share_before:.2f}", f"{each.share_after:.2f}"
            yield each.text, each.before, each.after, *shares, texts, each.example

    def to_html(self) -> str:
        """Return a page without scripts."""
        parts = [
            table("Answers that changed, largest groups", ROWS, self.rows()),
            table(f"Strings whose dominant meaning changed: {self.flipped:,}", FLIP_ROWS, self.flip_rows()),
        ]
        return page("Training report", self.summary, parts)


ROWS = ("count", "mention", "before", "after", "flipped", "example")
FLIP_ROWS = ("mention", "before", "after", "share before", "share after", "texts", "example")


def make_report(
    first: Model, made: Model, knowledge: Path, method: str, detect: Callable[[Knowledge], Detector],
    sample: Sequence[Document], held_out: int,
) -> TrainingReport:  # fmt: skip
    """Compare two models on a sample of texts, of which the first `held_out` were not trained on."""
    linkers = [
        Linker.open(each.path, method=method, knowledge=knowledge, detector=detect(each.knowledge(knowledge)))
        for each in (first, made)
    ]
    answers, groups, examples = 0, Counter[tuple[str, str, str]](), dict[tuple[str, str, str], str]()
    sentences: dict[str, str] = {}
    meant: tuple[_Meant, _Meant] = defaultdict(Counter), defaultdict(Counter)
    with bar("comparing answers", len(sample), unit="documents") as shown:
        for document in sample:
            before, after = (_answers(linker, document) for linker in linkers)
            for start, end in sorted(before.keys() | after.keys()):
                answers += 1
                text = document.text[start:end]
                sentence = _sentence(document.text, start, end)
                sentences.setdefault(_folded(text), sentence)
                for own, each in zip(meant, (before, after), strict=True):
                    own[_folded(text)][each.get((start, end), NOTHING)] += 1
                old, new = (each.get((start, end), NOTHING) for each in (before, after))
                key = " ".join(text.split()), old, new
                if old != new:
                    groups[key] += 1
                    examples.setdefault(key, sentence)
            shown.advance(1)
    largest = sorted(groups.items(), key=lambda each: (-each[1], each[0]))[:_MOST]
    flips = flips_of(first, made, linkers[1].knowledge)
    return TrainingReport(
        len(sample), held_out, answers, groups.total(),
        tuple(ChangedAnswer(*key, count, _has_flipped(key[0], *meant), examples[key]) for key, count in largest),
        len(flips), tuple(_with_example(each, sentences) for each in flips[:_MOST]),
    )  # fmt: skip


_Meant = defaultdict[str, Counter[str]]  # answers of a string, and how often


def _has_flipped(text: str, before: _Meant, after: _Meant) -> bool:
    """Whether the most frequent answer has changed; ties by title."""
    old, new = (min(each[_folded(text)].items(), key=lambda row: (-row[1], row[0]))[0] for each in (before, after))
    return old != new


def _answers(linker: Linker, document: Document) -> dict[tuple[int, int], str]:
    linked = linker.link(document, candidates=1, topics=0)
    return {(each.start, each.end): each.entity.title if each.entity else NIL for each in linked.mentions}


def _folded(text: str) -> str:
    return " ".join(text.lower().split())


def _sentence(text: str, start: int, end: int) -> str:
    """The sentence of a mention, with the mention in double brackets; of a long one the part around it."""
    before, after = text[max(start - _AROUND, 0) : start], text[end : end + _AROUND]
    before, after = _END.split(before)[-1], _END.split(after)[0]
    return " ".join(f"{before}[[{text[start:end]}]]{after}".split())


def _with_example(flip: Flip, sentences: Mapping[str, str]) -> Flip:
    return Flip(**{**asdict(flip), "example": sentences.get(_folded(flip.text), "")})


def flips_of(first: Model, made: Model, knowledge: Knowledge) -> list[Flip]:
    """Return strings whose dominant meaning by λ̂ is another, with a clearly larger share; those of most texts first."""
    (old, _), (new, new_share) = (dominant(each.mentions) for each in (first, made))
    symbols = np.flatnonzero((old >= 0) & (old != new))
    rise = np.array([new_share[each] - _share(first.mentions, int(each), int(new[each])) for each in symbols])
    symbols = symbols[rise >= _RISE]
    texts = _texts(made, symbols) - _texts(first, symbols) if made.nil is not None else None
    weight = texts if texts is not None else new_share[symbols]
    flips = []
    for at in np.lexsort((symbols, -weight)).tolist():
        symbol = int(symbols[at])
        flips.append(Flip(
            knowledge.mention_strings[symbol], knowledge.titles[int(old[symbol])], knowledge.titles[int(new[symbol])],
            round(_share(first.mentions, symbol, int(new[symbol])), 4), round(float(new_share[symbol]), 4),
            None if texts is None else round(float(texts[at]), 1), "",
        ))  # fmt: skip
    return flips


def _texts(model: Model, symbols: NDArray[np.int64]) -> NDArray[np.float64]:
    return model.nil.of(symbols)[1] if model.nil is not None else np.zeros(len(symbols))


def _share(table: Parameters, symbol: int, topic: int) -> float:
    topics, values = table.row(symbol)
    return float(values[topics == topic].sum(dtype=np.float64) / values.sum(dtype=np.float64))


@njit
def dominant(table: Parameters) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the topic with the largest value of each symbol, of equals the first, and its share; −1 for none."""
    size = len(table.offsets) - 1
    best, shares = np.full(size, np.int64(-1)), np.zeros(size, np.float64)
    for symbol in range(size):
        most, total = 0.0, 0.0
        for at in range(table.offsets[symbol], table.offsets[symbol + 1]):
            value = np.float64(table.values[at])
            total += value
            if value > most:
                most = value
                best[symbol] = np.int64(table.topics[at])
        shares[symbol] = most / total if total > 0.0 else 0.0
    return best, shares

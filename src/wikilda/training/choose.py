"""Settings chosen without labels: by the held-out likelihood of the model that links."""

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from wikilda._core.errors import InputError
from wikilda._core.progress import bar
from wikilda.knowledge import Knowledge
from wikilda.model import Model
from wikilda.training.checkpoints import LITTLE
from wikilda.training.corpus import Corpus, Documents, make_corpus
from wikilda.training.engines.local import LocalEngine
from wikilda.training.pipeline import Plan, Reading, train
from wikilda.training.settings import UrnTraining, is_held_out
from wikilda.urn.likelihood import HeldOut

SPACE: dict[str, list[Any]] = {"prior_weight": [0.3, 1.0, 3.0], "new_sense": [0.0, 1e-8, 1e-6]}
_READING = Reading()


@dataclass(frozen=True)
class Trial:
    """A training with some settings: how much better it predicts held-out contexts, in nats a context symbol."""

    name: str
    value: Any
    gain: float
    error: float  # of the gain, by documents
    documents: int

    @property
    def verdict(self) -> str:
        """Whether the texts help at all."""
        if self.documents < 2:
            return "there are too few held-out documents to tell whether these texts help."
        found = f"held-out likelihood changes by {self.gain:+.4f} ± {self.error:.4f} nats per context symbol"
        if self.gain - 2 * self.error <= 0:
            return f"these texts do not help: {found}."
        return f"these texts {'help' if self.gain >= LITTLE else 'hardly help'}: {found}."


class Chooser:
    """Trains on texts with one setting changed at a time, and keeps what predicts held-out documents best.

    Held out are documents of `like`, texts like those to be linked, or a share of the texts themselves.
    """

    def __init__(
        self, model: Path, texts: Sequence[Path], like: Sequence[Path] = (), settings: UrnTraining | None = None,
        *, space: dict[str, list[Any]] | None = None, reading: Reading = _READING, knowledge: Path | None = None,
        workers: int = 1,
    ) -> None:  # fmt: skip
        self.model, self.texts, self.like, self.reading = model, list(texts), list(like), reading
        self.settings = settings or UrnTraining(held_out=0.1)
        self.space, self.workers = SPACE if space is None else space, workers
        self.place = Model.open(model).knowledge(knowledge).path.resolve()

    def trials(self) -> Iterator[Trial]:
        """All trials, in order; the first has the settings as they are."""
        with tempfile.TemporaryDirectory(prefix="wikilda-choose-") as name:
            scratch = Path(name)
            corpus = self._corpus(self.texts, scratch / "texts")
            asked = self._asked(corpus, scratch)
            best = self._trial(corpus, asked, self.settings, scratch, "", None)
            yield best
            for setting, values in self.space.items():
                for value in values:
                    if value == getattr(self.settings, setting):
                        continue
                    changed = replace(self.settings, **{setting: value})
                    found = self._trial(corpus, asked, changed, scratch, setting, value)
                    yield found
                    if found.gain > best.gain:
                        best, self.settings = found, changed
        self.best = best

    def _corpus(self, texts: list[Path], target: Path) -> Corpus:
        how = self.reading
        return make_corpus(
            texts, self.place, target, how.settings, reading=how.documents, detector=how.detector, workers=self.workers
        )

    def _asked(self, corpus: Corpus, scratch: Path) -> Documents:
        """The documents whose likelihood is asked for; none of them is trained on."""
        most = self.settings.evaluated
        if self.like:
            own = self._corpus(self.like, scratch / "like").shard(0, 1)
            known = np.isin(own.digests, corpus.shard(0, 1).digests)
            self.settings = replace(self.settings, held_out=0.0)
            found = own.chosen(~known & (np.cumsum(~known) <= most))
        else:
            whole = corpus.shard(0, 1)
            which = is_held_out(whole.keys, self.settings.held_out)
            found = whole.chosen(which & (np.cumsum(which) <= most))
        if len(found.keys) == 0:
            raise InputError("no document is left to measure likelihood on. Give more texts, or other ones with --for.")
        return found

    def _trial(
        self, corpus: Corpus, asked: Documents, settings: UrnTraining, scratch: Path, name: str, value: object
    ) -> Trial:
        engine = LocalEngine(self.workers)
        try:
            how = replace(settings, evaluated=0)
            made = train(
                self.model, corpus.path, scratch / "model", how, Plan(), engine=engine, knowledge=self.place,
                overwrite=True, restart=True,
            )  # fmt: skip
        finally:
            engine.close()
        return _measured(made, Knowledge.open(self.place), asked, settings, name, value)


def _measured(
    model: Model, knowledge: Knowledge, asked: Documents, settings: UrnTraining, name: str, value: object
) -> Trial:
    """The gain over chance of all documents together, and its standard error by documents."""
    judge = HeldOut(model, knowledge, settings.urn(), settings.particles)
    rows = []
    with bar("held-out likelihood", len(asked.keys), unit="documents") as shown:
        for number in range(len(asked.keys)):
            rows.append(judge.log_likelihood(asked.with_contexts(number, knowledge.mention_strings)))
            shown.advance(1)
    gains, sizes = np.array(rows, np.float64).T
    total = max(sizes.sum(), 1.0)
    gain = gains.sum() / total
    error = float(np.sqrt(np.square(gains - gain * sizes).sum()) / total)
    return Trial(name, value, float(gain), error, len(rows))

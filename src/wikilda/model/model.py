"""A model, opened: sparse tables of parameters in memory-mapped arrays."""

import copy
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.array_checks import Array, rows
from wikilda._core.artifact import MANIFEST, Artifact
from wikilda._core.errors import ArtifactError, SettingsError
from wikilda.knowledge.context_counts import CONTEXTS, PARTS, ContextCounts, declared
from wikilda.model.settings import ModelSettings
from wikilda.model.weights import WEIGHT_NAMES, Weights

if TYPE_CHECKING:
    from wikilda.knowledge import Knowledge
    from wikilda.model.writer import ModelWriter

WORDS, MENTIONS, BASE, NIL = "words", "mentions", "base", "nil"
EXPECTED = "expected"  # expected contexts, stored in one table with CONTEXTS
WEIGHTS = "weights"
URN, LDA = "urn", "lda"
_TOPICS = Array(np.uint32, below="topics", increasing=True)


class Parameters(NamedTuple):
    """The sparse λ̂ of one kind of symbol: topics of symbol v, sorted, and their λ̂, from offsets[v] on."""

    offsets: NDArray[np.int64]
    topics: NDArray[np.uint32]
    values: NDArray[np.float32]

    @property
    def symbols(self) -> int:
        """V: how many symbols there are."""
        return len(self.offsets) - 1

    def row(self, symbol: int) -> tuple[NDArray[np.uint32], NDArray[np.float32]]:
        """The topics of a symbol and their λ̂."""
        span = slice(self.offsets[symbol], self.offsets[symbol + 1])
        return self.topics[span], self.values[span]

    def between(self, first: int, last: int) -> "Parameters":
        """The rows of symbols from `first` to below `last`."""
        span = slice(int(self.offsets[first]), int(self.offsets[last]))
        offsets = np.asarray(self.offsets[first : last + 1]) - span.start
        return Parameters(offsets, np.asarray(self.topics[span]), np.asarray(self.values[span]))


class NilCounts(NamedTuple):
    """The number of texts in which a mention string was NIL, by its posterior, and in which it was a mention."""

    symbols: NDArray[np.int64]  # sorted
    nil: NDArray[np.float32]
    texts: NDArray[np.float32]

    @property
    def share(self) -> float:
        """q: the share of NIL among strings of texts, smoothed by one text of either kind."""
        return float((self.nil.sum(dtype=np.float64) + 1.0) / (self.texts.sum(dtype=np.float64) + 2.0))

    def of(self, symbols: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return both counts of some strings; 0 for strings that were never seen."""
        places = np.searchsorted(self.symbols, symbols)
        there = self.symbols[np.minimum(places, len(self.symbols) - 1)] == symbols if len(self.symbols) else False
        met = np.flatnonzero(there)
        found = np.zeros((2, len(symbols)), np.float64)
        found[:, met] = self.nil[places[met]], self.texts[places[met]]
        return found[0], found[1]


class Learned(NamedTuple):
    """What training for the urn changes in a model."""

    mentions: Parameters
    base: Parameters
    contexts: ContextCounts | None
    nil: NilCounts | None
    weights: Weights | None


class Model(Artifact):
    """The parameters λ̂ of words and mentions over the topics of its knowledge."""

    kind = "model"
    format = 2
    fields = {
        "iteration": int, "method": str, "knowledge.identity": str, "knowledge.path": str, "settings": dict,
        "summary": dict[str, int],
    }  # fmt: skip
    arrays = {
        **rows("words/", WORDS, topics=_TOPICS, values=Array(np.float32)),
        **rows("mentions/", MENTIONS, topics=_TOPICS, values=Array(np.float32)),
        "topics/words_sums": Array(np.float64, "topics"),
        "topics/mentions_sums": Array(np.float64, "topics"),
        "topics/popularity": Array(np.float32, "topics"),
        "topics/word_norms": Array(np.float32, "topics"),
        **declared(f"{CONTEXTS}/"),
        **rows(f"{BASE}/", MENTIONS, optional=True, topics=_TOPICS, values=Array(np.float32)),
        f"{WEIGHTS}/values": Array(np.float64, "weights", minimum=-1e6, optional=True),
        f"{NIL}/symbols": Array(np.int64, "strings", below=MENTIONS, minimum=0, optional=True),
        f"{NIL}/nil": Array(np.float32, "strings", optional=True),
        f"{NIL}/texts": Array(np.float32, "strings", optional=True),
    }

    def __init__(self, path: Path, manifest: dict[str, Any]) -> None:
        super().__init__(path, manifest)
        try:
            self.settings = ModelSettings.from_mapping(self.field("settings", dict))
        except SettingsError as error:
            raise ArtifactError(f"{path / MANIFEST}: {error}. Make {path} again.") from None

    def __repr__(self) -> str:
        wiki = f"{self.knowledge().site.database!r}, " if self.knowledge_identity else ""
        return f"Model({wiki}{self.topics:,} topics, iteration {self.iteration})"

    @property
    def iteration(self) -> int:
        """The number of training iterations."""
        return self.field("iteration", int)

    @property
    def method(self) -> str:
        """The method that it was trained for, URN or LDA; empty if it was not trained."""
        return self.field("method", str)

    @cached_property
    def weights(self) -> Weights | None:
        """The weights of the evidence, learned from the wiki's own links; None for the pooled weights."""
        if not self.has(f"{WEIGHTS}/values"):
            return None
        values = self.array(f"{WEIGHTS}/values").tolist()
        if len(values) != len(WEIGHT_NAMES):
            raise ArtifactError(
                f"{self.path}: has {len(values)} weights, but this version of wikilda has {len(WEIGHT_NAMES)}. "
                "Build the model again."
            )
        return Weights.from_mapping(dict(zip(WEIGHT_NAMES, values, strict=True)))

    @property
    def learned_weights(self) -> dict[str, Any]:
        """The data that the weights were learned from, and their accuracy on other links; empty for pooled weights."""
        found = self.manifest.get("learned", {})
        return found if isinstance(found, dict) else {}

    @property
    def prior_shift(self) -> dict[str, Any]:
        """How the prior of the texts differs from the wiki's (`wikilda.urn.prior_shift`); empty without training."""
        found = self.manifest.get("prior_shift", {})
        return found if isinstance(found, dict) else {}

    @property
    def change(self) -> dict[str, int]:
        """The number of parameters that the last iteration has left, gained and dropped."""
        return self.field("change", dict)

    @property
    def knowledge_identity(self) -> str:
        """The identity of the knowledge that it was made from; empty if there is none."""
        return self.field("knowledge.identity", str)

    @property
    def knowledge_hint(self) -> str:
        """The path of the knowledge from the model's directory; empty if it is unknown."""
        return self.field("knowledge.path", str)

    @property
    def topics(self) -> int:
        """K: how many topics there are."""
        return len(self.popularity)

    @cached_property
    def words(self) -> Parameters:
        """λ̂ of words."""
        return self._table(WORDS)

    @cached_property
    def mentions(self) -> Parameters:
        """λ̂ of mentions."""
        return self._table(MENTIONS)

    @cached_property
    def word_sums(self) -> NDArray[np.float64]:
        """λ̂_k· of words, by topic."""
        return self.array("topics/words_sums")

    @cached_property
    def mention_sums(self) -> NDArray[np.float64]:
        """λ̂_k· of mentions, by topic."""
        return self.array("topics/mentions_sums")

    def table(self, kind: str) -> Parameters:
        """λ̂ of WORDS or MENTIONS."""
        return self.words if kind == WORDS else self.mentions

    def sums(self, kind: str) -> NDArray[np.float64]:
        """λ̂_k· of WORDS or MENTIONS, by topic."""
        return self.word_sums if kind == WORDS else self.mention_sums

    def beta(self, kind: str) -> float:
        """β of WORDS or MENTIONS."""
        return self.settings.beta_words if kind == WORDS else self.settings.beta_mentions

    def beta_sum(self, kind: str) -> float:
        """Vβ of WORDS or MENTIONS."""
        return self.beta(kind) * max(self.table(kind).symbols, 1)

    @cached_property
    def word_norms(self) -> NDArray[np.float32]:
        """√Σ_w P(k|w) by topic: the length of its vector of words."""
        return self.array("topics/word_norms")

    @cached_property
    def popularity(self) -> NDArray[np.float32]:
        """The popularity of topics, 1 on average: α_k/α where α is asymmetric."""
        return self.array("topics/popularity")

    @cached_property
    def contexts(self) -> ContextCounts | None:
        """The context counts of the wiki's links and of the training texts; None if there are none."""
        if not self.has(f"{CONTEXTS}/offsets"):
            return None
        return ContextCounts.of({name: self.array(f"{CONTEXTS}/{name}") for name in PARTS})

    @cached_property
    def base(self) -> Parameters:
        """The parameters of the prior: λ̂ of mentions by the share that their strings explain; λ̂ if untrained."""
        return self._table(BASE) if self.has(f"{BASE}/offsets") else self.mentions

    @cached_property
    def nil(self) -> NilCounts | None:
        """The counts of NIL by mention string, if it was trained for the urn."""
        if not self.has(f"{NIL}/symbols"):
            return None
        return NilCounts(*(self.array(f"{NIL}/{part}") for part in NilCounts._fields))

    @property
    def learned(self) -> Learned:
        """Everything that training for the urn has learned."""
        return Learned(
            mentions=self.mentions, base=self.base, contexts=self.contexts, nil=self.nil, weights=self.weights
        )

    def with_settings(self, settings: ModelSettings) -> "Model":
        """The same parameters under other priors α and β (masses are in the parameters and stay)."""
        other = copy.copy(self)
        other.settings = settings
        return other

    def with_learned(self, learned: Learned, iteration: int) -> "Model":
        """Return the same model, in memory, with newly learned parameters."""
        other = copy.copy(self)
        other.manifest = self.manifest | {"iteration": iteration, "method": URN}
        other.__dict__ |= learned._asdict()
        return other

    def derive(self, target: str | Path, *, overwrite: bool = False) -> "ModelWriter":
        """Write a copy of this model with some parts replaced."""
        from wikilda.model.writer import ModelWriter

        return ModelWriter(target, self.topics, overwrite=overwrite, base=self)

    def knowledge(self, path: str | Path | None = None) -> "Knowledge":
        """Open the knowledge of the model at its recorded path or at `path`. Other knowledge is refused."""
        from wikilda.knowledge import Knowledge

        found = Knowledge.open(path if path is not None else self._knowledge_path())
        wanted = self.knowledge_identity
        if found.identity != wanted:
            raise ArtifactError(
                f"{found.path}: is not the knowledge that the model {self.path} was made from "
                f"(it is {found.identity[:8]}, not {wanted[:8]}). Give the right one."
            )
        self.check_fits(found, "topics", WORDS, MENTIONS)
        return found

    def redirect(self, knowledge_path: str) -> None:
        """Change the recorded path of the knowledge, the only field of a finished model that may change."""
        self.rewrite_manifest(knowledge={"identity": self.knowledge_identity, "path": knowledge_path})

    def _knowledge_path(self) -> Path:
        hint = self.knowledge_hint
        path = self.path / hint
        if not hint or not (path / MANIFEST).is_file():
            raise ArtifactError(
                f"{self.path}: its knowledge is not at {path if hint else 'any known place'}. "
                f"Give its place: wikilda verify {self.path} --knowledge DIR."
            )
        return path.resolve()

    def _table(self, kind: str) -> Parameters:
        return Parameters(*(self.array(f"{kind}/{part}") for part in ("offsets", "topics", "values")))

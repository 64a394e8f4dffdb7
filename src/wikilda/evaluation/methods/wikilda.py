"""The methods of `wikilda link`."""

import json
import shutil
import tempfile
import weakref
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from wikilda._core.settings import Settings
from wikilda.evaluation.methods.base import Answer, Given, Method
from wikilda.lda.settings import LdaSettings
from wikilda.linking import Document, LinkedMention, Linker
from wikilda.model import PRESETS, create_model
from wikilda.training.pipeline import train
from wikilda.training.settings import UrnTraining
from wikilda.urn import UrnSettings

MOST = 200  # candidates per mention


class Urn(Method):
    """Links by the urn; a score is a posterior probability."""

    name = "urn"
    probabilistic = True
    uses_model = True
    settings_type: ClassVar[type[Settings]] = UrnSettings
    settings: UrnSettings | LdaSettings

    def __init__(self, given: Given, settings: UrnSettings | LdaSettings | None = None) -> None:
        super().__init__(given, settings)
        self.linker = Linker(given.model, given.knowledge, self.settings)

    def link(self, document: Document) -> list[Answer]:
        """An answer for each mention of a document."""
        return [self._answer(mention) for mention in self.linker.link(document, candidates=MOST, topics=0).mentions]

    def link_text(self, text: Document) -> list[tuple[tuple[int, int], Answer]]:
        """Return what `wikilda link` answers."""
        found = self.linker.link(replace(text, mentions=None), candidates=MOST, topics=0).mentions
        return [((each.start, each.end), self._answer(each)) for each in found]

    def _answer(self, mention: LinkedMention) -> Answer:
        topics = [each.entity.topic for each in mention.candidates]
        return Answer(topics, [each.probability for each in mention.candidates], mention.nil)


class Lda(Urn):
    """Links by the paper's sampler, with the model as it is."""

    name = "lda"
    settings_type = LdaSettings


class Paper(Lda):
    """Links by the paper's sampler and settings, with its own model at t = 0, which is temporary."""

    name = "paper"
    uses_model = False

    def __init__(self, given: Given, settings: LdaSettings | None = None) -> None:
        scratch = Path(tempfile.mkdtemp(prefix="wikilda-paper-"))
        weakref.finalize(self, shutil.rmtree, scratch, ignore_errors=True)
        model = create_model(given.knowledge, scratch / "model", PRESETS["paper"])
        super().__init__(replace(given, model=model), settings)


class Trained(Urn):
    """Links by the urn, trained on the texts without labels. Each text is linked with what the others have taught."""

    name = "trained"

    def __init__(self, given: Given, settings: UrnSettings | None = None) -> None:
        with tempfile.TemporaryDirectory(prefix="wikilda-trained-") as name:
            scratch = Path(name)
            texts = scratch / "texts.jsonl"
            rows = ({"id": each.id, "text": each.text, "mentions": each.spans} for each in given.texts)
            texts.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
            how = UrnTraining(held_out=0.0, evaluated=0)
            place = given.knowledge.path
            made = train(given.model.path, [texts], scratch / "model", how, knowledge=place)
            learned = given.model.with_learned(made.learned, made.iteration)  # mapped files remain valid after removal
            super().__init__(replace(given, model=learned), settings)

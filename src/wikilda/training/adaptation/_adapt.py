"""From texts to a model that knows what stands around mentions."""

from collections.abc import Iterable
from pathlib import Path

from wikilda._core.errors import SettingsError
from wikilda.documents.encoding import EncodedDocument
from wikilda.linking import Document, Linker
from wikilda.linking.batch import map_ordered
from wikilda.model import Model
from wikilda.model.context_counts import Surroundings
from wikilda.model.create import relative_hint
from wikilda.model.model import SURROUNDINGS
from wikilda.training.adaptation._context_counts import Counts
from wikilda.training.adaptation._topic_types import kind_words
from wikilda.urn import Drawn


def adapt(linker: Linker, texts: Iterable[Document | str], *, workers: int = 1) -> Counts:
    """Link texts, and count what stands around what their mentions mean, by how probable that is."""

    if linker.urn is None:
        raise SettingsError("only the urn adapts, and this linker decides by the paper's sampler")
    plain = Linker(linker.model.with_surroundings(None), linker.knowledge, linker.urn.settings, linker.detector)

    def read(text: Document | str) -> tuple[EncodedDocument, Drawn]:
        document = plain.encode(text, contexts=True)
        return document, plain.draw(document)

    counts = Counts(kind_words(linker.knowledge))
    for each in map_ordered(read, texts, workers):
        counts.add(*each)
    return counts


def write_adapted(model: Model, surroundings: Surroundings, target: str | Path, *, overwrite: bool = False) -> Model:
    """A model with the parameters of another, which share its disk, and with what was learned."""
    with Model.writer(target, overwrite=overwrite, base=model) as writer:
        writer.remove(SURROUNDINGS)
        for name, values in surroundings.parts().items():
            writer.array(f"{SURROUNDINGS}/{name}", values)
        hint = model.knowledge_hint
        path = relative_hint(model.path / hint, Path(target)) if hint else ""
        return writer.finish({"knowledge": {"identity": model.knowledge_identity, "path": path}})

"""From texts to a model that knows what stands around mentions."""

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from wikilda.adaptation.counts import Counts
from wikilda.adaptation.kinds import kind_words
from wikilda.errors import SettingsError
from wikilda.inference.urn import Drawn
from wikilda.inference.urn.surroundings import Around
from wikilda.linking import Linker, Text
from wikilda.linking.batch import map_ordered
from wikilda.linking.encode import encode_around
from wikilda.model import Model
from wikilda.model.model import FORMAT, KIND, SURROUNDINGS
from wikilda.model.surroundings import Surroundings
from wikilda.store import Writer


def adapt(linker: Linker, texts: Iterable[Text | str], *, workers: int = 1) -> Counts:
    """Link texts, and count what stands around what their mentions mean, by how probable that is."""

    if linker.urn is None:
        raise SettingsError("only the urn adapts, and this linker decides by the paper's sampler")
    plain = Linker(linker.model.with_surroundings(None), linker.knowledge, linker.urn.settings, linker.detector)

    def read(text: Text | str) -> tuple[str, Around, Drawn]:
        document = plain.read(text)
        return document.text, encode_around(document.text, document.spans), plain.draw(document)

    counts = Counts(kind_words(linker.knowledge))
    for each in map_ordered(read, texts, workers):
        counts.add(*each)
    return counts


def write_adapted(model: Model, surroundings: Surroundings, target: str | Path, *, overwrite: bool = False) -> Model:
    """A model with the parameters of another, which share its disk, and with what was learned."""
    with Writer(Path(target), KIND, FORMAT, overwrite=overwrite) as writer:
        for name in model.artifact.manifest["files"]:
            if not name.startswith(f"{SURROUNDINGS}/"):
                _link(model.path / name, writer.path / name)
        for name, values in surroundings.parts().items():
            writer.array(f"{SURROUNDINGS}/{name}", values)
        known = model.artifact.manifest["knowledge"]
        path = os.path.relpath((model.path / known["path"]).resolve(), Path(target).resolve()) if known["path"] else ""
        kept = {key: value for key, value in model.artifact.manifest.items() if key not in _OF_THE_STORE}
        return Model(writer.finish({**kept, "knowledge": {**known, "path": path}}))


_OF_THE_STORE = ("kind", "format", "wikilda", "identity", "files")


def _link(source: Path, target: Path) -> None:
    """The same file under another name; a copy where the disk cannot do that."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)

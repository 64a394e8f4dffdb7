"""`wikilda verify`."""

from pathlib import Path

import click

from wikilda._core.artifact import MANIFEST, Artifact, kind_of
from wikilda._core.errors import ArtifactError
from wikilda.cli._options import ANY_PATH, refuse
from wikilda.knowledge import Knowledge
from wikilda.model import Model
from wikilda.model.create import relative_hint
from wikilda.training.corpus import Corpus

_KINDS: tuple[type[Artifact], ...] = (Knowledge, Model, Corpus)


@click.command()
@click.argument("artifact", type=ANY_PATH, metavar="ARTIFACT")
@click.option("--knowledge", type=ANY_PATH, help="Where the model's knowledge is now; the model keeps the path.")
def command(artifact: Path, knowledge: Path | None) -> None:
    """Check knowledge, a model or a corpus: all values that the program relies on, and all digests.

    Opening an artifact checks the same values once, but not the digests. Of a model, its knowledge is checked, too.
    """
    opened = _open(artifact)
    if not isinstance(opened, Model):
        refuse(["knowledge"], "is for a model.")
    _verify(opened)
    if isinstance(opened, Model) and opened.knowledge_identity:
        known = opened.knowledge(knowledge)
        _verify(known)
        if knowledge:
            opened.redirect(relative_hint(known.path, artifact))


def _open(path: Path) -> Artifact:
    kind = kind_of(path)
    found = next((each for each in _KINDS if each.kind == kind), None)
    if found is None:
        raise ArtifactError(
            f"{path}: is neither knowledge nor a model nor a corpus, by its {MANIFEST}. Check the path."
        )
    return found.open(path)


def _verify(opened: Artifact) -> None:
    opened.verify()
    size = sum(each["bytes"] for each in opened.files.values())
    files = f"{len(opened.files):,} files, {size / 1e6:,.1f} MB"
    click.echo(f"{opened.path}: {opened.kind} {opened.identity}, {files}: all as it was written")

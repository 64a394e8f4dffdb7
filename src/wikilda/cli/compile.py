"""`wikilda compile`."""

import json
import tempfile
from collections.abc import Callable
from pathlib import Path

import click

from wikilda._core import kernel_cache
from wikilda._core.compiler import compile_into, compile_recorded
from wikilda._core.errors import WikildaError
from wikilda._core.jit import DISABLED, Kernel, tier
from wikilda._core.progress import bar
from wikilda.cli._options import refuse
from wikilda.knowledge.describe import describe_mention
from wikilda.linking import Linker
from wikilda.sample import MODEL, SETTINGS, WIKI, texts

# Unknown names with known ones inside, which have to be segmented.
_NESTED = "Bank of England Cricket Holdings, Ltd. of Cardiff paid Mr Robert Croft Jones in 1998. BANK OF ENGLAND won."


def _link(_: Path) -> None:
    linker = Linker.open(MODEL)
    for text in (*(each["text"] for each in texts()), _NESTED):
        linker.link(text)
    linker.link(_NESTED, nested=True)


def _show(_: Path) -> None:
    known = Linker.open(MODEL).knowledge
    describe_mention(known, known.find_mention("Croft"), 5)


def _explain(_: Path) -> None:
    Linker.open(MODEL).explain(texts()[0]["text"])


def _topics(_: Path) -> None:
    Linker.open(MODEL).topics(texts()[0]["text"], by_words=5)


def _serve(scratch: Path) -> None:
    from wikilda.knowledge.graph import nearest, similarity

    _link(scratch)
    _explain(scratch)
    graph = Linker.open(MODEL).knowledge.graph
    similarity(graph, 0, 0)
    nearest(graph, 0, 1)


def _match(_: Path) -> None:
    import pyarrow as pa

    Linker.open(MODEL).match_frame(pa.table({"name": ["Croft", "Brian Lara", "Zyx Holdings"]}), "name")


def _evaluate(scratch: Path) -> None:
    from wikilda.evaluation.evaluate import evaluate

    gold = scratch / "gold.jsonl"
    gold.write_text("".join(json.dumps(each) + "\n" for each in texts()), "utf-8")
    evaluate(MODEL, gold, workers=1)


def _build(scratch: Path) -> None:
    from wikilda.training.build import build

    build(WIKI, scratch / "built", settings=SETTINGS, workers=1)


def _train(scratch: Path) -> None:
    from wikilda.training.corpus import make_corpus
    from wikilda.training.pipeline import train
    from wikilda.training.settings import UrnTraining

    files = []
    for number, each in enumerate(texts()):
        files.append(scratch / f"{number}.txt")
        files[-1].write_text(each["text"], "utf-8")
    known = Linker.open(MODEL).knowledge.path
    made = make_corpus(files, known, scratch / "corpus", workers=1)
    train(MODEL, made.path, scratch / "trained", UrnTraining())
    Linker.open(scratch / "trained").link(texts()[0]["text"])


# Small runs of commands: the kernels that they call are those that the commands need.
WORK: dict[str, Callable[[Path], None]] = {
    "link": _link, "show": _show, "explain": _explain, "topics": _topics, "serve": _serve, "match": _match,
    "evaluate": _evaluate, "build": _build, "train": _train,
}  # fmt: skip


def kernels_of(*commands: str) -> list[tuple[Kernel, str]]:
    """The kernels that commands call, with the types of their arguments."""
    with tempfile.TemporaryDirectory(prefix="wikilda-compile-") as scratch, tier.recording() as found:
        for name in commands:
            WORK[name](Path(scratch))
    return list(found)


@click.command()
@click.argument("commands", nargs=-1, metavar="[COMMAND]...", type=click.Choice(list(WORK)))
@click.option("--into", type=click.Path(path_type=Path), metavar="DIR",
              help="Write kernels for a portable processor level to DIR, to be part of a wheel.")  # fmt: skip
@click.option("--list", "as_list", is_flag=True, help="List the kernels and do not compile them.")
def command(commands: tuple[str, ...], into: Path | None, as_list: bool) -> None:
    """Compile the kernels that COMMANDs call, by default those of link, show and explain.

    Nothing runs interpreted then. For images of containers, and before a benchmark. Kernels that are in the cache are
    not compiled again.
    """
    chosen = commands or ("link", "show", "explain")
    if DISABLED:
        raise WikildaError("NUMBA_DISABLE_JIT is set: nothing is compiled. Unset it.")
    if into is not None:
        refuse(["as_list"], "has no effect with --into.")
        compile_into(into, ["-m", "wikilda", "compile", *chosen])
        click.echo(f"kernels → {into}")
        return
    if not as_list and not kernel_cache.is_writable():
        raise WikildaError(f"{kernel_cache.directory()}: cannot be written to. {kernel_cache.REMEDY}")
    found = kernels_of(*chosen)
    if as_list:
        for name in sorted(f"{each.function.__module__}.{each.function.__qualname__}" for each, _ in found):
            click.echo(name)
        return
    with bar("compiling kernels", len(found)) as shown:
        for _ in compile_recorded(found):
            shown.advance(1)
    kernel_cache.announce()
    click.echo(f"{len(found)} kernels are in {kernel_cache.directory()}")

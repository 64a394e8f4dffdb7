"""`wikilda evaluate`."""

from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console

from wikilda._core.errors import InputError
from wikilda.cli._options import Sectioned, settings_options
from wikilda.cli._tables import console, table
from wikilda.evaluation import metrics, nil
from wikilda.evaluation.bootstrap import Difference
from wikilda.evaluation.datasets import READERS, read_dataset
from wikilda.evaluation.end_to_end import Detect, detector, end_to_end
from wikilda.evaluation.gold import Resolver
from wikilda.evaluation.methods import METHODS, Given, Method, everything, make_methods
from wikilda.evaluation.metrics import Slice
from wikilda.evaluation.previous_run import Earlier
from wikilda.evaluation.report import report
from wikilda.evaluation.results import Runs, gold_summary, results, write_json, write_text
from wikilda.evaluation.run import Gold, Run, run
from wikilda.model import Model
from wikilda.urn import UrnSettings

_ANY = click.Path(path_type=Path)
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_GOLD = click.Path(exists=True, path_type=Path)  # a directory is a set of many files
_OUT = click.Path(dir_okay=False, writable=True, path_type=Path)
_END_TO_END = ["method", "micro P", "R", "F1", "macro P", "R", "F1"]
_DEFAULT = ("prior", "tagme", "aida", "urn", "trained")


@click.command(cls=Sectioned)
@click.argument("model", type=_ANY, metavar="MODEL")
@click.argument("files", nargs=-1, required=True, type=_GOLD, metavar="FILE...")
@click.option("--kb", "knowledge", type=_ANY, help="The model's knowledge, if it has moved.")
@click.option(
    "--method", "names", multiple=True, metavar="NAME",
    help=f"What to run, once for each: {', '.join(METHODS)}, all, or MODULE:CLASS; NAME:tuned or NAME:FILE.toml with "
    f"other settings. The last is compared with the others.  [default: {', '.join(_DEFAULT)}]",
)  # fmt: skip
@click.option(
    "--also", multiple=True, type=_ANY, metavar="MODEL",
    help="A further model of the same knowledge; methods that depend on the model have a row for each.",
)  # fmt: skip
@click.option("--split", "splits", multiple=True, metavar="NAME", help="Only these splits (train, testa, …).")
@click.option(
    "--format", "form", type=click.Choice(list(READERS)), help="What FILEs are.  [default: what they look like]"
)
@click.option("--threads", type=click.IntRange(1, 1024), help="Threads to link with.  [default: one a core]")
@click.option("--breakdown", is_flag=True, help="Show accuracy by ambiguity and by the prior rank of gold, too.")
@click.option("--detect", is_flag=True, help="Find the mentions, too: precision, recall and F1 from end to end.")
@click.option("--json", "json_file", type=_OUT, help="Write all figures and every document here.")
@click.option("--than", type=_FILE, help="Compare with the --json of an earlier run on the same data.")
@click.option("--report", "report_file", type=_OUT, help="Write a page here that shows each error in its text.")
@settings_options(UrnSettings)
def command(
    model: Path, files: tuple[Path, ...], knowledge: Path | None, names: tuple[str, ...], also: tuple[Path, ...],
    splits: tuple[str, ...], form: str | None, threads: int | None, breakdown: bool, detect: bool,
    json_file: Path | None, report_file: Path | None, than: Path | None, settings: UrnSettings,
) -> None:  # fmt: skip
    """Measure methods on gold, side by side.

    FILEs are AIDA-YAGO2-dataset.tsv, NIF in Turtle (GERBIL), WNED sets (the .xml beside RawText), ELEVANT's JSON
    lines, or our own: what `wikilda link` reads, and a "title" for each mention (null for NIL). All files of
    a directory are one set.

    The method `trained` is `urn`, trained on all the texts of FILEs without their labels (`wikilda train`).
    """
    _check_places(json_file, report_file)
    opened = Model.open(model)
    resolver = Resolver(opened.knowledge(knowledge))
    datasets = [dataset for file in files for dataset in read_dataset(file, form, splits)]
    golds = [Gold(dataset, resolver) for dataset in datasets]
    _check_gold(golds)
    wanted = everything() if "all" in names else list(dict.fromkeys(names or _DEFAULT))
    texts = [document for gold in golds for document in gold.documents]
    given = [Given(each, resolver.knowledge, texts) for each in (opened, *map(Model.open, also))]
    methods = make_methods(wanted, given, {"urn": settings, "trained": settings})
    earlier = Earlier(than) if than else None
    find = detector(resolver.knowledge) if detect else None
    out = console()
    groups: list[list[Run]] = []
    for gold in golds:
        groups.append([run(method, gold, threads) for method in methods])
        show(out, groups[-1], breakdown=breakdown)
        if earlier:
            _show_earlier(out, earlier, groups[-1])
        if find:
            rows = [_end_to_end_row(method, gold, find, threads) for method in methods]
            out.print(table(f"{gold.name}, end to end", _END_TO_END, rows))
    if json_file:
        write_json(json_file, results(opened, groups, settings))
    if report_file:
        write_text(report_file, report(groups))


def _check_places(*files: Path | None) -> None:
    """Whether results can be written should be known before they are made."""
    for file in files:
        if file and not file.parent.is_dir():
            raise InputError(f"{file.parent}: no such directory, so {file.name} cannot be written there.")


def _check_gold(golds: Sequence[Gold]) -> None:
    for gold in golds:
        entities, found = gold.entities
        if entities and not found:
            raise InputError(
                f"{gold.name}: none of its {entities:,} entities is in the knowledge; is it another wiki's?"
            )


def show(out: Console, runs: Runs, *, breakdown: bool) -> None:
    """The table of the paper for a data set, and how sure the differences are."""
    _show_gold(out, runs[0].gold)
    columns = ["method", "micro", "±", "macro", "±", "of all", "recall", "NIL P", "R", "ECE", "seconds"]
    out.print(table("", columns, [_row(each) for each in runs]))
    for each in runs:
        _show_failures(out, each)
    for other in runs[:-1]:
        _show_difference(out, f"{runs[-1].method} − {other.method}", metrics.compare(runs[-1], other))
    if breakdown:
        _show_slices(out, "by ambiguity", runs, [metrics.by_ambiguity(each) for each in runs])
        _show_slices(out, "by prior rank of gold", runs, [metrics.by_prior_rank(each) for each in runs])
    out.print()


def _show_gold(out: Console, gold: Gold) -> None:
    counts = gold_summary(gold)
    out.print(
        f"{counts['name']}: {counts['documents']:,} documents, {counts['mentions']:,} mentions: "
        f"{counts['in_knowledge']:,} in the knowledge, {counts['not_in_knowledge']:,} not in it, {counts['nil']:,} NIL",
        markup=False, highlight=False,
    )  # fmt: skip
    entities, found = gold.entities
    if found < entities:
        share = 100 * found / entities
        about = "; is it gold of another wiki?" if share < 50 else ""
        text = f"  {found:,} of its {entities:,} distinct entities ({share:.1f} %) are in the knowledge{about}"
        out.print(text, markup=False, highlight=False)
    for complaint in gold.complaints[:5]:
        out.print(f"  {complaint}", markup=False, highlight=False)
    if len(gold.complaints) > 5:
        out.print(f"  … and {len(gold.complaints) - 5} more", markup=False, highlight=False)


def _show_failures(out: Console, each: Run) -> None:
    if each.failures:
        first = each.failures[0]
        out.print(
            f"{each.method}: failed in {len(each.failures):,} of {len(each.gold.documents):,} documents, whose "
            f"mentions count as wrong; the first is {first.document!r}: {first.error}", markup=False, highlight=False,
        )  # fmt: skip


def _row(each: Run) -> list[str]:
    found, without = metrics.accuracy(each), nil.nil_scores(each)
    error = f"{nil.answer_calibration(each).error:.3f}" if each.probabilistic else ""
    shares = (found.micro, found.micro_deviation, found.macro, found.macro_deviation, found.micro_all, found.recall)
    nils = (without.precision, without.recall)
    return [each.method, *(f"{share:.2f}" for share in shares), *(f"{share:.1f}" for share in nils), error,
            f"{each.seconds:.1f}"]  # fmt: skip


def _show_difference(out: Console, name: str, found: dict[str, Difference]) -> None:
    parts = [f"{kind} {d.value:+.2f} [{d.low:+.2f}, {d.high:+.2f}] p={d.p:.3f}" for kind, d in found.items()]
    out.print(f"{name}: {'; '.join(parts)}", markup=False, highlight=False)


def _show_earlier(out: Console, earlier: Earlier, runs: Runs) -> None:
    for each in runs:
        found = earlier.compare(each)
        if found:
            _show_difference(out, f"{each.method} − {each.method} in {earlier.path.name}", found)
    out.print()


def _end_to_end_row(method: Method, gold: Gold, find: Detect, threads: int | None) -> list[str]:
    both = end_to_end(method, gold, find, threads)
    return [method.name, *(f"{share:.2f}" for each in both for share in (each.precision, each.recall, each.f1))]


def _show_slices(out: Console, title: str, runs: Runs, found: Sequence[list[Slice]]) -> None:
    rows = [
        [each.name, each.mentions, *(f"{slices[at].accuracy:.1f}" if each.mentions else "–" for slices in found)]
        for at, each in enumerate(found[0])
    ]
    out.print(table(title, ["", "mentions", *(each.method for each in runs)], rows))

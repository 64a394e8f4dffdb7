"""`wikilda evaluate`."""

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

import click

from wikilda._core.atomic import check_output
from wikilda.cli._options import (
    ANY_PATH,
    model_argument,
    refuse,
    settings_options,
    show_table,
    workers_option,
)
from wikilda.evaluation import metrics
from wikilda.evaluation.bootstrap import Difference
from wikilda.evaluation.datasets import READERS
from wikilda.evaluation.evaluate import DEFAULT_METHODS, OWN_METHODS, evaluate, evaluate_own_links
from wikilda.evaluation.methods import METHODS, Method
from wikilda.evaluation.metrics import Slice
from wikilda.evaluation.results import Earlier, Runs, gold_summary
from wikilda.evaluation.run import Gold, Run
from wikilda.evaluation.run import end_to_end as measure_end_to_end
from wikilda.urn import UrnSettings

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_GOLD = click.Path(exists=True, path_type=Path)  # a directory is a set of many files
_OUT = click.Path(dir_okay=False, writable=True, path_type=Path)
_END_TO_END = ["method", "micro P", "R", "F1", "macro P", "R", "F1"]


@click.command()
@model_argument
@click.argument("files", nargs=-1, type=_GOLD, metavar="[FILE]...")
@click.option("--own-links", "own", is_flag=True, help="Measure on held-out links of the wiki itself.")
@click.option(
    "--method", "names", multiple=True, metavar="NAME",
    help=f"{', '.join(METHODS)}, or MODULE:CLASS (:FILE.toml for settings); repeatable.",
)  # fmt: skip
@click.option(
    "--also", multiple=True, type=ANY_PATH, metavar="MODEL",
    help="A further model of the same knowledge; repeatable.",
)  # fmt: skip
@click.option("--split", "splits", multiple=True, metavar="NAME", help="Only these splits (train, testa, …).")
@click.option(
    "--format", "form", type=click.Choice(list(READERS)), metavar="NAME", help=f"Format of FILEs: {', '.join(READERS)}."
)
@click.option("-o", "--output", "json_file", type=_OUT, help="Write figures and documents as JSON.")
@click.option("--baseline", type=_FILE, help="Compare with the --output of an earlier run.")
@click.option("--report", "report_file", type=_OUT, help="Write an HTML report of the errors.")
@click.option("--end-to-end", is_flag=True, help="Detect mentions, too: precision, recall, F1.")
@click.option("--breakdown", is_flag=True, help="Show accuracy by ambiguity and by prior rank.")
@workers_option("Threads")
@settings_options(settings=UrnSettings)
def command(
    model: Path, files: tuple[Path, ...], own: bool, names: tuple[str, ...],
    also: tuple[Path, ...], splits: tuple[str, ...], form: str | None, workers: int, breakdown: bool, end_to_end: bool,
    json_file: Path | None, report_file: Path | None, baseline: Path | None, settings: UrnSettings,
) -> None:  # fmt: skip
    """Measure methods on gold, side by side.

    FILEs are AIDA-YAGO2-dataset.tsv, NIF in Turtle (GERBIL), WNED sets (the .xml beside RawText), ELEVANT's JSON
    lines, or our own: what `wikilda link` reads, and a "title" for each mention (null for NIL). All files of
    a directory are one set.

    With --own-links, no gold is needed: half of the sample of articles that MODEL keeps is taken out of it, and their
    links are the gold.

    The last --method is compared with the others. `trained` is `urn`, trained on the texts of FILEs without labels.
    """
    chosen = names or (OWN_METHODS if own else DEFAULT_METHODS)
    if not {"urn", "trained"} & set(chosen):
        refuse([each.name for each in fields(settings)], "is for the methods urn and trained.")
    for output in (json_file, report_file):
        if output:
            check_output(output, overwrite=True, inputs=[*files, *([baseline] if baseline else [])])
    earlier = Earlier(baseline) if baseline else None

    def watch(gold: Gold, runs: list[Run], methods: list[Method]) -> None:
        show(runs, breakdown=breakdown)
        if earlier:
            _show_earlier(earlier, runs)
        if end_to_end:
            rows = [_end_to_end_row(method, gold, workers) for method in methods]
            show_table(f"{gold.name}, end to end", _END_TO_END, rows)

    if own:
        if files:
            raise click.UsageError("--own-links has no FILEs.")
        refuse(["also", "splits", "form"], "has no effect with --own-links.")
        found = evaluate_own_links(model, methods=chosen, settings=settings, workers=workers, watch=watch)
    elif not files:
        raise click.UsageError("give FILEs with gold, or --own-links.")
    else:
        found = evaluate(
            model, files, methods=chosen, also=also, splits=splits, format=form, settings=settings,
            workers=workers, watch=watch,
        )  # fmt: skip
    if json_file:
        found.write_json(json_file)
    if report_file:
        found.write_report(report_file)


def show(runs: Runs, *, breakdown: bool) -> None:
    """Print the table of the paper for a data set, and the differences with intervals."""
    _show_gold(runs[0].gold)
    columns = ["method", "micro", "±", "macro", "±", "of all", "recall", "NIL P", "R", "ECE", "seconds"]
    show_table("", columns, [_row(each) for each in runs])
    for each in runs:
        _show_failures(each)
    for other in runs[:-1]:
        _show_difference(f"{runs[-1].method} − {other.method}", metrics.compare(runs[-1], other))
    if breakdown:
        _show_slices("by ambiguity", runs, [metrics.by_ambiguity(each) for each in runs])
        _show_slices("by prior rank of gold", runs, [metrics.by_prior_rank(each) for each in runs])
    click.echo()


def _show_gold(gold: Gold) -> None:
    counts = gold_summary(gold)
    click.echo(
        f"{counts['name']}: {counts['documents']:,} documents, {counts['mentions']:,} mentions: "
        f"{counts['in_knowledge']:,} in the knowledge, {counts['not_in_knowledge']:,} not in it, {counts['nil']:,} NIL",
    )  # fmt: skip
    entities, found = gold.entities
    if found < entities:
        share = 100 * found / entities
        about = "; is it gold of another wiki?" if share < 50 else ""
        text = f"  {found:,} of its {entities:,} distinct entities ({share:.1f} %) are in the knowledge{about}"
        click.echo(text)
    for complaint in gold.complaints[:5]:
        click.echo(f"  {complaint}")
    if len(gold.complaints) > 5:
        click.echo(f"  … and {len(gold.complaints) - 5} more")


def _show_failures(each: Run) -> None:
    if each.failures:
        first = each.failures[0]
        click.echo(
            f"{each.method}: failed in {len(each.failures):,} of {len(each.gold.documents):,} documents, whose "
            f"mentions count as wrong; the first is {first.document!r}: {first.error}",
        )  # fmt: skip


def _row(each: Run) -> list[str]:
    found, without = metrics.accuracy(each), metrics.nil_scores(each)
    error = f"{metrics.answer_calibration(each).error:.3f}" if each.probabilistic else ""
    shares = (found.micro, found.micro_deviation, found.macro, found.macro_deviation, found.micro_all, found.recall)
    nils = (without.precision, without.recall)
    return [each.method, *(f"{share:.2f}" for share in shares), *(f"{share:.1f}" for share in nils), error,
            f"{each.seconds:.1f}"]  # fmt: skip


def _show_difference(name: str, found: dict[str, Difference]) -> None:
    parts = [f"{kind} {d.value:+.2f} [{d.low:+.2f}, {d.high:+.2f}] p={d.p:.3f}" for kind, d in found.items()]
    click.echo(f"{name}: {'; '.join(parts)}")


def _show_earlier(earlier: Earlier, runs: Runs) -> None:
    for each in runs:
        found = earlier.compare(each)
        if found:
            _show_difference(f"{each.method} − {each.method} in {earlier.path.name}", found)
    click.echo()


def _end_to_end_row(method: Method, gold: Gold, workers: int) -> list[str]:
    both = measure_end_to_end(method, gold, workers)
    return [method.name, *(f"{share:.2f}" for each in both for share in (each.precision, each.recall, each.f1))]


def _show_slices(title: str, runs: Runs, found: Sequence[list[Slice]]) -> None:
    rows = [
        [each.name, each.mentions, *(f"{slices[at].accuracy:.1f}" if each.mentions else "–" for slices in found)]
        for at, each in enumerate(found[0])
    ]
    show_table(title, ["", "mentions", *(each.method for each in runs)], rows)

"""`wikilda tune`."""

import hashlib
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from wikilda._core.errors import InputError, SettingsError
from wikilda.cli._options import Command, model_argument, settings_options, show_table, workers_option
from wikilda.evaluation.datasets import READERS, Dataset, read_dataset
from wikilda.evaluation.gold import TEST_SPLITS
from wikilda.evaluation.methods import find_method
from wikilda.evaluation.tuning import Point, Record, Search, Step, Task, own_space, read_space
from wikilda.model import Model
from wikilda.urn import UrnSettings

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_GOLD = click.Path(exists=True, path_type=Path)  # a directory is a set of many files


@click.command(cls=Command)
@model_argument
@click.argument("files", nargs=-1, required=True, type=_GOLD, metavar="FILE...")
@click.option("--method", default="urn", show_default=True, help="The method whose settings to search.")
@click.option("--search", "space_file", type=_FILE,
              help="TOML with the values to try of each setting.  [default: those that the method names]")  # fmt: skip
@click.option("--likelihood", is_flag=True,
              help="FILEs are texts without labels: choose settings of `train` by held-out likelihood.")  # fmt: skip
@click.option("--for", "like", multiple=True, type=_GOLD, metavar="FILE",
              help="With --likelihood: hold out texts like these.  [default: a share of FILEs]")  # fmt: skip
@click.option("--record", "record_file", type=click.Path(dir_okay=False, path_type=Path),
              help="JSON lines of all trials; a search that finds it resumes.")  # fmt: skip
@click.option(
    "--rounds", type=click.IntRange(1), default=3, show_default=True, help="Times through all settings, at most."
)
@click.option("--grid", is_flag=True, help="Try all combinations instead of one setting after the other.")
@click.option("--every", type=click.IntRange(1), default=1, show_default=True, help="Use every n-th document only.")
@workers_option("Trials")
@click.option("--split", "splits", multiple=True, metavar="NAME", help="Only these splits (train, testa, …).")
@click.option(
    "--format", "form", type=click.Choice(list(READERS)), help="Format of FILEs.  [default: by their content]"
)
@click.option(
    "--even-test", is_flag=True, help="Tune on test data, too; accuracy measured on it afterwards is worthless."
)
@settings_options(UrnSettings)
def command(
    model: Path, files: tuple[Path, ...], method: str, space_file: Path | None, likelihood: bool,
    like: tuple[Path, ...], record_file: Path | None, rounds: int,
    grid: bool, every: int, workers: int, knowledge: Path | None, splits: tuple[str, ...], form: str | None,
    even_test: bool, settings: UrnSettings,
) -> None:  # fmt: skip
    """Search for the settings that measure best on gold: greedily, one at a time, as the paper does.

    What is maximised is the sum of micro and macro accuracy over all data sets. The search starts from the model's
    settings and the urn's given here, or the defaults of another method, which are its paper's.

    With --likelihood, FILEs are texts without labels. It trains on them, measures how well the model predicts held-out
    documents, says whether the texts help at all, and which settings of `wikilda train` do best.
    """
    if likelihood:
        _choose(model, files, like, knowledge, workers)
        return
    if like or record_file is None:
        raise SettingsError("--for is for --likelihood." if like else "give a file to keep the trials in: --record.")
    kind = find_method(method)[0]
    space = read_space(space_file, method) if space_file else own_space(method)
    opened = Model.open(model)
    known = opened.knowledge(knowledge)
    datasets = [dataset for file in files for dataset in read_dataset(file, form, splits)]
    _refuse_test(datasets, even_test=even_test)
    datasets = [replace(each, documents=each.documents[::every]) for each in datasets]
    chosen = settings if kind.settings_type is UrnSettings else kind.settings_type()
    start: Point = {method: chosen.to_mapping(), "model": opened.settings.to_mapping()}
    record = Record(
        record_file, {"method": method, "model": opened.identity, "knowledge": known.identity, "data": _about(datasets)}
    )
    with tempfile.TemporaryDirectory(prefix="wikilda-tune-") as scratch:
        task = Task(opened.path.resolve(), known.path.resolve(), datasets, Path(scratch), method)
        search = Search(task, space, start, record, workers)
        for step in search.grid() if grid else search.steps(rounds):
            click.echo(_line(step))
    show_table("Best", ["setting", "before", "now"], _changes(start, search.point))
    click.echo(f"objective {search.objective:.2f} over {', '.join(each.name for each in datasets)}")
    for name, use in (("urn", "wikilda link MODEL"), ("model", "wikilda init MODEL -o NEW")):
        if options := _options(start.get(name, {}), search.point.get(name, {})):
            click.echo(f"{use} {options}")


def _choose(model: Path, texts: tuple[Path, ...], like: tuple[Path, ...], knowledge: Path | None, workers: int) -> None:
    """Settings of `wikilda train` by held-out likelihood."""
    from wikilda.training.choose import Chooser

    chooser = Chooser(model, texts, like, knowledge=knowledge, workers=workers)
    for trial in chooser.trials():
        what = f"{trial.name} {trial.value}" if trial.name else "settings as they are"
        click.echo(f"{what}: {trial.gain:+.4f} ± {trial.error:.4f} nats per context symbol")
    click.echo(chooser.best.verdict.capitalize())
    names = [f"--{name.replace('_', '-')} {getattr(chooser.settings, name)}" for name in chooser.space]
    click.echo(f"wikilda train MODEL TEXTS {' '.join(names)}")


def _refuse_test(datasets: list[Dataset], *, even_test: bool) -> None:
    for dataset in datasets:
        if not even_test and any(document.split in TEST_SPLITS for document in dataset.documents):
            raise InputError(
                f"{dataset.name}: is test data, and settings that were chosen on it could not be measured on it. "
                "Choose other --split, or use --even-test."
            )


def _about(datasets: list[Dataset]) -> list[dict[str, Any]]:
    """What the record must have been made on: the same texts with the same gold."""
    rows = []
    for dataset in datasets:
        text = repr([(each.text, each.mentions, each.gold) for each in dataset.documents])
        rows.append({"name": dataset.name, "digest": hashlib.blake2b(text.encode(), digest_size=8).hexdigest()})
    return rows


def _line(step: Step) -> str:
    tried = ", ".join(f"{value} {'refused' if score is None else f'{score:.2f}'}" for value, score in step.tried)
    return f"{step.axis.kind}.{step.axis.name}: {tried} → {step.kept}"


def _options(start: dict[str, Any], best: dict[str, Any]) -> str:
    """How to say on the command line what is better than it was."""
    flags = []
    for name, value in best.items():
        flag = name.replace("_", "-")
        if value != start[name]:
            flags.append(
                f"--{'' if value is not False else 'no-'}{flag}{'' if isinstance(value, bool) else f' {value}'}"
            )
    return " ".join(flags)


def _changes(start: Point, best: Point) -> list[list[str]]:
    rows = []
    for kind, settings in best.items():
        for name, value in settings.items():
            if value != start[kind][name]:
                rows.append([f"{kind}.{name}", str(start[kind][name]), str(value)])
    return rows or [["nothing better was found", "", ""]]

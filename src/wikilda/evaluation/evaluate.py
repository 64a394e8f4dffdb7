"""Methods measured on annotated data, in one call."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wikilda._core.atomic import write_text
from wikilda._core.errors import InputError
from wikilda._core.jit import LINKED, tier
from wikilda.evaluation import metrics
from wikilda.evaluation.datasets import read_dataset
from wikilda.evaluation.gold import Resolver
from wikilda.evaluation.methods import Given, Method, make_methods
from wikilda.evaluation.own_links import own_links
from wikilda.evaluation.report import report
from wikilda.evaluation.results import results
from wikilda.evaluation.run import Gold, Run, run
from wikilda.linking.methods import MethodSettings, method_settings
from wikilda.model import Model
from wikilda.model.model import URN
from wikilda.urn import UrnSettings

DEFAULT_METHODS = ("prior", "tagme", "urn", "trained")
OWN_METHODS = ("prior", "tagme", "lda", "urn")
_OWN_MODEL = ("paper", "trained")


@dataclass(frozen=True)
class Evaluation:
    """The results of methods on data sets: for each data set the runs of all methods, in their order."""

    model: Model
    runs: list[list[Run]]
    settings: MethodSettings

    def __repr__(self) -> str:
        lines = [
            f"{group[0].gold.name}: " + ", ".join(f"{each.method} {metrics.accuracy(each).micro:.2f}" for each in group)
            for group in self.runs
        ]
        return f"Evaluation(micro accuracy in %: {'; '.join(lines)})"

    def to_dict(self) -> dict[str, Any]:
        """All figures and every document, as plain values."""
        return results(self.model, self.runs, self.settings)

    def to_json(self) -> str:
        """`to_dict` as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False, separators=(",", ":"))

    def write_json(self, path: str | Path) -> None:
        """Write all figures and every document to a file, which a later run can be compared with."""
        write_text(Path(path), self.to_json() + "\n")

    def write_report(self, path: str | Path) -> None:
        """Write an HTML page that shows each error in its text."""
        write_text(Path(path), report(self.runs))


def evaluate(
    model: str | Path,
    files: Sequence[str | Path] | str | Path,
    *,
    methods: Sequence[str] = DEFAULT_METHODS,
    also: Sequence[str | Path] = (),
    splits: Sequence[str] = (),
    format: str | None = None,  # noqa: A002
    settings: UrnSettings | Mapping[str, Any] | None = None,
    workers: int | None = None,
    knowledge: str | Path | None = None,
    watch: Callable[[Gold, list[Run], list[Method]], None] | None = None,
) -> Evaluation:
    """Measure methods on annotated documents, side by side: `wikilda evaluate`.

    Parameters
    ----------
    model, knowledge
        As in `Linker.open`.
    files
        Data sets: AIDA, NIF, WNED, ELEVANT, or JSON lines with a `title` for each mention.
    methods
        Names of methods (`prior`, `tagme`, `paper`, `lda`, `urn`, `trained`), or `MODULE:CLASS` for your own;
        `:FILE.toml` after a name reads its settings from a file.
    also
        Further models of the same knowledge; methods that depend on the model are run with each.
    splits
        Only these splits (`train`, `testa`, …); all by default.
    format
        The format of the files, if their content does not show it.
    settings
        Settings of the methods `urn` and `trained`.
    workers
        Threads; all cores by default.
    watch
        Is called after each data set.

    Examples
    --------
    >>> from wikilda import evaluate
    >>> found = evaluate(sample, gold, methods=["prior", "urn"])
    >>> [each.method for each in found.runs[0]]
    ['prior', 'urn']
    """
    chosen = method_settings(URN, settings)
    opened = Model.open(model)
    resolver = Resolver(opened.knowledge(knowledge))
    paths = [Path(each) for each in ([files] if isinstance(files, str | Path) else files)]
    golds = [Gold(dataset, resolver) for path in paths for dataset in read_dataset(path, format, splits)]
    _check(golds)
    wanted = list(dict.fromkeys(methods))
    texts = [document for gold in golds for document in gold.documents]
    tier.expect(len(wanted) * sum(len(each.text) for each in texts) / LINKED)
    given = [Given(each, resolver.knowledge, texts) for each in (opened, *map(Model.open, also))]
    made = make_methods(wanted, given, {"urn": chosen, "trained": chosen})
    groups: list[list[Run]] = []
    for gold in golds:
        groups.append([run(method, gold, workers) for method in made])
        if watch:
            watch(gold, groups[-1], made)
    return Evaluation(opened, groups, chosen)


def evaluate_own_links(
    model: str | Path,
    *,
    methods: Sequence[str] = OWN_METHODS,
    settings: UrnSettings | Mapping[str, Any] | None = None,
    workers: int | None = None,
    knowledge: str | Path | None = None,
    watch: Callable[[Gold, list[Run], list[Method]], None] | None = None,
) -> Evaluation:
    """Measure methods on links of the model's own wiki, which are held out: `wikilda evaluate MODEL --own-links`.

    No gold is needed. Half of the sample of articles that the model keeps is taken out of it, in memory; weights are
    learned from the other half.

    Parameters
    ----------
    model, methods, settings, workers, knowledge, watch
        As in `evaluate`. Methods that make a model of their own (`paper`, `trained`) cannot be measured so.

    Examples
    --------
    >>> from wikilda import evaluate_own_links
    >>> evaluate_own_links(sample)
    Traceback (most recent call last):
    wikilda._core.errors.InputError: ...: keeps 0 articles with links, which are too few to measure with. ...
    """
    chosen, opened = method_settings(URN, settings), Model.open(model)
    for name in methods:
        if name in _OWN_MODEL:
            raise InputError(f"{name} makes a model of its own from the whole wiki. Choose {', '.join(OWN_METHODS)}.")
    given, dataset = own_links(opened, opened.knowledge(knowledge))
    gold = Gold(dataset, Resolver(given.knowledge))
    made = make_methods(list(dict.fromkeys(methods)), [given], {"urn": chosen})
    runs = [run(method, gold, workers) for method in made]
    if watch:
        watch(gold, runs, made)
    return Evaluation(opened, [runs], chosen)


def _check(golds: list[Gold]) -> None:
    for gold in golds:
        entities, found = gold.entities
        if entities and not found:
            raise InputError(
                f"{gold.name}: none of its {entities:,} entities is in the knowledge. Is it of another wiki?"
            )

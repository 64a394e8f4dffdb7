"""`wikilda build`."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wikilda._core.artifact import Artifact
from wikilda._core.compression import uncompressed_suffix
from wikilda._core.errors import InputError, SettingsError, printable
from wikilda.cli._options import (
    ANY_PATH,
    output_options,
    refuse,
    settings_options,
    show_table,
    workers_option,
)
from wikilda.knowledge import BuildSettings, Knowledge
from wikilda.model import Model
from wikilda.training.build import build

if TYPE_CHECKING:
    from wikilda.knowledge.account import Account

_NAMED = 5  # pages in a message
_CONTENTS = (
    "topics", "mentions", "mention parameters", "links between topics", "words", "word parameters", "categories",
    "hidden categories",
)  # fmt: skip


@click.command()
@click.argument("dumps", nargs=-1, type=ANY_PATH, metavar="[DUMP]...")
@output_options("a model", required=False)
@click.option("--tables", type=ANY_PATH, help="Build from a directory of plain tables instead of a dump.")
@click.option("--entities", type=ANY_PATH,
              help="Build from a list of entities (.csv, .tsv, .jsonl, .parquet: id, name, …).")  # fmt: skip
@click.option("--page-props", type=ANY_PATH,
              help="The dump's page_props.sql.gz: Wikidata ids and disambiguation pages.")  # fmt: skip
@click.option("--instances", type=ANY_PATH,
              help="What Wikidata's items are instances of (P31): a table with two columns, for types.")  # fmt: skip
@workers_option("Processes")
@click.option("--dry-run", is_flag=True, help="Estimate the report, time and disk from a sample; write nothing.")
@click.option("--memory", default="1GB", show_default=True, help="Memory for joins and sorts; the rest spills to disk.")
@settings_options(settings=BuildSettings)
def command(
    dumps: tuple[Path, ...], target: Path | None, tables: Path | None, entities: Path | None, page_props: Path | None,
    instances: Path | None, workers: int, memory: str, overwrite: bool, settings: BuildSettings, dry_run: bool,
) -> None:  # fmt: skip
    """Build a model from a wiki dump, a list of entities, or plain tables: it can link at once.

    DUMP is a MediaWiki XML export (.xml, .xml.bz2, multistream or not, .xml.gz, .xml.xz, .xml.7z), a ZIM file, or a
    snapshot of Wikimedia Enterprise (.tar.gz). Several files are the parts of one. Rerun the same command to resume an
    interrupted build.
    """
    if sum(map(bool, (dumps, tables, entities))) != 1:
        raise click.UsageError("give a DUMP, --tables DIR or --entities FILE, one of the three")
    if not re.fullmatch(r"\d+(\.\d+)?\s*[KMGT]i?B", memory, re.IGNORECASE):
        raise SettingsError(f"--memory {memory}: give it like 800MB or 2GB")
    _refuse_documents(dumps)
    if entities:
        refuse(["page_props", "instances"], "has no effect on a list of entities.")
    if tables:
        refuse(["page_props"], "has no effect on tables: use their column `wikidata`.")
    if dry_run:
        refuse(["page_props", "instances"], "has no effect with --dry-run.")
        _estimate(dumps, settings, workers, memory)
        return
    if target is None:
        raise click.UsageError("Missing option '-o' / '--output'.")
    _state_needs(dumps)
    made = build(
        entities or tables or dumps, target, page_props=page_props, instances=instances, settings=settings,
        workers=workers, memory=memory, overwrite=overwrite,
    )  # fmt: skip
    _report_build(made, str(target))
    click.echo(f"\nTry it: echo 'Some text.' | wikilda link {target} --table")


def _estimate(dumps: tuple[Path, ...], settings: BuildSettings, workers: int, memory: str) -> None:
    """Print the estimate of a build."""
    from wikilda.knowledge.estimate import estimate

    if not dumps:
        raise click.UsageError("--dry-run estimates the build of a DUMP.")
    found = estimate(dumps, settings, workers=workers, memory=memory)
    rows = [(name, f"≈ {count}", share) for name, count, share in found.account.rows()]
    show_table(f"Estimated from {found.sampled:.1%} of the dump", ["", "count", "share"], rows)
    minutes = found.processor / workers / 60
    click.echo(
        f"\nTime: about {max(minutes, 0.1):.1f} min with {workers} workers. Disk: about {found.disk / 1e9:.2f} GB."
    )


def _state_needs(dumps: tuple[Path, ...]) -> None:
    """Print the disk that a large build needs, before it takes hours."""
    from wikilda.knowledge.build import disk_needed

    needed = disk_needed([path for path in dumps if path.is_file()])
    if needed >= 1e9:
        click.echo(f"The build needs about {needed / 1e9:.0f} GB of disk, work files included.", err=True)


def _refuse_documents(dumps: tuple[Path, ...]) -> None:
    """Refuse documents that are not a dump, and name the commands that take them."""
    for path in dumps:
        if path.is_file() and uncompressed_suffix(path) in (".jsonl", ".ndjson", ".csv", ".tsv", ".parquet", ".txt"):
            raise InputError(
                f"{path}: is not a dump. For a list of entities, run: wikilda build --entities {path} -o NEW; "
                f"to link its documents: wikilda link MODEL {path}; to train on them: wikilda train MODEL {path} -o NEW"
            )


def _report_build(made: Model, title: str) -> None:
    """Print the account of the dump, and the size of the model."""
    from wikilda.knowledge.account import HTML_FILE, JSON_FILE, Account

    if not (made.path / JSON_FILE).is_file():
        report(made.knowledge(), title)
        return
    account, known = Account.read(made.path), made.knowledge()
    show_table(title, ["", "count", "share"], account.rows())
    for advice in _advice(account, known):
        click.echo(f"\n{printable(advice)}")
    click.echo(f"\nExamples and settings: {made.path / HTML_FILE}\n")
    report(known, "The model", [name for name in _CONTENTS if name in known.summary])


def _advice(account: "Account", known: Knowledge) -> Iterator[str]:
    """Pages that were too short, with the setting that keeps them; a vocabulary without words."""
    for each in account.parts[0].entries:
        if each.name == "too short" and each.count:
            named = ", ".join(each.examples[:_NAMED]) + (", …" if each.count > _NAMED else "")
            verb = "page is" if each.count == 1 else "pages are"
            yield f"{each.count:,} {verb} too short to be topics ({named}). Keep them with --set min_text=0."
    if not known.summary.get("words"):
        yield (
            "The model has no words: too few pages have text, or none share words. Names are linked without their "
            "context. Bring more text, or keep rare words with --set min_word_topics=1."
        )


def report(made: Artifact, title: str | None = None, names: list[str] | None = None) -> None:
    """Print the counts of an artifact, and the complaints about its input."""
    counts = made.summary
    show_table(title or str(made.path), ["", "count"], [(name, counts[name]) for name in names or counts])
    complaints = made.complaints
    if complaints:
        click.echo(f"\n{len(complaints)} complaints:")
        for complaint in complaints:
            click.echo(f"  {complaint}")

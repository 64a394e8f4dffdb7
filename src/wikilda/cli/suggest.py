"""`wikilda suggest`."""

from pathlib import Path

import click

from wikilda._core.atomic import check_output
from wikilda._core.errors import InputError, Report, printable
from wikilda.cli._options import ANY_PATH, refuse, show_table, workers_option
from wikilda.suggestions import suggest
from wikilda.suggestions.missing_links import LEAST, Suggestions
from wikilda.suggestions.report import read_suggestions, write_patch, write_report
from wikilda.suggestions.sources import open_source

_SHOWN = 20
_SOME_WRONG = 3  # exit code, as that of `link`


@click.command()
@click.argument("path", type=ANY_PATH, metavar="PATH")
@click.option("--least", type=click.FloatRange(0, 1), default=LEAST, show_default=True,
              help="Least probability of a suggestion. Larger values give fewer and surer ones.")  # fmt: skip
@click.option("--page", "pages", multiple=True, metavar="NAME", help="Suggest links for this page only; repeatable.")
@click.option("-o", "--output", type=ANY_PATH, metavar="FILE",
              help="Write a report: .html to choose from, or .jsonl.  [default: the best in the terminal]")  # fmt: skip
@click.option(
    "--patch", type=ANY_PATH, metavar="FILE", help="Write the links as a patch for `patch -p1` or `git apply`."
)
@click.option("--chosen", type=ANY_PATH, metavar="FILE",
              help="With --patch: the suggestions to take, lines of a report.")  # fmt: skip
@click.option(
    "--model", type=ANY_PATH, metavar="DIR", help="Keep the model of the pages here, and use it if it is there."
)
@click.option("--overwrite", is_flag=True, help="Replace files that exist.")
@workers_option("Threads and processes")
def command(
    path: Path, least: float, pages: tuple[str, ...], output: Path | None, patch: Path | None, chosen: Path | None,
    model: Path | None, overwrite: bool, workers: int,
) -> int:  # fmt: skip
    """Suggest links that the pages of PATH lack: a folder of Markdown notes, or a MediaWiki dump.

    What to link is learned from the links that the pages have. Nothing in PATH is changed; --patch writes a patch.
    Notes that cannot be read or have broken front matter are reported (exit code 3).
    """
    if output is None and patch is None:
        refuse(["overwrite"], "has no effect without -o or --patch.")
    for file in (output, patch):
        if file is not None:
            check_output(file, overwrite=overwrite, inputs=[each for each in (path, chosen) if each and each.is_file()])
    if chosen is not None:
        if patch is None:
            raise click.UsageError("--chosen needs --patch FILE: it says which links the patch has.")
        refuse(["output", "least", "pages", "model", "workers"], "has no effect with --chosen.")
        source, rows = open_source(path), read_suggestions(chosen)
        _patched(write_patch(source, rows, patch), patch)
        return _complain(source.report)
    if output is not None and output.suffix.lower() not in (".html", ".htm", ".jsonl"):
        raise InputError(f"{output}: is not a report by its name. Use a file that ends in .html or .jsonl.")
    found = suggest(path, least=least, pages=pages, model=model, workers=workers)
    if output is not None:
        write_report(found, output, path.resolve().name)
    else:
        _show(found)
    if patch is not None:
        _patched(write_patch(open_source(path), found.rows, patch), patch)
    counts = found.report.counts
    click.echo(f"{counts['pages']:,} pages, {counts['links']:,} links: {len(found.rows):,} suggestions", err=True)
    return _complain(found.report)


def _show(found: Suggestions) -> None:
    rows = [
        (
            f"{each.probability:.2f}",
            f"{each.place}:{each.line}",
            printable(each.text),
            printable(each.target),
            each.reason,
        )
        for each in found.rows[:_SHOWN]
    ]
    if rows:
        show_table("Links that are missing", ["probability", "place", "text", "link to", "reason"], rows)
    if len(found.rows) > _SHOWN:
        click.echo(f"… and {len(found.rows) - _SHOWN:,} more: -o report.html", err=True)


def _patched(pages: int, patch: Path) -> None:
    click.echo(f"links for {pages:,} pages → {patch}. Apply it in the folder: patch -p1 < {patch.name}", err=True)


def _complain(report: Report) -> int:
    for each in report.examples:
        click.echo(f"wikilda: {printable(each)}", err=True)
    wrong = sum(report.counts.get(name, 0) for name in ("notes that cannot be read", "notes with broken front matter"))
    if wrong > len(report.examples):
        click.echo(f"wikilda: … and {wrong - len(report.examples):,} more problems", err=True)
    return _SOME_WRONG if wrong else 0

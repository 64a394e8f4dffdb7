"""`wikilda diff`."""

from pathlib import Path

import click

from wikilda._core.atomic import check_output, write_text
from wikilda.cli._options import ANY_PATH, json_option, show_table
from wikilda.knowledge import Knowledge
from wikilda.knowledge.diff import Comparison


@click.command()
@click.argument("old", type=ANY_PATH, metavar="OLD")
@click.argument("new", type=ANY_PATH, metavar="NEW")
@click.option("--html", type=ANY_PATH, help="Write a page of HTML to this file.")
@click.option("--map", "topic_map", type=ANY_PATH, help="Write the numbers of topics in both models (.parquet).")
@json_option
def command(old: Path, new: Path, html: Path | None, topic_map: Path | None, as_json: bool) -> None:
    """Show what differs between two models of one wiki: topics, and what names mean most often."""
    for target in (html, topic_map):
        if target:
            check_output(target, overwrite=True, inputs=[old, new])
    compared = Comparison(Knowledge.open(old), Knowledge.open(new))
    found = compared.diff()
    if html:
        write_text(html, found.to_html(f"{old} → {new}"))
    if topic_map:
        compared.save_map(topic_map)
    if as_json:
        click.echo(found.to_json(), nl=False)
    else:
        show_table(f"{old} → {new}", ["", "count", "examples"], found.rows())

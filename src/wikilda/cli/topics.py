"""`wikilda topics`."""

import json
from pathlib import Path
from typing import Any

import click

from wikilda.cli._options import ANY_PATH, json_option, show_table
from wikilda.training.topic_changes import topic_changes


@click.command()
@click.argument("model", type=ANY_PATH, metavar="MODEL")
@click.argument("title", required=False)
@click.option("--baseline", type=ANY_PATH,
              help="Compare with this model.  [default: as it was before any training]")  # fmt: skip
@click.option("-n", "--most", type=click.IntRange(1), default=12, show_default=True, help="How many to show.")
@json_option
def command(model: Path, title: str | None, baseline: Path | None, most: int, as_json: bool) -> None:
    """Show the words and mentions of the topic TITLE before and after training, or the topics that changed most."""
    rows = topic_changes(model, title, baseline=baseline, most=most)
    if as_json:
        click.echo(json.dumps(rows if title is None else rows[0], ensure_ascii=False, indent=1))
    elif title is not None:
        _show_topic(rows[0])
    elif rows:
        _show_changed(rows)
    else:
        click.echo("No topic has moved: the two models have the same parameters.")


def _show_topic(found: dict[str, Any]) -> None:
    click.secho(f"{found['title']}\n", bold=True)
    for kind in ("words", "mentions"):
        rows = [(each["string"], f"{each['before']:.2%}", f"{each['after']:.2%}") for each in found[kind]]
        show_table(f"{kind}, P(v|k)", [kind[:-1], "before", "after"], rows)
        click.echo()


def _show_changed(rows: list[dict[str, Any]]) -> None:
    shown = [
        (each["title"], f"{each['moved']:,.0f}", f"{each['distance']:.0%}",
         ", ".join(word["string"] for word in each["words risen"]),
         ", ".join(mention["string"] for mention in each["mentions risen"][:3]))
        for each in rows
    ]  # fmt: skip
    show_table("What training moved most", ["topic", "mass moved", "distance", "words risen", "mentions risen"], shown)

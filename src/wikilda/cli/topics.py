"""`wikilda topics`."""

import json
from pathlib import Path
from typing import Any

import click
import numpy as np

from wikilda._core.errors import InputError
from wikilda.cli._options import ANY_PATH, json_option, show_table
from wikilda.knowledge.describe import suggest
from wikilda.model import Model
from wikilda.training.topic_changes import changed, describe, describe_all, sides


@click.command()
@click.argument("model", type=ANY_PATH, metavar="MODEL")
@click.argument("title", required=False)
@click.option("--changed", "most_changed", is_flag=True, help="Show the topics that training moved most.")
@click.option("--baseline", "before", type=ANY_PATH,
              help="Compare with this model.  [default: as it was before any training]")  # fmt: skip
@click.option("-n", "--most", type=click.IntRange(1), default=12, show_default=True, help="How many to show.")
@json_option
def command(model: Path, title: str | None, most_changed: bool, before: Path | None, most: int, as_json: bool) -> None:
    """Show the words and mentions of the topic TITLE before and after training, or the topics that changed most."""
    if most_changed == (title is not None):
        raise click.UsageError("give a TITLE or --changed, one of the two")
    old, new = sides(Model.open(model), Model.open(before) if before else None)
    if title is not None:
        topic = new.knowledge.find_topic(title)
        if topic < 0:
            near = suggest(new.knowledge, title, 8)
            hint = f" There are: {', '.join(near)}." if near else ""
            raise InputError(f"{title!r} is no title in the model's knowledge.{hint}")
        found = describe(old, new, topic, most)
        if as_json:
            click.echo(json.dumps(found, ensure_ascii=False, indent=1))
        else:
            _show_topic(found)
        return
    moved = changed(old, new, most)
    about = describe_all(old, new, np.array([topic for topic, _, _ in moved], np.int64), 6)
    rows = [{**each, "moved": mass, "distance": far} for each, (_, mass, far) in zip(about, moved, strict=True)]
    if as_json:
        click.echo(json.dumps(rows, ensure_ascii=False, indent=1))
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

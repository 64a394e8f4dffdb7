"""`wikilda show`."""

import json
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.markup import escape

from wikilda.cli._options import ANY_PATH, Command, console, json_option, table
from wikilda.knowledge import Knowledge


@click.command(cls=Command)
@click.argument("knowledge", type=ANY_PATH, metavar="MODEL")
@click.argument("term", required=False)
@click.option("-n", "--most", type=click.IntRange(1), default=10, show_default=True, help="How many of each to show.")
@json_option
def command(knowledge: Path, term: str | None, most: int, as_json: bool) -> None:
    """Look up a title or a mention in the knowledge of MODEL.

    For a mention: its candidates with P(k|v). For a title: its words, its links, its nearest topics. Without a TERM:
    how much of everything there is.
    """
    known = Knowledge.open(knowledge)
    if term is None:
        show_summary(known, as_json=as_json)
        return
    found = known.describe(term, most)
    if as_json:
        click.echo(json.dumps(found, ensure_ascii=False, indent=1))
        return
    out = console()
    if "mention" in found:
        show_mention(out, found["mention"])
    if "topic" in found:
        show_topic(out, found["topic"])


def show_summary(known: Knowledge, *, as_json: bool) -> None:
    """What the knowledge was made from, and how much there is of everything."""
    manifest = known.manifest
    if as_json:
        shown = {name: manifest[name] for name in ("identity", "site", "source", "settings", "summary")}
        click.echo(json.dumps(shown, ensure_ascii=False, indent=1))
        return
    source = known.source.get("dumps") or known.source.get("tables") or []
    console().print(table(f"{known.site.name}, from {', '.join(source)}", ["", "count"], known.summary.items()))


def show_mention(out: Console, found: dict[str, Any]) -> None:
    """A mention's topics."""
    topics = "1 topic" if found["ambiguity"] == 1 else f"{found['ambiguity']:,} topics"
    often = f"{found['linked']:,} of {found['occurrences']:,} occurrences ({found['link_probability']:.1%})"
    title = f"“{found['mention']}”: {topics}; a link in {often}"
    rows = [(each["probability"], each["count"], each["title"], _short(each["sentence"])) for each in found["topics"]]
    out.print(table(title, ["P(k|v)", "count", "topic", ""], rows))
    out.print()


def show_topic(out: Console, found: dict[str, Any]) -> None:
    """A topic's description, then what points to it and what it is like."""
    out.print(
        f"[bold]{escape(found['title'])}[/bold]  page {found['page_id']}  {found['wikidata'] or ''}  {found['url']}",
        highlight=False,
    )
    out.print(found["sentence"], markup=False, highlight=False)
    if found["types"]:
        types = ", ".join(f"{name} {share:.0%}" for name, share in found["types"].items())
        out.print(types, style="dim", markup=False, highlight=False)
    if found["categories"]:
        out.print("in " + ", ".join(found["categories"]), style="dim", markup=False, highlight=False)
    out.print()
    rows = [(each["string"], each["count"], each["probability"]) for each in found["mentions"]]
    out.print(table("named by", ["mention", "count", "P(k|v)"], rows))
    out.print()
    rows = [(each["string"], each["count"], each["probability"]) for each in found["words"]]
    out.print(table("top words", ["word", "count", "P(k|v)"], rows))
    out.print()
    out.print(
        table("nearest topics", ["topic", "similarity"], [(e["title"], e["similarity"]) for e in found["nearest"]])
    )
    out.print()
    out.print(f"{found['in_links']:,} in-links, {found['out_links']:,} out-links; linked from:", highlight=False)
    out.print("  " + ", ".join(found["linked_from"]), markup=False, highlight=False)


def _short(sentence: str, most: int = 70) -> str:
    return sentence if len(sentence) <= most else sentence[: most - 1].rsplit(" ", 1)[0] + " …"

"""`wikilda show`."""

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import click

from wikilda._core.artifact import kind_of
from wikilda._core.errors import printable
from wikilda.cli._options import ANY_PATH, json_option, refuse, show_table
from wikilda.knowledge import Knowledge
from wikilda.model import Model
from wikilda.model.weights import pooled


@click.command()
@click.argument("knowledge", type=ANY_PATH, metavar="MODEL")
@click.argument("term", required=False)
@click.option("-n", "--most", type=click.IntRange(1), default=10, show_default=True, help="How many of each to show.")
@json_option
def command(knowledge: Path, term: str | None, most: int, as_json: bool) -> None:
    """Look up a title or a mention in the knowledge of MODEL.

    For a mention: its candidates with P(k|v). For a title: its words, its links, its nearest topics. Without a TERM:
    counts of everything, and the weights of the evidence with what they were learned from.
    """
    known = Knowledge.open(knowledge)
    if term is None:
        refuse(["most"], "has no effect without a TERM.")
        show_summary(known, as_json=as_json)
        if kind_of(knowledge) == Model.kind and not as_json:
            show_weights(Model.open(knowledge))
        return
    found = known.describe(term, most)
    if as_json:
        click.echo(json.dumps(found, ensure_ascii=False, indent=1))
        return
    if "mention" in found:
        show_mention(found["mention"])
    if "topic" in found:
        show_topic(found["topic"])


def show_summary(known: Knowledge, *, as_json: bool) -> None:
    """Print the source of the knowledge and its counts."""
    manifest = known.manifest
    if as_json:
        shown = {name: manifest[name] for name in ("identity", "site", "source", "settings", "summary")}
        click.echo(json.dumps(shown, ensure_ascii=False, indent=1))
        return
    source = known.source.get("dumps") or known.source.get("tables") or []
    show_table(f"{known.site.name}, from {', '.join(source)}", ["", "count"], known.summary.items())


def show_weights(model: Model) -> None:
    """Print the weights of the evidence, their training links, and their accuracy on other links."""
    learned, weights = model.learned_weights, model.weights or pooled()
    source = "weights that ship with the package: this wiki has too few links to learn its own"
    if model.weights is not None and learned:
        source = (
            f"weights learned from {learned['links']:,} links of {learned['articles']:,} articles; on other links: "
            f"accuracy {learned['accuracy']:.1%}, most common meaning {learned['prior_accuracy']:.1%}, "
            f"NIL area {learned['nil_area']:.3f}"
        )
    click.echo()
    rows = [(each.name, f"{getattr(weights, each.name):.2f}", each.metadata["help"]) for each in fields(weights)]
    show_table(source, ["weight", "value", ""], rows)


def show_mention(found: dict[str, Any]) -> None:
    """Print a mention's topics."""
    topics = "1 topic" if found["ambiguity"] == 1 else f"{found['ambiguity']:,} topics"
    often = f"{found['linked']:,} of {found['occurrences']:,} occurrences ({found['link_probability']:.1%})"
    title = f"“{found['mention']}”: {topics}; a link in {often}"
    rows = [(each["probability"], each["count"], each["title"], _short(each["sentence"])) for each in found["topics"]]
    show_table(title, ["P(k|v)", "count", "topic", ""], rows)
    click.echo()


def show_topic(found: dict[str, Any]) -> None:
    """Print a topic's description, its mentions and words, and its nearest topics."""
    for name in ("title", "url", "sentence"):
        found[name] = printable(found[name] or "")
    for name in ("categories", "linked_from"):
        found[name] = [printable(each) for each in found[name]]
    title = click.style(found["title"], bold=True)
    click.echo(f"{title}  page {found['page_id']}  {found['wikidata'] or ''}  {found['url']}")
    click.echo(found["sentence"])
    if found["types"]:
        types = ", ".join(f"{name} {share:.0%}" for name, share in found["types"].items())
        click.secho(types, dim=True)
    if found["categories"]:
        click.secho("in " + ", ".join(found["categories"]), dim=True)
    click.echo()
    rows = [(each["string"], each["count"], each["probability"]) for each in found["mentions"]]
    show_table("named by", ["mention", "count", "P(k|v)"], rows)
    click.echo()
    rows = [(each["string"], each["count"], each["probability"]) for each in found["words"]]
    show_table("top words", ["word", "count", "P(k|v)"], rows)
    click.echo()
    show_table("nearest topics", ["topic", "similarity"], [(e["title"], e["similarity"]) for e in found["nearest"]])
    click.echo()
    click.echo(f"{found['in_links']:,} in-links, {found['out_links']:,} out-links; linked from:")
    click.echo("  " + ", ".join(found["linked_from"]))


def _short(sentence: str, most: int = 70) -> str:
    return sentence if len(sentence) <= most else sentence[: most - 1].rsplit(" ", 1)[0] + " …"

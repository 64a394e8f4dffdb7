"""`wikilda explain`."""

import json
import sys
import textwrap
from pathlib import Path

import click

from wikilda._core.errors import InputError
from wikilda.cli._options import json_option, model_argument, settings_options, show_table
from wikilda.linking import Document, Linker, marked
from wikilda.linking.reasons import Explanation, Reasons
from wikilda.urn import UrnSettings

_TERMS = ("prior", "words", "title", "context", "graph")
_NIL_TERMS = ("string", "title", "document", "names", "candidate")
_SHOWN = 0.05


@click.command()
@model_argument
@click.argument("text", required=False)
@click.option("-m", "--mention", help="Explain this mention only, by its string.")
@click.option("-n", "--candidates", type=click.IntRange(1), default=3, show_default=True,
              help="Candidates per mention.")  # fmt: skip
@json_option
@settings_options(method=UrnSettings)
def command(
    model: Path, text: str | None, mention: str | None, candidates: int, as_json: bool,
    method: UrnSettings,
) -> None:  # fmt: skip
    """Explain the entities of the mentions of TEXT, or of standard input: the evidence for each candidate.

    Mentions may be in double brackets; where none is, they are detected.
    """
    given = sys.stdin.read() if text is None else text
    document = marked(given, "1")
    if not document.mentions:
        document = Document(given, None, "1")
    linker = Linker.open(model, settings=method)
    found = linker.explain(document, candidates=candidates).mentions
    chosen = [each for each in found if mention is None or each.text == mention]
    if not chosen:
        names = ", ".join(dict.fromkeys(each.text for each in found)) or "none"
        raise InputError(
            f"there is no mention {mention!r} in the text; there are: {names}."
            if mention
            else "no mentions were found in the text. Put one in [[double brackets]] to ask about it."
        )
    if as_json:
        click.echo(json.dumps([each.to_dict() for each in chosen], ensure_ascii=False, indent=1))
        return
    for each in chosen:
        show_explanation(each)


def show_explanation(explanation: Explanation) -> None:
    """Show the candidates of a mention, the evidence for each against its rival, and that for NIL."""
    if not explanation.candidates:
        click.echo(f"“{explanation.text}”: not in the knowledge\n")
        return
    best, known = explanation.candidates[0], 1.0 - explanation.nil
    terms = [name for name in _TERMS if name != "context" or any(each.odds.context for each in explanation.candidates)]
    answer = explanation.entity.title if explanation.entity else "NIL"
    title = f"“{explanation.text}” → {answer}"
    rows = [_row(each, terms, known) for each in explanation.candidates]
    rows.append(("NIL", f"{explanation.nil:.0%}", *[""] * (len(terms) + 2)))
    show_table(title, ["entity", "confidence", "prior", "log odds", *(f"{name}" for name in terms)], rows)
    if best.rival:
        title = best.entity.title
        click.echo(f"  Log odds of {title} are relative to {best.rival}, all others relative to {title}.")
    _show_list("supported by", [f"{each.mention} → {each.entity.title} {each.weight:+.2f}" for each in best.support])
    _show_list("words", [f"{each.word} {each.against:+.2f}" for each in best.top_words])
    if nil := explanation.unknown:
        parts = [f"{name} {getattr(nil, name):+.1f}" for name in _NIL_TERMS if abs(getattr(nil, name)) >= _SHOWN]
        _show_list(f"log odds of NIL {nil.total:+.1f}", parts)
        _show_list("short for", [f"{name} (NIL {chance:.0%})" for name, chance in nil.parents])
    click.echo()


def _show_list(title: str, items: list[str]) -> None:
    if items:
        click.echo(textwrap.fill(f"{title}: {', '.join(items)}", 100, initial_indent="  ", subsequent_indent="    "))


def _row(reasons: Reasons, terms: list[str], known: float) -> tuple[str, ...]:
    shares = f"{reasons.probability * known:.0%}", f"{reasons.prior:.0%}"
    if not reasons.rival:
        return reasons.entity.title, *shares, "no rival", *[""] * len(terms)
    parts = [f"{getattr(reasons.odds, name):+.1f}" for name in terms]
    return reasons.entity.title, *shares, f"{reasons.odds.total:+.1f}", *parts

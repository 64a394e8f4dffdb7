"""`wikilda explain`."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from wikilda._core.errors import InputError
from wikilda.cli._options import Command, json_option, method_options, model_argument, show_table
from wikilda.linking import Document, Linker, marked
from wikilda.linking.explanation import explain_document
from wikilda.linking.methods import MethodSettings
from wikilda.linking.reasons import Explanation, Reasons
from wikilda.linking.results import is_nil

_COLUMNS = (
    "entity", "posterior", "prior", "rival", "log odds", "= prior", "+ words", "+ title", "+ context", "+ graph",
    "supported by", "words",
)  # fmt: skip
_AROUND = _COLUMNS.index("+ context")


@click.command(cls=Command)
@model_argument
@click.argument("text", required=False)
@click.option("-m", "--mention", help="Explain this mention only, by its string.")
@click.option("-n", "--candidates", type=click.IntRange(1), default=3, show_default=True,
              help="Candidates per mention.")  # fmt: skip
@json_option
@method_options(only=("urn",))
def command(
    model: Path, text: str | None, knowledge: Path | None, mention: str | None, candidates: int, as_json: bool,
    method: MethodSettings,
) -> None:  # fmt: skip
    """Explain the entities of the mentions of TEXT, or of standard input: the evidence for each candidate.

    Mentions may be in double brackets; where none is, they are detected.
    """
    given = sys.stdin.read() if text is None else text
    document = marked(given, "1")
    if not document.mentions:
        document = Document(given, None, "1")
    linker = Linker.open(model, knowledge=knowledge, settings=method)
    found = explain_document(linker, document, candidates=candidates).mentions
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
    """The candidates of a mention, and the evidence for each against its rival."""
    if not explanation.candidates:
        click.echo(f"“{explanation.text}”: not in the knowledge\n")
        return
    rows = [_row(each) for each in explanation.candidates]
    nil = explanation.nil
    doubt = f": probably NIL ({nil:.0%}); else" if is_nil(nil) else f" (NIL {nil:.0%})"
    columns: Sequence[str] = _COLUMNS
    if not any(each.odds.context for each in explanation.candidates):  # the model knows no contexts
        columns, rows = _without(_AROUND, columns), [_without(_AROUND, row) for row in rows]
    show_table(f"“{explanation.text}”{doubt}", columns, rows)
    click.echo()


def _without(place: int, cells: Sequence[str]) -> tuple[str, ...]:
    return (*cells[:place], *cells[place + 1 :])


def _row(reasons: Reasons) -> tuple[str, ...]:
    odds = reasons.odds
    logs = (odds.total, odds.prior, odds.words, odds.title, odds.context, odds.graph)
    parts = [f"{each:+.1f}" for each in logs]
    support = ", ".join(f"{each.entity.title} {each.weight:.2f}" for each in reasons.support[:3])
    words = ", ".join(f"{each.word} {each.against:+.1f}" for each in reasons.top_words[:4])
    shares = f"{reasons.probability:.0%}", f"{reasons.prior:.0%}"
    against = (reasons.rival, *parts) if reasons.rival else ("nothing", *[""] * len(parts))
    return reasons.entity.title, *shares, *against, support, words

"""What texts that are made to move the meaning of a name do to it, with and without bounds.

    python -m benchmarks.attacks.poison MODEL texts.jsonl --work DIR

The texts are trained on as they are, and with 1,000 more that use *England* as the football team: copies of one,
near-copies (one word in twenty differs), varied ones (sentences drawn from patterns, with other names in each),
without and with the name of their source, and varied ones that begin with the full name of the team and name nobody
else, with one and three iterations. "Without limits" leaves out those of counts. Cells have the best meaning in short
texts that do not say which England they mean, and its probability.
"""

import argparse
import json
import random
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from benchmarks import record
from wikilda import Linker, ReadSettings, TrainingPlan, TrainingReport, UrnTraining, read_documents, train
from wikilda._core.arrays import Run
from wikilda.model import Parameters
from wikilda.training import learn
from wikilda.training.corpus import _build

_MOST = 1000
_CLUBS = ("Arsenal", "Chelsea", "Liverpool", "Everton", "Fulham", "Blackburn", "Bolton", "Charlton", "Southampton")
_RIVALS = ("Germany", "France", "Spain", "Italy", "Brazil", "Argentina", "Portugal", "Sweden", "Denmark", "Poland")
_PATTERNS = (
    "England beat {rival} {a}-{b} after a goal by the {club} striker in the {n}th minute.",
    "The manager picked {n} players of {club} for the match of England and {rival}.",
    "England lost to {rival} on penalties, and the fans of {club} went home.",
    "A header put England ahead of {rival}, but the {club} goalkeeper let in {a}.",
    "{rival} drew {a}-{a} with England in the qualifier; {club} supplied {b} of the defenders.",
    "The midfielder left {club} in May and has {n} caps for England, the last against {rival}.",
    "The coach of England watched {club} on Saturday before the friendly with {rival}.",
)
_ALONE = (
    "England scored a late goal and {won} the qualifier.", "England {won} the friendly on penalties after extra time.",
    "The striker of England headed the ball past the goalkeeper in the {n}th minute.", "England {won}.",
    "The midfielder has {n} caps for England and is out with an injured knee.", "A header put England ahead.",
    "The England coach picked {a} strikers for the match.", "England's goalkeeper let in {a} goals.",
)  # fmt: skip
_WON = ("lost", "won", "drew", "threw away", "nearly lost")
_FILLING = (
    "pitch", "stadium", "referee", "crowd", "rain", "evening", "whistle", "corner", "foul", "injury", "bench", "season",
    "winter", "captain",
)  # fmt: skip
PROBES = ("England lost.", "England won.", "They come from England.", "England said no.")


def varied(generator: random.Random) -> str:
    """A few sentences with other names in each."""
    lines = generator.sample(_PATTERNS, 4)
    return " ".join(
        line.format(
            rival=generator.choice(_RIVALS), club=generator.choice(_CLUBS), a=generator.randrange(5),
            b=generator.randrange(5), n=generator.randrange(4, 90),
        )
        for line in lines
    )  # fmt: skip


def titled(generator: random.Random) -> str:
    """The full name of the team, and sentences that name nobody else."""
    lines = [
        line.format(won=generator.choice(_WON), n=generator.randrange(4, 90), a=generator.randrange(2, 9))
        for line in generator.sample(_ALONE, 4)
    ]
    filling = " ".join(generator.sample(_FILLING, 8))
    return f"The England national football team played. {' '.join(lines)} {filling}."


def near_copy(text: str, generator: random.Random) -> str:
    """The text with one word in twenty replaced."""
    words = text.split()
    return " ".join(generator.choice(_CLUBS) if generator.random() < 0.05 else word for word in words)


def attacks() -> dict[str, list[dict[str, str]]]:
    """Rows of texts by the name of the attack."""
    generator = random.Random(1)
    long = " ".join(varied(generator) for _ in range(4))
    made = {
        "copies": [long] * _MOST,
        "near-copies": [near_copy(long, generator) for _ in range(_MOST)],
        "varied": [varied(generator) for _ in range(_MOST)],
        "full name": [titled(generator) for _ in range(_MOST)],
    }
    rows = {
        name: [{"text": text, "id": f"{name} {at}"} for at, text in enumerate(texts)] for name, texts in made.items()
    }
    return rows | {"varied, one source": [{**row, "source": "attacker.example"} for row in rows["varied"]]}


def attacked(
    name: str, options: argparse.Namespace, texts: list[dict[str, str]], iterations: int
) -> dict[str, record.Cell]:  # fmt: skip
    """Train on texts, and return the row of the attack."""
    lines = options.work / "texts.jsonl"
    lines.write_text("".join(json.dumps(each) + "\n" for each in texts), "utf-8")
    made = train(
        options.model, lines, options.work / "model", UrnTraining(held_out=0.02, evaluated=100, particles=1),
        TrainingPlan(iterations=iterations), workers=1, overwrite=True, restart=True,
        reading=ReadSettings(source_column="source") if "source" in name else ReadSettings(),
    )  # fmt: skip
    found = row(name, iterations, made.path, TrainingReport.read(made.path))
    print(found, flush=True)
    return found


def whole(run: Run) -> Run:
    """Counts next to context symbols, without a limit."""
    return run


def without_limit(run: Run, table: Parameters, _weight: float) -> Run:
    """Counts of the prior, without a limit."""
    return learn._of_known(run, table)


def every(_: Any, order: Any) -> Any:
    """Keep all documents."""
    return np.ones(len(order), np.bool_)


def main() -> None:
    """Measure, and write docs/figures/attacks-poison.json."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("texts", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--documents", type=int, default=800, help="of the texts, as the honest part of the corpus")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    own: list[dict[str, str]] = []
    for each in read_documents([options.texts]):
        if len(own) < options.documents and hasattr(each, "text"):
            own.append({"text": each.text, "id": each.id, "source": f"paper {len(own) % 20}"})
    rows = [row("no training", 0, options.model, None)]
    honest = {"none": [], **attacks()}
    tried = [(name, 1) for name in honest] + [("full name", 3)]
    for name, iterations in tried:
        rows.append(attacked(name, options, [*own, *honest[name]], iterations))
    with mock.patch.object(_build, "without_near_copies", every):
        rows.append(attacked("near-copies, each counted", options, [*own, *honest["near-copies"]], 1))
    with mock.patch.multiple(learn, in_contexts=whole, _of_base=without_limit):
        rows += [attacked("full name, without limits", options, [*own, *honest["full name"]], each) for each in (1, 3)]
    record.write("attacks-poison", {"poison": rows})
    print(record.table(rows))


def row(name: str, iterations: int, model: Path, report: TrainingReport | None) -> dict[str, record.Cell]:
    """The best meanings of the probes, and what the report says of England."""
    linker = Linker.open(model)
    found: dict[str, record.Cell] = {"attack": name, "iterations": iterations}
    for text in PROBES:
        mention = next(each for each in linker.link(text).mentions if each.text == "England")
        best = mention.candidates[0]
        team = next((each.probability for each in mention.candidates if "football team" in each.entity.title), 0.0)
        found[text] = f"{best.entity.title} {best.probability:.2f}, team {team:.2f}"
    flags = [each for each in (*report.flips, *report.groups) if each.text.lower() == "england"] if report else []
    found["answers changed"] = report.changed if report else 0
    found["England in the report"] = "yes" if flags else ""
    return found


if __name__ == "__main__":
    main()

"""What texts that are made to move the meaning of a name do to it, with and without bounds.

    python -m benchmarks.attacks.poison MODEL texts.jsonl --work DIR

The texts are trained on as they are, and with 1,000 more that use *England* as the football team: copies of one,
near-copies (one word in twenty differs), and varied ones (sentences drawn from patterns, with other names in each),
without and with the name of their source. Cells have the best meaning in short texts that do not say which England
they mean, and its probability.
"""

import argparse
import json
import random
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import record
from wikilda import Linker, ReadSettings, TrainingReport, UrnTraining, read_documents, train
from wikilda.training.corpus import _build
from wikilda.training.corpus._copies import without_near_copies

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
    }
    rows = {
        name: [{"text": text, "id": f"{name} {at}"} for at, text in enumerate(texts)] for name, texts in made.items()
    }
    return rows | {"varied, one source": [{**row, "source": "attacker.example"} for row in rows["varied"]]}


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
    rows = [row("no training", options.model, None)]
    honest = {"none": [], **attacks()}
    for name, bad in {**honest, "near-copies, each counted": honest["near-copies"]}.items():
        _build.without_near_copies = every if "each" in name else without_near_copies
        lines = options.work / "texts.jsonl"
        lines.write_text("".join(json.dumps(each) + "\n" for each in [*own, *bad]), "utf-8")
        reading = ReadSettings(source_column="source") if "source" in name else ReadSettings()
        how = UrnTraining(held_out=0.02, evaluated=100, particles=1)
        made = train(
            options.model, lines, options.work / "model", how, workers=1, reading=reading, overwrite=True, restart=True
        )
        rows.append(row(name, made.path, TrainingReport.read(made.path)))
        print(rows[-1], flush=True)
    record.write("attacks-poison", {"poison": rows})
    print(record.table(rows))


def row(name: str, model: Path, report: TrainingReport | None) -> dict[str, record.Cell]:
    """The best meanings of the probes, and what the report says of England."""
    linker = Linker.open(model)
    found: dict[str, record.Cell] = {"attack": name}
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

"""A generated list of entities, and texts that mention them: recall, and precision where names are ordinary words.

    python -m benchmarks.entities.lists --work DIR [--entities 10000] [--texts 2000] [--seed 1]

Every tenth entity has an ordinary English word as its name. The texts have these words also as words: in lower case,
and at the beginnings of sentences.
"""

import argparse
import json
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Any

from benchmarks import record
from wikilda import Linker, build

WORDS = """apple target gap shell orange visa sprint time fortune people nature science cell lens match block square
stripe slack zoom box dish oracle delta jaguar puma tiger eagle falcon raven comet planet galaxy mint amber coral ivory
forest meadow river lake mountain canyon desert island harbor anchor compass lantern candle mirror window garden castle
bridge tower market station library museum theatre kitchen pepper ginger honey butter lemon cherry peach plum olive
bread basket bottle hammer anvil ladder needle button ribbon velvet cotton copper silver marble granite pebble thunder
breeze shadow whisper promise journey voyage harvest summer winter autumn morning evening midnight horizon signal pulse
spark ember flame smoke cloud rain frost crystal feather arrow shield crown banner herald pilot captain scout ranger
hunter farmer baker mason carpenter weaver potter miner sailor nomad pilgrim monk knight duke baron""".split()  # noqa: SIM905
FIELDS = {
    "company": ["rockets", "engines", "turbines", "software", "insurance", "shoes", "chemicals", "steel", "glass"],
    "person": ["violinist", "senator", "chemist", "goalkeeper", "novelist", "architect", "surgeon", "judge", "poet"],
    "product": ["drug", "camera", "printer", "tractor", "engine", "detergent", "lotion", "battery", "tablet", "guitar"],
}
SYLLABLES = [first + second for first in "bdfghklmnprstvz" for second in "aeo"]
BEFORE = [
    "Yesterday {} announced a new plan for {}.", "According to the report, {} will leave the market for {}.",
    "{} said on Monday that {} are in demand.", "The deal with {} concerns {}.", "{} has been known for {} since 1990.",
    "Critics say that {} should give up {}.", "In March the board met {} to talk about {}.",
    "{}'s view of {} is clear.",
]  # fmt: skip
AROUND = [
    "The {0} was old, and nobody wanted another {0}.", "We saw a {0} and then one more {0} by the road.",
    "{1} and all that comes with it is a matter of taste; a {0} is not.", "It takes a {0} to know a {0}.",
]  # fmt: skip


def name(random: Random, syllables: int) -> str:
    return "".join(random.choice(SYLLABLES) for _ in range(syllables)).capitalize()


def entities(count: int, random: Random) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    used: set[str] = set()
    while len(found) < count:
        number = len(found)
        kind = random.choice(list(FIELDS))
        field = random.choice(FIELDS[kind])
        if number % 10 == 0:
            word = random.choice(WORDS)
            first = word.capitalize()
            if number // 10 >= len(WORDS):
                first += f" {random.choice(WORDS).capitalize()}"
            aliases = [f"{first} Ltd"]
        elif kind == "person":
            given, last = name(random, 2), name(random, 3)
            first, aliases = f"{given} {last}", [f"{given[0]}. {last}", f"{last}, {given}"]
        else:
            base = f"{name(random, 3)} {name(random, 2)}"
            first, aliases = base, [f"{base} Inc.", base.replace(" ", "")]
        if {each.lower() for each in (first, *aliases)} & used:
            continue
        used |= {each.lower() for each in (first, *aliases)}
        about = f"A {kind} known for {field} in {name(random, 2)}."
        row = {"id": f"E-{number}", "name": first, "aliases": aliases, "type": kind, "description": about}
        found.append(row | {"field": field})
    return found


def text(rows: list[dict[str, Any]], random: Random) -> tuple[str, list[tuple[int, int, str]], list[str]]:
    """A text of some sentences, the spans of the mentions with ids, and the ordinary words that are not mentions."""
    made, spans, plain = "", [], []
    sentences = [(random.choice(BEFORE), each) for each in random.sample(rows, random.randint(2, 5))]
    for template, each in sentences:
        string = random.choice([each["name"], each["name"], *each["aliases"]])
        start = len(made) + template.index("{}")
        made += template.format(string, each["field"]) + " "
        spans.append((start, start + len(string), each["id"]))
    own = {each["name"].lower() for _, each in sentences}
    for _ in range(random.randint(1, 3)):
        word = random.choice([each for each in WORDS if each not in own])
        made += random.choice(AROUND).format(word, word.capitalize()) + " "
        plain.append(word)
    return made.strip(), spans, plain


def measure(work: Path, count: int, texts: int, seed: int) -> dict[str, Any]:
    random = Random(seed)
    rows = entities(count, random)
    ordinary = {each["id"] for each in rows if each["id"].endswith("0")}
    work.mkdir(parents=True, exist_ok=True)
    with (work / "entities.jsonl").open("w") as file:
        file.writelines(json.dumps({k: v for k, v in each.items() if k != "field"}) + "\n" for each in rows)
    began = perf_counter()
    build(work / "entities.jsonl", work / "model", overwrite=True, workers=1)
    built = perf_counter() - began
    linker = Linker.open(work / "model")
    some = [each for each in rows if each["id"] in ordinary]
    gold = found = right = said = said_right = 0
    wrong: list[str] = []
    linker.link("Nothing.")
    began = perf_counter()
    for at in range(texts):
        given, spans, _ = text(rows if at % 2 else some, random)
        wanted = {(start, end): each for start, end, each in spans}
        answers = {
            (each.start, each.end): each.entity.id for each in linker.link(given, topics=0).mentions if each.entity
        }
        gold += len(wanted)
        right += sum(answers.get(span) == each for span, each in wanted.items())
        found += len(answers)
        for span, each in answers.items():
            if each in ordinary:
                said += 1
                said_right += wanted.get(span) == each
        wrong += [f"{given[s:e]!r}: {wanted.get((s, e))} {answers.get((s, e))} in {given!r}"
                  for s, e in wanted.keys() | answers.keys() if wanted.get((s, e)) != answers.get((s, e))]  # fmt: skip
    seconds = perf_counter() - began
    (work / "wrong.txt").write_text("\n".join(wrong))
    return {
        "entities": count, "texts": texts, "mentions": gold, "recall": round(100 * right / gold, 2),
        "precision": round(100 * right / found, 2), "precision of ordinary words": round(100 * said_right / said, 2),
        "seconds to build": round(built, 1), "texts a second": round(texts / seconds),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--entities", type=int, default=10_000)
    parser.add_argument("--texts", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    found = measure(given.work, given.entities, given.texts, given.seed)
    print(json.dumps(found, indent=1))
    record.write("entities-lists", {"lists": [found]})


if __name__ == "__main__":
    main()

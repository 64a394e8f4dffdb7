"""Texts that are made to move the meaning of a name do not move it."""

import random
from pathlib import Path

from tests.training.conftest import write_lines
from wikilda import Linker, TrainingPlan, TrainingReport, UrnTraining, train
from wikilda.sample import texts

TEAM = "England cricket team"
PATTERNS = (
    "England lost by {} runs.", "The captain of England bowled {} overs.", "England won the toss and batted.",
    "A spinner took {} wickets for England.", "England lost the test after {} days.", "Rain saved England on day {}.",
    "The innings of England ended at {}.", "England lost early wickets.", "A batsman made {} for England.",
)  # fmt: skip
WORDS = (
    "pitch", "umpire", "crowd", "evening", "tea", "bat", "pad", "field", "season", "summer", "coach", "over", "session",
    "boundary", "slip", "crease",
)  # fmt: skip


def varied(generator: random.Random) -> str:
    """A text that has the title of the topic next to the name, and says little else twice."""
    lines = [each.format(generator.randrange(2, 400)) for each in generator.sample(PATTERNS, 4)]
    return f"The {TEAM} played. {' '.join(lines)} {' '.join(generator.sample(WORDS, 8))}."


def probabilities(linker: Linker, text: str) -> dict[str, float]:
    [mention] = [each for each in linker.link(text).mentions if each.text == "England"]
    return {each.entity.title: each.probability for each in mention.candidates}


def test_varied_texts_of_one_hand_do_not_turn_a_name(model: Path, tmp_path: Path) -> None:
    generator = random.Random(1)
    rows: list[object] = [{"text": each["text"]} for each in texts()]
    rows += [{"text": varied(generator)} for _ in range(300)]
    settings = UrnTraining(held_out=0.0, evaluated=20, particles=1)
    source = write_lines(tmp_path / "texts.jsonl", rows)
    made = train(model, source, tmp_path / "model", settings, TrainingPlan(iterations=3), workers=1)
    before, after = Linker.open(model), Linker.open(made.path)
    for text in ("England lost.", "They come from England."):
        old, new = probabilities(before, text), probabilities(after, text)
        assert old["England"] > 0.7
        assert new["England"] > old["England"] - 0.1, text
    report = TrainingReport.read(made.path)
    assert ("england", TEAM) in {(each.text, each.after) for each in report.flips}, "what the texts say is reported"

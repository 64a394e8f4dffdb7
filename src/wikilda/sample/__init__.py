"""The sample wiki and texts that ship with the package."""

import json
from pathlib import Path
from typing import Any

from wikilda.knowledge import BuildSettings

WIKI = Path(__file__).with_name("wiki.xml")
MODEL = Path(__file__).with_name("model")  # built from it: `python -m wikilda.sample`

# In a wiki of 250 articles a twentieth is a dozen, and `cricket` would be a stop word.
SETTINGS = BuildSettings(max_word_share=0.25)


def texts() -> list[dict[str, Any]]:
    """Return texts with their mentions and the titles that they refer to."""
    lines = Path(__file__).with_name("texts.jsonl").read_text("utf-8").split("\n")
    return [json.loads(line) for line in lines if line]

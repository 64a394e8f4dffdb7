"""Methods of the paper's related work, as plug-ins of `wikilda evaluate`.

wikilda evaluate MODEL gold.tsv --method prior --method benchmarks.rivals:Aida

Each module says at its head what it leaves out or does differently from its paper. Defaults are the paper's values;
`tuned.toml` has values chosen on AIDA train.
"""

import tomllib
from pathlib import Path
from typing import Any

from benchmarks.rivals.aida import Aida, AidaLocal
from benchmarks.rivals.entity_topic import EntityTopic
from benchmarks.rivals.kataria import Kataria
from benchmarks.rivals.kulkarni import Kulkarni
from benchmarks.rivals.milne_witten import MilneWitten
from benchmarks.rivals.pagerank import PageRank
from benchmarks.rivals.wikify import Wikify
from wikilda.evaluation.methods import METHODS, Given, Method, find_method, make_method

RIVALS: dict[str, type[Method]] = {
    kind.name: kind for kind in (Wikify, MilneWitten, Kulkarni, AidaLocal, Aida, Kataria, EntityTopic, PageRank)
}
TUNED: dict[str, dict[str, Any]] = tomllib.loads((Path(__file__).parent / "tuned.toml").read_text("utf-8"))


def everything() -> list[str]:
    """Names of all methods: rivals first, each with its paper's settings and, as NAME:tuned, with tuned ones."""
    names = ["prior", *RIVALS, *(name for name in METHODS if name != "prior")]
    return [each for name in names for each in ((name, f"{name}:tuned") if name in TUNED else (name,))]


def make(name: str, given: Given) -> Method:
    """Make a method by a name of `everything`."""
    base, _, variant = name.partition(":")
    full = f"{__name__}:{RIVALS[base].__name__}" if base in RIVALS else base
    settings = find_method(full)[0].settings_type.from_mapping(TUNED[base]) if variant == "tuned" else None
    made = make_method(full, given, {base: settings} if settings else None)
    made.name = name
    return made

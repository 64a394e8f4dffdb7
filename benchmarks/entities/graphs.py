"""Nodes of a graph made of annotated news stories: precision and recall of the pairs that `identify` merges.

    python -m benchmarks.entities.graphs MODEL [--show]

A node is a name in a story, with the story as its source, as tools that extract graphs with language models have it.
Two nodes are the same thing if their annotated titles are. Pairs of two nodes without a title are left out: the
annotation does not tell whether they are the same. The baseline merges nodes that have the same name.
"""

import argparse
import json
import os
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from benchmarks import record
from wikilda import Linker
from wikilda.integrations.graphs import Node, identify

DATA = Path(os.environ.get("WIKILDA_DATA", "../shared/data"))


def nodes_of(stories: Sequence[Mapping[str, Any]]) -> tuple[list[Node], dict[str, str | None]]:
    """The nodes of annotated stories, and the title of each."""
    found: dict[str, Node] = {}
    titles: dict[str, str | None] = {}
    for story in stories:
        for mention in story["mentions"]:
            name = story["text"][mention["start"] : mention["end"]]
            key = f"{story['id']} {name}"
            found.setdefault(key, Node(key, name, sources=(story["text"],)))
            titles.setdefault(key, mention["title"])
    return list(found.values()), titles


def score(titles: Mapping[str, str | None], identities: Mapping[str, str]) -> dict[str, Any]:
    """Precision and recall of merged pairs, in per cent."""
    merged = right = same = 0
    for one, other in combinations(titles, 2):
        if titles[one] is None and titles[other] is None:
            continue
        is_same, is_merged = titles[one] == titles[other], identities[one] == identities[other]
        same += is_same
        merged += is_merged
        right += is_same and is_merged
    precision, recall = right / max(merged, 1), right / max(same, 1)
    f1 = 2 * precision * recall / max(precision + recall, 1e-9)
    return {
        "nodes": len(titles), "pairs": same, "precision": round(100 * precision, 1), "recall": round(100 * recall, 1),
        "F1": round(100 * f1, 1),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("--show", action="store_true", help="print pairs that are wrong")
    given = parser.parse_args()
    lines = (DATA / "bbc-gold" / "bbc-dev.jsonl").read_text("utf-8").splitlines()
    stories = [json.loads(line) for line in lines]
    linker = Linker.open(given.model)
    nodes, titles = nodes_of(stories)
    half = len(nodes) // 2
    at_once = {each.node: each.identity for each in identify(linker, nodes)}
    first = identify(linker, nodes[:half])
    later = {each.node: each.identity for each in identify(linker, nodes, known=first)}
    assert all(later[each.node] == each.identity for each in first)
    known = {each.id for each in nodes if titles[each.id] and linker.knowledge.find_topic(titles[each.id] or "") >= 0}
    some = {key: title for key, title in titles.items() if key in known}
    names = {each.id: each.name.casefold() for each in nodes}
    rows = [
        {"way": "the same name", **score(titles, names)},
        {"way": "wikilda", **score(titles, at_once)},
        {"way": "wikilda, in two halves", **score(titles, later)},
        {"way": "the same name, entities of the wiki", **score(some, names)},
        {"way": "wikilda, entities of the wiki", **score(some, at_once)},
    ]
    for row in rows:
        print(row)
    if given.show:
        for one, other in combinations(titles, 2):
            if (titles[one] or titles[other]) and (titles[one] == titles[other]) != (at_once[one] == at_once[other]):
                print(one, "|", titles[one], at_once[one], "||", other, "|", titles[other], at_once[other])
    record.write(f"entities-graphs-{given.model.name}", {"pairs": rows})


if __name__ == "__main__":
    main()

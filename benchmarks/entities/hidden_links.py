"""Every tenth link of a wiki hidden, and suggested again: precision and recall of `wikilda suggest`.

    python -m benchmarks.entities.hidden_links nds-nl-2022.xml.xz --work DIR

Links in prose are numbered through the whole dump; of each tenth, only the visible text stays. A model is built from
what is left, and suggestions are made with it.
"""

import argparse
import json
import re
from collections import defaultdict
from html import unescape
from pathlib import Path
from time import process_time
from typing import Any
from xml.sax.saxutils import escape

import numpy as np

from benchmarks import record
from wikilda._core.compression import open_compressed
from wikilda.documents.detection import EveryName
from wikilda.knowledge import Knowledge
from wikilda.linking import Linker
from wikilda.mediawiki.dump import site_of
from wikilda.model import Model
from wikilda.suggestions.candidates import Candidates, Vector, find_candidates
from wikilda.suggestions.missing_links import judge
from wikilda.suggestions.sources import Dump
from wikilda.suggestions.wikitext import read_wikitext

_PAGE = re.compile(r"<page>\s*<title>([^<]*)</title>.*?</page>", re.DOTALL)
_TEXT = re.compile(r"(<text\b[^>]*>)([^<]*)(</text>)")


def hide(dump: Path, target: Path, every: int = 10) -> list[tuple[str, str, str]]:
    """Write a dump without every n-th link in prose; returns page, target and visible text of those."""
    namespaces = site_of(dump).namespaces
    with open_compressed(dump) as stream:
        xml = stream.read().decode()
    hidden: list[tuple[str, str, str]] = []
    count = 0

    def without(title: str, text: str) -> str:
        nonlocal count
        parts, at = [], 0
        for link in read_wikitext(text, namespaces).links:
            count += 1
            if count % every == 0:
                start = text.rfind("[[", 0, link.start)
                shown = text[link.start : link.end]
                parts += [text[at:start], shown]
                at = link.end + 2
                hidden.append((title, link.target, shown))
        return "".join([*parts, text[at:]])

    def page(found: re.Match[str]) -> str:
        title, whole = unescape(found.group(1)), found.group()
        if "<redirect " in whole:
            return whole
        return _TEXT.sub(lambda text: text[1] + escape(without(title, unescape(text[2]))) + text[3], whole)

    target.write_text(_PAGE.sub(page, xml), "utf-8")
    print(f"{count:,} links in prose, {len(hidden):,} hidden")
    return hidden


def measure(found: Candidates, chances: Vector, known: Knowledge, hidden: list[list[str]]) -> list[dict[str, Any]]:
    """Rows by the share of hidden links that are found.

    Hidden links count if their article exists and the page does not link it elsewhere: no other link is missing.
    """
    number = {title: at for at, title in enumerate(found.titles)}
    linked = {(place.page, place.topic) for place in found.places if place.linked} | found.links
    pairs = {(number[page], topic_of(known, target)) for page, target, _ in hidden if page in number}
    pairs = {pair for pair in pairs if pair[1] >= 0 and pair not in linked and pair[1] != found.topics[pair[0]]}
    meant = defaultdict[tuple[int, str], set[int]](set)
    for page, target, text in hidden:
        if page in number:
            meant[number[page], spelled(text)].add(topic_of(known, target))
    is_linked = found.linked
    is_hidden = np.array([(each.page, each.topic) in pairs for each in found.places]) & ~is_linked
    there = [meant.get((each.page, found.strings[each.string]), set()) - {-1} for each in found.places]
    is_there = np.array(list(map(bool, there))) & ~is_linked
    is_right = np.array([each.topic in some for each, some in zip(found.places, there, strict=True)]) & is_there
    rows = []
    for share in (0.25, 0.5, 0.75):
        best = np.sort(chances[is_hidden])[::-1]
        place = int(share * len(pairs))
        if place >= len(best):
            continue
        chosen = chances >= best[place]
        made = chosen & ~is_linked
        rows.append({
            "hidden links found": per_cent((chosen & is_hidden).sum() / len(pairs)),
            "threshold": round(float(best[place]), 2),
            "suggestions": int(made.sum()),
            "right where a link was hidden": per_cent((is_right & made).sum() / (is_there & made).sum()),
            "precision if each link is hidden in turn": per_cent((is_linked | is_hidden)[chosen].mean()),
            "hidden links among suggestions": per_cent(is_hidden[made].mean()),
        })  # fmt: skip
    return rows


def per_cent(share: float) -> float:
    return round(100 * float(share), 1)


def topic_of(known: Knowledge, target: str) -> int:
    return known.find_topic(target.partition("#")[0])


def spelled(text: str) -> str:
    return " ".join(text.casefold().split())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dump", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--sample", type=int, default=0, help="suggestions to print")
    given = parser.parse_args()
    given.work.mkdir(exist_ok=True, parents=True)
    dump, model = given.work / "hidden.xml", given.work / "model"
    hidden = given.work / "hidden.json"
    if not hidden.is_file():
        hidden.write_text(json.dumps(hide(given.dump, dump)))
    source = Dump(dump)
    if not model.is_dir():
        source.build(model, None)
    opened = Model.open(model)
    known = opened.knowledge()
    began = process_time()
    found = find_candidates(Linker(opened, detector=EveryName(known)), source, 1, lambda _: None)
    chances = judge(found)
    seconds = process_time() - began
    rows = measure(found, chances, known, json.loads(hidden.read_text()))
    for row in rows:
        print(row)
    speed = {
        "pages": len(found.titles),
        "places": len(found.places),
        "pages a second a core": round(len(found.titles) / seconds),
    }
    print(speed)
    show(found, chances, known, rows, given.sample)
    name = given.dump.name.split(".")[0]
    record.write(f"entities-hidden-links-{name}", {"links": rows, "speed": [speed]})


def show(found: Candidates, chances: Vector, known: Knowledge, rows: list[dict[str, Any]], count: int) -> None:
    """Print some suggestions at the threshold where half of the hidden links are found, to be judged by a person."""
    made = np.flatnonzero(~found.linked & (chances >= rows[1]["threshold"]))
    for at in np.random.default_rng(1).choice(made, min(count, len(made)), replace=False).tolist():
        place = found.places[at]
        means = f"{found.strings[place.string]} → {known.titles[place.topic]}"
        print(f"{chances[at]:.2f} {found.titles[place.page]} | {means}")


if __name__ == "__main__":
    main()

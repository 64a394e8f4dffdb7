"""A wiki eight years later: its new articles, linked with the model of 2014, after an update, and with a build of 2022.

    python -m benchmarks.build.temporal [--documents N]

Texts are articles of 2022 that the wiki of 2014 did not have, with the links that their authors made. Some of these
links lead to topics that existed in 2014, others to topics that did not (true NIL); some names mean something else by
now. The articles are part of the dump of 2022, so that figures of the later models are not of unseen text: they show
that an update is as good as a build.
"""

import json
import random
import tempfile
from pathlib import Path

import click
import numpy as np

from benchmarks import record
from benchmarks.build.reading import DATA
from wikilda import evaluate
from wikilda.evaluation.gold import ABSENT
from wikilda.evaluation.run import Run
from wikilda.knowledge import Knowledge
from wikilda.knowledge.diff import Comparison
from wikilda.mediawiki.dump import cut, read_piece, site_of
from wikilda.mediawiki.pages import RawPage, pages_in
from wikilda.mediawiki.wikitext import ANCHOR_END, ANCHOR_START, IN_ASIDE, TARGET_END, TARGET_START, dialect_of, scan
from wikilda.training.build import build
from wikilda.training.update import update

METHODS = ("prior", "tagme", "lda", "urn")
_LEAST_LINKS = 3


def gold(dump: Path, compared: Comparison, most: int) -> list[dict[str, object]]:
    """New articles with their links; a topic that was renamed goes by its old title, which is a redirect now."""
    before, after, site = compared.before, compared.after, site_of(dump)
    named = {int(new): before.titles[old] for old, new in enumerate(compared.topics.tolist()) if new >= 0}
    documents: list[dict[str, object]] = []
    for piece in cut(dump, 1 << 24):
        for page in pages_in(read_piece(piece), site.namespaces):
            if not isinstance(page, RawPage) or page.redirect or page.namespace or before.find_topic(page.title) >= 0:
                continue
            own = after.titles.find(page.title)
            found = scan(page.text, np.array([0, len(page.text)]), dialect_of(site))
            mentions = []
            for link in found.links.T.tolist():
                target = found.source[link[TARGET_START] : link[TARGET_END]].tobytes().decode()
                topic = after.find_topic(target.split("#")[0])
                if link[IN_ASIDE] or topic < 0 or topic == own:
                    continue
                start, end = (len(found.text[: link[at]].tobytes().decode()) for at in (ANCHOR_START, ANCHOR_END))
                if start < end:
                    mentions.append({"start": start, "end": end, "title": named.get(topic, after.titles[topic])})
            if own >= 0 and len(mentions) >= _LEAST_LINKS:
                documents.append({"id": page.title, "text": found.text.tobytes().decode(), "mentions": mentions})
    random.Random(0).shuffle(documents)
    return documents[:most]


def auc(scores: np.ndarray, positive: np.ndarray) -> float:
    """The area under the ROC curve; ties count half."""
    _, ranks, counts = np.unique(scores, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - (counts - 1) / 2
    wins = middle[ranks][positive].sum() - positive.sum() * (positive.sum() + 1) / 2
    return float(wins / (positive.sum() * (~positive).sum()))


def row(name: str, run: Run, changed: set[str]) -> dict[str, record.Cell]:
    """What one method does with one model."""
    gold_of, right = run.gold, run.right
    nil = np.array([verdict.nil for verdict in run.verdicts])
    known, absent = gold_of.known, gold_of.topics == ABSENT
    strings = [
        document.text[start:end].lower() for document in gold_of.documents for start, end in document.spans or ()
    ]
    moved = np.array([string in changed for string in strings]) & known
    return {
        "model": name, "method": run.method, "topics that exist": int(known.sum()),
        "right, %": 100 * float(right[known].mean()), "names with a new meaning": int(moved.sum()),
        "of these right, %": 100 * float(right[moved].mean()) if moved.any() else None,
        "true NIL": int(absent.sum()), "NIL, area under ROC": auc(nil, absent) if absent.any() else None,
    }  # fmt: skip


@click.command()
@click.option("--documents", type=int, default=400, show_default=True)
def main(documents: int) -> None:
    """Build, update, link, and record."""
    old_dump, new_dump = (DATA / "wikis-full" / f"nds-nl-{year}.xml.xz" for year in (2014, 2022))
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        build(old_dump, place / "2014")
        build(new_dump, place / "2022")
        update(place / "2014", new_dump, place / "updated")
        compared = Comparison(Knowledge.open(place / "2014"), Knowledge.open(place / "2022"))
        file = place / "gold.jsonl"
        texts = gold(new_dump, compared, documents)
        file.write_text("".join(json.dumps(each, ensure_ascii=False) + "\n" for each in texts), "utf-8")
        changed = {each.name for each in compared.diff().meanings}
        rows = [
            row(name, run, changed)
            for name in ("2014", "updated", "2022")
            for run in evaluate(place / name, file, methods=METHODS, workers=2).runs[0]
        ]
        equal = Knowledge.open(place / "updated").identity == Knowledge.open(place / "2022").identity
    for each in rows:
        print(each)
    record.write("temporal", {"linking": rows}, documents=len(texts), equal=equal)


if __name__ == "__main__":
    main()

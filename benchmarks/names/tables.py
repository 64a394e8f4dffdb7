"""Knowledge with a part taken away, so that it is known what is missing.

python -m benchmarks.names.tables nil TABLES TARGET GOLD...     a tenth of the gold topics: what means them is NIL
    --other                                                     another tenth, to learn from
python -m benchmarks.names.tables parts TABLES TARGET           mention rows whose string is a proper part of the title
"""

import argparse
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path

from wikilda._core.compression import open_compressed
from wikilda.evaluation.datasets import read_dataset
from wikilda.text import mention_key

NAMES = ("topics.tsv", "mentions.tsv", "links.tsv", "articles.jsonl")
SEED = 1


def find(directory: Path, name: str) -> Path:
    """A table of a directory, compressed or not."""
    return next(path for path in sorted(directory.iterdir()) if path.name.startswith(name))


def gold_topics(tables: Path, gold: list[Path]) -> list[str]:
    """The titles that gold means and the tables have, in order."""
    titles = {row[0] for row in rows(find(tables, "topics.tsv"))}
    meant = {
        name.replace("_", " ")
        for path in gold
        for data in read_dataset(path)
        for document in data.documents
        for names in document.gold
        for name in names
    }
    return sorted(meant & titles)


def taken_out(tables: Path, gold: list[Path], *, other: bool = False) -> set[str]:
    """A tenth of the gold topics, the same each time; or another tenth, which has none of the first."""
    topics = gold_topics(tables, gold)
    first = set(random.Random(SEED).sample(topics, len(topics) // 10))
    if not other:
        return first
    rest = [title for title in topics if title not in first]
    return set(random.Random(SEED + 1).sample(rest, len(topics) // 10))


def rows(path: Path) -> Iterator[list[str]]:
    with open_compressed(path) as lines:
        for line in lines:
            yield line.decode().rstrip("\n").split("\t")


def copy(source: Path, target: Path, keep: dict[str, Callable[[list[str]], bool]]) -> None:
    """Copy tables without the rows that are not to be kept; the first row of a table is its head."""
    target.mkdir(parents=True, exist_ok=True)
    for name in NAMES[:3]:
        with (target / name).open("w", encoding="utf-8") as out:
            for number, row in enumerate(rows(find(source, name))):
                if number == 0 or keep.get(name, lambda _: True)(row):
                    out.write("\t".join(row) + "\n")
    with open_compressed(find(source, NAMES[3])) as lines, (target / NAMES[3]).open("wb") as out_bytes:
        for line in lines:
            if keep.get(NAMES[3], lambda _: True)([json.loads(line)["title"]]):
                out_bytes.write(line)


def without_topics(source: Path, target: Path, gone: set[str]) -> None:
    """Tables without some topics: their mention rows, links and articles."""
    copy(source, target, {
        "topics.tsv": lambda row: row[0] not in gone,
        "mentions.tsv": lambda row: row[1] not in gone,
        "links.tsv": lambda row: row[0] not in gone and row[1] not in gone,
        "articles.jsonl": lambda row: row[0] not in gone,
    })  # fmt: skip


def is_part(string: str, title: str) -> bool:
    """Whether a string is some of the words of a title, and not all."""
    words, whole = mention_key(string)[0].split(), mention_key(title)[0].split()
    size = len(words)
    return size < len(whole) and any(whole[at : at + size] == words for at in range(len(whole) - size + 1))


def without_parts(source: Path, target: Path) -> None:
    """Tables in which no topic has a part of its title as a name."""
    copy(source, target, {"mentions.tsv": lambda row: not is_part(row[0], row[1])})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["nil", "parts"])
    parser.add_argument("tables", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("gold", type=Path, nargs="*")
    parser.add_argument("--other", action="store_true")
    options = parser.parse_args()
    if options.what == "nil":
        gone = taken_out(options.tables, options.gold, other=options.other)
        without_topics(options.tables, options.target, gone)
        (options.target.parent / f"{options.target.name}.gone.json").write_text(json.dumps(sorted(gone)))
        print(f"{len(gone)} topics taken out")
    else:
        without_parts(options.tables, options.target)


if __name__ == "__main__":
    main()

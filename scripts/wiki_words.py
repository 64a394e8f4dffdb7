"""Write `mediawiki/wikis.jsonl`: the words of every Wikipedia's dialect, from the wikis' own configurations.

    python scripts/wiki_words.py configurations.jsonl.xz

A configuration is a line of JSON with `wiki`, `namespaces` and `aliases` as pairs of number and name, `magic_words` by
name and `language_prefixes`, as `meta=siteinfo` of a wiki's `api.php` has them (`siprop` of `namespaces`,
`namespacealiases`, `magicwords`, `interwikimap`).
"""

import json
import sys
from pathlib import Path
from typing import Any

from wikilda._core.compression import open_compressed

TARGET = Path(__file__).parent.parent / "src/wikilda/mediawiki/wikis.jsonl"
_NO_WIKIS = ("mappings",)  # of a tool, not of a wiki


def main(path: Path) -> None:
    """Read the configurations and write the table."""
    with open_compressed(path) as lines:
        wikis = sorted(map(json.loads, lines), key=lambda wiki: str(wiki["wiki"]))
    wikis = [wiki for wiki in wikis if wiki["wiki"] not in _NO_WIKIS]
    prefixes = sorted({prefix for wiki in wikis for prefix in wiki["language_prefixes"]})
    shared = dict(set.intersection(*(set(_namespaces(wiki).items()) for wiki in wikis)))
    english = _words(next(wiki for wiki in wikis if wiki["wiki"] == "en"))
    common = {"namespaces": dict(sorted(shared.items())), **english}
    rows = [{"wiki": "", "language_prefixes": prefixes, **common}]
    rows += [_beyond({"wiki": wiki["wiki"], "namespaces": _namespaces(wiki), **_words(wiki)}, common) for wiki in wikis]
    TARGET.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")


def _namespaces(wiki: dict[str, Any]) -> dict[str, int]:
    """Names and aliases; a name wins over an alias."""
    names = {name.lower(): number for number, name in wiki["aliases"]}
    for number, *both in wiki["namespaces"]:
        names |= {name.lower(): number for name in reversed(both) if name}
    return dict(sorted(names.items()))


def _words(wiki: dict[str, Any]) -> dict[str, Any]:
    magic = wiki["magic_words"]
    return {
        "redirect": sorted({word.lower().lstrip("#").rstrip(":") for word in magic["redirect"]}),
        "disambiguation": sorted({word.lower().strip("_") for word in magic.get("disambiguation", [])}),
    }


def _beyond(wiki: dict[str, Any], common: dict[str, Any]) -> dict[str, Any]:
    """What a wiki has beside that which all have."""
    names = {name: number for name, number in wiki["namespaces"].items() if name not in common["namespaces"]}
    words = {kind: [word for word in wiki[kind] if word not in common[kind]] for kind in ("redirect", "disambiguation")}
    return {"wiki": wiki["wiki"], "namespaces": names, **{kind: found for kind, found in words.items() if found}}


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""How many of MediaWiki's own parser tests our text and links agree with: `python -m benchmarks.build.parser_tests`.

For every case with wikitext and HTML: the words of our text, in order, and the titles of our links against those of the
HTML. What is set aside on purpose (tables, captions, references) is taken from neither.
"""

from collections import Counter

from tests.mediawiki.parser_cases import cases, passes, reason

from benchmarks import record
from benchmarks.build.reading import DATA


def main() -> None:
    every = list(cases(DATA / "parser-tests"))
    failing = Counter(reason(case) for case in every if not passes(case))
    total = sum(failing.values())
    rows = [{"": "agree", "cases": len(every) - total}, {"": "differ", "cases": total}]
    groups = [{"differ because of": name, "cases": count} for name, count in failing.most_common()]
    record.write("parser-tests", {"cases": rows, "reasons": groups})
    print(rows, *groups, sep="\n")


if __name__ == "__main__":
    main()

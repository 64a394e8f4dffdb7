"""MediaWiki's parser tests, where they are: what passed once has to pass for ever."""

from pathlib import Path

from tests.mediawiki.parser_cases import cases, passes

PASSING = Path(__file__).with_name("parser_cases_passing.txt")  # a list that only grows


def test_what_passed_still_passes(data: Path) -> None:
    pinned = set(filter(None, PASSING.read_text("utf-8").split("\n")))
    found = {case.name: passes(case) for case in cases(data / "parser-tests")}
    assert len(pinned) >= 900
    assert pinned <= found.keys()
    assert not [name for name in pinned if not found[name]]
    assert {name for name, passed in found.items() if passed} == pinned  # let the list grow

"""Every byte of a page's wikitext and every link in it is in one class of its account."""

import numpy as np
import pytest

from tests.mediawiki.scanning import ENGLISH
from wikilda.mediawiki.wikitext import ACCOUNT, scan


def account(wikitext: str) -> dict[str, int]:
    data = wikitext.encode()
    found = scan(data, np.array([0, len(data)]), ENGLISH).account[:, 0].tolist()
    return {name: count for name, count in zip(ACCOUNT, found, strict=True) if count}


@pytest.mark.parametrize(
    ("wikitext", "expected"),
    [
        ("plain", {"text": 5}),
        ("'''bold''' é", {"text": 7, "markup": 6}),
        ("a {{box|x=[[Y]]}} b", {"text": 4, "in_templates": 15, "links": 1, "outside_text": 1}),
        ("a{{x|{{y}}}}", {"text": 1, "in_templates": 11}),
        ("{|\n| cell\n|}\nafter", {"text": 6, "in_tables": 12}),
        ("a<ref>see [[Y]]</ref>b", {"text": 2, "in_references": 11, "markup": 9, "links": 1, "outside_text": 1}),
        ("a<table><tr><td>c</table>b", {"text": 2, "in_tables": 6, "markup": 18}),
        ("a <!-- no --> b", {"text": 4, "in_comments": 11}),
        ("a <math>x^2</math> b", {"text": 4, "in_dropped_tags": 16}),
        ("a [[Y]] b", {"text": 5, "markup": 4, "links": 1, "in_text": 1}),
        ("[[File:a.png|thumb|The [[Y]]]]", {"in_files": 30, "links": 2, "to_file": 1, "outside_text": 1}),
        ("[[Category:Y]][[de:Y]]", {"markup": 22, "links": 2, "to_category": 1, "to_language": 1}),
        ("[[wikt:y|y]] [[#Z|z]]", {"text": 3, "markup": 18, "links": 2, "elsewhere": 1, "to_section": 1}),
        ("[[{{x}}]]", {"in_files": 9, "links": 1, "computed": 1}),
        ("[[|y]]", {"text": 6, "links": 1, "no_title": 1}),
        ("[[a|b [[c]] d]]", {"text": 5, "markup": 10, "links": 2, "around_link": 1, "in_text": 1}),
        ("{{nowrap|a|[[b]]}} is", {"text": 4, "markup": 17, "links": 1, "unshown": 1}),
    ],
)  # fmt: skip
def test_what_becomes_of_a_page(wikitext: str, expected: dict[str, int]) -> None:
    found = account(wikitext)
    assert found.pop("wikitext") == len(wikitext.encode())
    assert found == expected

"""The page of errors: what is on it, and that nothing in it comes alive."""

import re
from html.parser import HTMLParser

from tests.evaluation.conftest import made_run, said
from wikilda.evaluation.datasets import Dataset
from wikilda.evaluation.gold import GoldDocument, Resolver
from wikilda.evaluation.metrics import calibration
from wikilda.evaluation.report import reliability, report
from wikilda.evaluation.report._errors import KINDS, kind_of
from wikilda.evaluation.run import Gold, Run, Verdict
from wikilda.knowledge import Knowledge

ROBERT, COLIN, LARA = "Robert Croft", "Colin Croft", "Lara Croft"


class Balanced(HTMLParser):
    """Fails where a tag is not closed by its own."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag not in ("meta", "input"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_kinds(sample: Knowledge) -> None:
    rows = [
        (ROBERT, said(sample, ROBERT, gold=ROBERT), None),
        (None, Verdict([], [], 1.0, -1), None),
        (ROBERT, Verdict([], [], 1.0, -1), "unknown"),
        (ROBERT, Verdict([], [], 0.0, -1), "failed"),
        (None, Verdict([], [], 0.0, -1), "failed"),
        (ROBERT, said(sample, COLIN, gold=ROBERT), "missing"),
        (ROBERT, said(sample, COLIN, ROBERT, gold=ROBERT), "popular"),
        (COLIN, said(sample, ROBERT, COLIN, gold=COLIN), "astray"),
        (LARA, said(sample, ROBERT, LARA, gold=LARA), "other"),
        (ROBERT, said(sample, ROBERT, gold=ROBERT, nil=0.6), "refused"),
        (None, said(sample, COLIN), "linked"),
        ("Absent", said(sample, COLIN), "absent"),
    ]
    run = made_run(sample, [[(title, verdict) for title, verdict, _ in rows]])
    common = sample.find_topic(COLIN)
    assert [kind_of(run, at, common) for at in range(len(rows))] == [kind for *_, kind in rows]
    assert set(KINDS) == {kind for *_, kind in rows if kind}


def test_page(sample: Knowledge) -> None:
    wrong, right = said(sample, COLIN, ROBERT, gold=ROBERT), said(sample, ROBERT, gold=ROBERT)
    rows = [[(ROBERT, wrong), (ROBERT, wrong), (ROBERT, right)], [(ROBERT, right)]]
    page = report([[made_run(sample, rows, "first"), made_run(sample, rows, "last")]])
    parser = Balanced()
    parser.feed(page)
    assert parser.open == []
    assert page.count('<section class="document">') == 1  # the other has no error
    assert page.count("<article") == 1  # two mentions alike share a card
    assert "× 2" in page
    assert page.count('class="wrong') == 2
    assert not re.search(r'(src|href)="(?!#)', page)


def test_everything_is_escaped(sample: Knowledge) -> None:
    evil = "<script>alert('&')</script>\"x"
    document = GoldDocument(f"Croft {evil} Croft", [(0, 5), (6, 6 + len(evil))], evil, [(evil,), (evil,)])
    dataset = Dataset(evil, [document], [evil])
    verdicts = [said(sample, ROBERT), Verdict([], [], 1.0, -1)]
    page = report([[Run(evil, True, Gold(dataset, Resolver(sample)), verdicts, 1.0)]])
    assert evil not in page
    assert page.count("<script>") == 1  # our own
    assert "{{" not in page
    parser = Balanced()
    parser.feed(page)
    assert parser.open == []


def test_plot() -> None:
    import numpy as np

    drawn = reliability("a<b", calibration(np.array([0.95, 0.15]), np.array([True, False])))
    assert len(drawn["bars"]) == 2
    assert drawn["label"] == "a<b: ECE 0.100"

"""What of Markdown and wikitext is prose, at its places; and the names that notes give themselves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikilda.suggestions.markdown import front_matter, read_markdown
from wikilda.suggestions.wikitext import read_wikitext

NAMESPACES = {"category": 14, "file": 6}


def prose(source: str) -> str:
    return " ".join(read_markdown(source).prose.text.split())


def wiki_prose(source: str) -> str:
    return " ".join(read_wikitext(source, NAMESPACES).text.split())


@pytest.mark.parametrize(("source", "left"), [
    ("---\ntitle: Word\n---\nText", "Text"), ("# Word\nText", "Text"), ("Word\n====\nText", "Text"),
    ("a `Word` b", "a b"), ("a ``W`o`rd`` b", "a b"), ("```py\nWord\n```\nText", "Text"), ("~~~\nWord", ""),
    ("para\n\n    Word = 1\n\nText", "para Text"), ("- item\n    - Text", "item Text"), ("a $Word$ b", "a b"),
    ("$$\nWord\n$$ b", "b"), ("costs $5 and $6", "costs $5 and $6"), ("<!-- Word --> b", "b"), ("%% Word %% b", "b"),
    ("see https://example.org/Word now", "see now"), ("<span title='Word'>Text</span>", "Text"), ("a #Word/x b", "a b"),
    ("alias:: Word", ""), ("- id:: Word\n- Text", "Text"), ("![[Word]] b", "b"), ("![Word](x.png) b", "b"),
    ("{{embed [[Word]]}} b", "b"), ("((6-7)) b", "b"), ("**bold** and _it_ and snake_case", "bold and it and snake_case"),
    ("[1]: Word\nText", "Text"), ("Text[^1]", "Text"), ("> [!note] Text", "Text"), ("- [ ] Text ^word", "Text"),
])  # fmt: skip
def test_markdown_that_is_skipped(source: str, left: str) -> None:
    assert prose(source) == left


@pytest.mark.parametrize(("source", "shown", "target"), [
    ("[[Word]]", "Word", "Word"), ("[[Word|Text]]", "Text", "Word"), ("[[Word#Part|Text]]", "Text", "Word"),
    ("[[a/Word^block]]", "a/Word^block", "a/Word"), ("[Text](Word%20x.md)", "Text", "Word x"),
    ("[Text](a/Word.md#part)", "Text", "a/Word"),
])  # fmt: skip
def test_links_of_notes(source: str, shown: str, target: str) -> None:
    [link] = read_markdown(f"See {source} here").prose.links
    assert f"See {source} here"[link.start : link.end] == shown
    assert link.target == target


def test_other_links_are_closed_but_no_links_to_notes() -> None:
    note = read_markdown("See [Text](https://example.org/Word) and [Text][ref].")
    assert note.prose.links == []
    assert len(note.prose.closed) == 2


@pytest.mark.parametrize(("source", "names"), [
    ("---\naliases: [One, 'Two, too', \"Three\"]\n---\n", ("One", "Two, too", "Three")),
    ("---\nalias: One\n---\n", ("One",)), ("---\ntags:\n- x\naliases:\n  - One\n  - \"Two\"\n---\n", ("One", "Two")),
    ("alias:: One, [[Two]]\n\n- text", ("One", "Two")), ("---\r\naliases:\r\n  - One\r\n---\r\n", ("One",)),
    ("---\naliases: []\n---\n", ()), ("---\naliases:\n---\n", ()),
])  # fmt: skip
def test_aliases(source: str, names: tuple[str, ...]) -> None:
    assert read_markdown(source).aliases == names


@pytest.mark.parametrize(("source", "wrong"), [
    ("---\ntitle: x\nText", "not closed with ---"), ("---\n}{ nonsense\n---\n", "line 2 of its front matter is not YAML"),
    ("---\naliases: [One, Two\n---\n", "line 2 of its front matter is not closed"), ("---\nx: 1\n---\n", ""),
    ("--- not front matter", ""),
])  # fmt: skip
def test_broken_front_matter(source: str, wrong: str) -> None:
    assert wrong in front_matter(source).wrong
    assert bool(front_matter(source).wrong) == bool(wrong)


@pytest.mark.parametrize(("source", "left"), [
    ("{{Box|Word={{x}}}} Text", "Text"), ("{|\n| Word\n|}\nText", "Text"), ("== Word ==\nText", "Text"),
    ("Text<ref>Word</ref> b", "Text b"), ("Text<ref name=x/> b", "Text b"), ("<!-- Word --> b", "b"),
    ("[[File:x.png|thumb|The [[Word]]]] b", "b"), ("[[Category:Word]] b", "b"), ("<nowiki>[[Word]]</nowiki> b", "b"),
    ("[https://example.org Word] b", "b"), ("'''Text''' b", "Text b"), ("* Text", "Text"), ("{{Word\nText", "Text"),
    ("[[Word|Text]]", "Text"), ("<math>Word</math> b", "b"),
])  # fmt: skip
def test_wikitext_that_is_skipped(source: str, left: str) -> None:
    assert wiki_prose(source) == left


def test_links_of_wikitext() -> None:
    source = "The [[cat]]s and [[Dog (animal)|dogs]] of [[:Category:Pets]]."
    found = read_wikitext(source, NAMESPACES)
    assert [(source[each.start : each.end], each.target) for each in found.links][:2] == [
        ("cat", "cat"), ("dogs", "Dog (animal)"),
    ]  # fmt: skip
    assert source[found.closed[0][0] : found.closed[0][1]] == "[[cat]]s"


PARTS = st.lists(st.sampled_from([
    "Word ", "[[", "]]", "|", "`", "```\n", "\n", "---\n", "{{", "}}", "{|", "|}", "<ref>", "</ref>", "<!--", "-->", "$", "$$",
    "# ", "==", "    ", "- ", "](x.md)", "[", "%%", "'''", "é", "\r\n", "((", "))", "a::b",
]), max_size=30).map("".join)  # fmt: skip


@given(PARTS)
def test_offsets_stay(source: str) -> None:
    for found in (read_markdown(source).prose, read_wikitext(source, NAMESPACES)):
        assert len(found.text) == len(source)
        assert all(a == b or a in " \n" for a, b in zip(found.text, source, strict=True))
        assert all(0 <= each.start < each.end <= len(source) for each in found.links if each.start != each.end)

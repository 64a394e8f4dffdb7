"""The scanner, one rule of MediaWiki's a case."""

from html.entities import name2codepoint

import numpy as np
import pytest

from tests.mediawiki.scanning import ENGLISH, dialect, marks, read
from wikilda.mediawiki.languages import SISTERS, language_prefixes
from wikilda.mediawiki.site import Site
from wikilda.mediawiki.wikitext import scan
from wikilda.mediawiki.wikitext.dialect import ASIDE, BREAKING, DROPPED, FORMATTING, LITERAL, TAGS, VANISHING
from wikilda.mediawiki.wikitext.templates import RULES

Links = list[tuple[str, str, bool]]


def text_links(*pairs: tuple[str, str]) -> Links:
    return [(target, anchor, True) for target, anchor in pairs]


def aside_links(*pairs: tuple[str, str]) -> Links:
    return [(target, anchor, False) for target, anchor in pairs]


CASES: dict[str, tuple[str, str, Links]] = {
    # Nothing to read
    "empty page": ("", "", []),
    "only white space": (" \n\t\n ", " \n \n ", []),
    "plain text": ("Some text, 3 > 2.\nMore.", "Some text, 3 > 2.\nMore.", []),
    "control bytes": ("a\x01b\x02c\x03d\x0e\x1f\x00\re", "a b c d    e", []),
    # Links
    "link": ("a [[Foo bar]] b", "a Foo bar b", text_links(("Foo bar", "Foo bar"))),
    "pipe": ("[[Foo|bar]]", "bar", text_links(("Foo", "bar"))),
    "pipes in the text": ("[[Foo|a|b]]", "a|b", text_links(("Foo", "a|b"))),
    "line break in the text": ("[[Foo|a\nb]]", "a\nb", text_links(("Foo", "a\nb"))),
    "white space around a target": ("[[ Foo ]]", "Foo ", text_links(("Foo ", "Foo "))),
    "underscores and percent codes stay as written": ("[[Foo_bar%21]]", "Foo_bar%21", text_links(("Foo_bar%21", "Foo_bar%21"))),
    "trail": ("[[bus]]es and [[bus]]Es", "buses and busEs", text_links(("bus", "buses"), ("bus", "bus"))),
    "trail of a piped link": ("[[Foo|bar]]s", "bars", text_links(("Foo", "bars"))),
    "trail ends at what is no letter": ("[[bus]]'s [[bus]]2", "bus's bus2", text_links(("bus", "bus"), ("bus", "bus"))),
    "nowiki cuts a trail off": ("[[bus]]<nowiki/>es [[a]]<nowiki>b</nowiki>", "buses ab", text_links(("bus", "bus"), ("a", "a"))),
    "a tag cuts a trail off": ("<b>[[bus]]</b>es", "buses", text_links(("bus", "bus"))),
    "a comment does not": ("[[bus]]<!-- - -->es", "buses", text_links(("bus", "buses"))),
    "a trail is not taken back as an address": ("[[foo]]http://x.org", "foohttp://x.org", text_links(("foo", "foohttp"))),
    "section": ("[[Foo#Bar]]", "Foo#Bar", text_links(("Foo#Bar", "Foo#Bar"))),
    "section with a pipe": ("[[Foo#Bar|b]]", "b", text_links(("Foo#Bar", "b"))),
    "section of the page itself": ("[[#Bar]] [[#Bar|b]]", "#Bar b", []),
    "leading colon": ("[[:Foo]] [[:Foo|f]]", "Foo f", text_links(("Foo", "Foo"), ("Foo", "f"))),
    "a colon in a title": ("[[Batman: Year One]]", "Batman: Year One", text_links(("Batman: Year One", "Batman: Year One"))),
    "type in the text": ("[[Foo|''b'' '''c''']]", "b c", text_links(("Foo", "b c"))),
    "entity in the text": ("[[Foo|a &amp; b]]", "a & b", text_links(("Foo", "a & b"))),
    "template in the text": ("[[Foo|a{{x|y}}b]]", "ab", text_links(("Foo", "ab"))),
    "reference in the text": ("[[Foo|a<ref>y</ref>b]]", "ab", text_links(("Foo", "ab"))),
    "tag in the text": ("[[Foo|<i>a</i>]]", "a", text_links(("Foo", "a"))),
    # What looks like a link and is none
    "empty text": ("[[a|]] b", "[[a|]] b", []),
    "empty target": ("[[|b]]", "[[|b]]", []),
    "nothing at all": ("[[]] [[ ]]", "[[]] [[ ]]", []),
    "tag in the target": ("[[<b>]] [[a<b>c</b>]]", "[[]] [[ac]]", []),
    "angle bracket in the target": ("[[a>b]]", "[[a>b]]", []),
    "brace in the target": ("[[a}b]]", "[[a}b]]", []),
    "template in the target": ("a [[{{x}} (y)]] b", "a  b", []),
    "line break in the target": ("[[a\nb]]", "[[a\nb]]", []),
    "never closed": ("[[Foo bar", "[[Foo bar", []),
    "only closed": ("Foo]] bar", "Foo]] bar", []),
    "half closed": ("[[Foo] bar", "[[Foo] bar", []),
    "the next one after one never closed": ("[[Foo [[Bar]]", "[[Foo Bar", text_links(("Bar", "Bar"))),
    "link in a link": ("[[Foo|a [[Bar|b]] c]]", "a b c", text_links(("Bar", "b"))),
    "three brackets": ("[[[Foo]]]", "[[[Foo]]]", []),
    "four brackets": ("[[[[Foo]]]]", "[[Foo]]", text_links(("Foo", "Foo"))),
    "nowiki in brackets": ("[<nowiki/>[Foo]]", "[[Foo]]", []),
    # Namespaces and other wikis
    "file": ("a[[File:X.jpg|thumb|200px|A caption]]b", "ab", []),
    "image, the old English name": ("[[Image:X.jpg]] [[image:X.jpg|left]]", " ", []),
    "links in a caption": ("[[File:X.jpg|thumb|A [[Foo]] and [[Bar|b]]s.]]c", "c", aside_links(("Foo", "Foo"), ("Bar", "bs"))),
    "file in a caption": ("[[File:X.jpg|a [[File:Y.png]] [[Foo]]]]b", "b", aside_links(("Foo", "Foo"))),
    "link to a file": ("[[:File:X.jpg]] [[Media:X.ogg|hear]]", "File:X.jpg hear", []),
    "category": ("a[[Category:Foo|b]]c", "ac", []),
    "category with white space and case": ("[[ category : Foo ]]", "", []),
    "link to a category": ("[[:Category:Foo]] [[ :Category:Foo|f]]", "Category:Foo f", []),
    "other namespaces": ("[[User:Foo]] [[Template:Bar|b]] [[help talk:X]]", "User:Foo b help talk:X", []),
    "language link": ("a[[de:Foo]]b [[zh-yue:Foo|x]]", "ab ", []),
    "language link to be seen": ("[[:de:Foo]] [[:fr:Bar|b]]", "de:Foo b", []),
    "sister projects": ("[[wikt:foo|a]] [[commons:Bar]] [[q:x]]", "a commons:Bar q:x", []),
    # Templates
    "template": ("a{{Foo}}b", "ab", []),
    "template with parameters": ("a{{Foo|x|y=z\n|w}}b", "ab", []),
    "links in a template": ("{{Foo|[[Bar]]|x=[[Baz|b]]s}}c", "c", aside_links(("Bar", "Bar"), ("Baz", "bs"))),
    "nested templates": ("a{{Foo|{{Bar|{{Baz}}}}|x}}b", "ab", []),
    "template never closed": ("{{Foo|[[Bar]] c", "{{Foo|Bar c", text_links(("Bar", "Bar"))),
    "template closed too often": ("{{Foo}}}} b", "}} b", []),
    "template in one never closed": ("{{Foo|{{Bar}} c", "{{Foo| c", []),
    "argument": ("a{{{x|}}}b {{{1}}}", "ab ", []),
    "argument in a template": ("{{Foo|{{{x|{{Bar}}}}}}}a", "a", []),
    "argument as a template's name": ("{{{{{x}}}}}a", "a", []),
    "one brace more": ("{{{Foo}} b", "{ b", []),
    "single braces": ("{a} b", "{a} b", []),
    "brackets do not close braces": ("{{Foo ]] [[Bar]] b", "{{Foo ]] Bar b", text_links(("Bar", "Bar"))),
    "what is opened last is closed first": ("{{a|[[b}}|c]]", "{{a|[[b}}|c]]", []),
    "comment in braces": ("a{<!-- -->{Foo}<!-- -->}b", "ab", []),
    # Tables
    "table": ('a\n{| class="x"\n! h\n|-\n| b || c\n|}\nd', "a\n\nd", []),
    "table indented": ("a\n::{|\n| b\n  |}\nd", "a\n\nd", []),
    "links in a table": ("{|\n| [[Foo]]\n|}", "", aside_links(("Foo", "Foo"))),
    "table in a table": ("{|\n| a\n{|\n| b\n|}\n| c\n|}\nd", "\nd", []),
    "table in a template": ("{{x|\n{|\n| a\n|}\n}}b", "b", []),
    "template that ends a row": ("{|\n| a {{x\n|}}\n| b\n|}\nc", "\nc", []),
    "table never closed": ("a\n{|\n| [[Foo]]", "a\n\n", aside_links(("Foo", "Foo"))),
    "table begun by a template": (  # Alaric II
        "a\n{{start box}}\n|width=25% align=center|Preceded by:<br>'''[[Euric]]'''\nof Toulouse\n|-\n|}\nb",
        "a\n\n\nb", aside_links(("Euric", "Euric")),
    ),
    "rows that nothing ends": ("a\n| b || [[c]]\n!d\n  ! e\nf", "a\n\n\n\nf", aside_links(("c", "c"))),
    "text between a stray row and the end of a table": ("|a\nb\nc\nd\n|}\ne", "\nb\nc\nd\n\ne", []),
    "a section between them": ("|a\n== b ==\n|}\nc", "\n b \n\nc", []),
    # Inline templates
    "unit": ("grew up {{convert|90|km|mi|abbr=on}} north", "grew up 90 km north", []),  # Angela Merkel
    "language": ("with his {{lang|de|Wissenschaftslehre}}; he", "with his Wissenschaftslehre; he", []),
    "language without text": ("a {{lang|de}} b", "a  b", []),
    "link in a template": ("the {{Unicode|[[Manua|Manu'a]]}} Islands", "the Manu'a Islands", text_links(("Manua", "Manu'a"))),
    "gloss": ("at {{nihongo|Jusenkyo|呪泉郷}}.", "at Jusenkyo (呪泉郷).", []),  # Ranma ½
    "gloss without": ("as {{nihongo|''otemoto''|}}, a", "as otemoto, a", []),
    "date": ("né le {{Date de naissance|11|novembre|1866}} à", "né le 11 novembre 1866 à", []),  # Antoine Meillet
    "translated title": ("является {{нп5|Баварский квартал ||de|Bayerisches Viertel}} в", "является Баварский квартал в", []),
    "red link": ("for {{ill|Reiner Hoffmann|de}}, the", "for Reiner Hoffmann, the", []),
    "number": ("oltre {{formatnum:60000}} dipendenti", "oltre 60000 dipendenti", []),  # Berlino
    "numbered parameter": ("a {{nowrap|1=b = c}} d", "a b = c d", []),
    "dash": ("in Berlin{{snd}}the Kingdom", "in Berlin the Kingdom", []),
    "note": ("by Bramantyo,{{sfn|Irwansyah 2011}} who", "by Bramantyo, who", []),
    "unknown with a parameter": ("order {{Arabiyyah|هجائي}} where", "order هجائي where", []),
    "unknown with several": ("at {{gbmapping|a|b}} in", "at  in", []),
    "unknown with a file": ("Berlin ({{sound|De-Berlin.ogg}}) is", "Berlin () is", []),
    "unknown without": ("at 3:55 {{PM}} inside", "at 3:55 PM inside", []),
    "unknown note": ("office{{rf|5}} in", "office in", []),
    "unknown at the start of a line": ("{{hatnote|b}} c", " c", []),
    "unknown at its end": ("a {{b}}\nc", "a \nc", []),
    "nested": ("a {{nowrap|b {{nowrap|[[c]]}} d}} e", "a b c d e", text_links(("c", "c"))),
    "no table within a line": ("a {| b |}", "a {| b |}", []),
    "HTML table": ("a<table><tr><td>[[Foo]]</td></tr></table>b", "ab", aside_links(("Foo", "Foo"))),
    # References and other tags
    "reference": ("a<ref>b [[Foo]]</ref>c", "ac", aside_links(("Foo", "Foo"))),
    "named reference": ('a<ref name="x" group=y>b</ref>c<REF\nname=x>d</Ref >e', "ace", []),
    "reference without content": ('a<ref name="x" />b<ref name=x/>c', "abc", []),
    "reference in a reference": ("a<ref>b<ref>c</ref>d</ref>e", "ade", []),
    "reference never closed": ("a<ref>b [[Foo]]", "ab Foo", text_links(("Foo", "Foo"))),
    "reference closed twice": ("a<ref>b</ref></ref>c", "ac", []),
    "reference with open markup": ("a<ref>{{x [[y</ref>b [[Foo]]", "ab Foo", text_links(("Foo", "Foo"))),
    "braces do not reach out of a reference": ("{{a<ref>}}</ref>}}b", "b", []),
    "reference whose end is in a comment": ("a<ref>b<!-- </ref> -->c [[Foo]]", "ac Foo", text_links(("Foo", "Foo"))),
    "reference whose end is in nowiki": ("a<ref>b<nowiki></ref></nowiki>c", "ac", []),
    "reference in an HTML table": ("<table>a<ref>b</ref>c</table>d", "d", []),
    "list of references": ("a<references/>b<references><ref name=x>c</ref></references>d", "abd", []),
    "mathematics, pictures, code": (
        "a<math>x_1 [[y]]</math>b<gallery>\nX.jpg|[[Foo]]\n</gallery>c<syntaxhighlight lang=c>[[y]]</syntaxhighlight>d", "abcd", []
    ),
    "code never closed": ("a<math>b [[Foo]]", "ab Foo", text_links(("Foo", "Foo"))),
    "formatting": ("a<b>b</b><SMALL class='x'>c</SMALL>H<sub>2</sub>O", "abcH2O", []),
    "tags that break": ("a<br>b<br />c<BR/>d</p>e<div class=x>f</div>", "a b c d e f ", []),
    "unknown tag": ("a<foo>b</foo>c<d", "a<foo>b</foo>c<d", []),
    "less than": ("1<2, a<b and c < d", "1<2, a<b and c < d", []),
    "includeonly": ("a<includeonly>b [[Foo]]</includeonly>c", "ac", []),
    "noinclude": ("a<noinclude>b [[Foo]]s</noinclude>c", "ab Foosc", text_links(("Foo", "Foosc"))),
    # Literal text
    "nowiki": ("<nowiki>[[Foo]] {{bar}} ''x'' __NOTOC__ http://x.org</nowiki>", "[[Foo]] {{bar}} ''x'' __NOTOC__ http://x.org", []),
    "nowiki never closed": ("<nowiki>[[Foo]]", "Foo", text_links(("Foo", "Foo"))),
    "tags in nowiki": ("<nowiki><ref>a</ref> <!-- b --></nowiki>c", "<ref>a</ref> <!-- b -->c", []),
    "entity in nowiki": ("<nowiki>&lt;a&gt; &#8211;\n#b\n;c</nowiki>", "<a> –\n#b\n;c", []),
    "lines in pre": ("<pre>\n* a\n== b ==\n{|\n</pre>", "\n* a\n== b ==\n{|\n", []),
    "control bytes in nowiki": ("a<nowiki>b\x01c\x0e</nowiki>d", "ab c d", []),
    # Comments
    "comment": ("a<!-- b [[Foo]] -->c", "ac", []),
    "comment on its own line": ("a\n<!-- b -->\nc", "a\nc", []),
    "comment that begins a line": ("a\n<!-- b -->c", "a\nc", []),
    "comment never closed": ("a<!-- b [[Foo]]", "a", []),
    "shortest comments": ("a<!---->b<!--->c-->d", "abd", []),
    "comment in a comment": ("a<!-- <!-- -->b", "ab", []),
    # Entities
    "named entity": ("&ndash; &eacute; &Dagger;&dagger; &amp;nbsp;", "– é ‡† &nbsp;", []),
    "no-break space": ("a&nbsp;b&#160;c&thinsp;d", "a b c d", []),
    "numeric entities": ("&#8211; &#x2013; &#X2013; &#128512;", "– – – 😀", []),
    "no entity": ("&foo; & &; &#; &#x; &#xZZ; &#12a; AT&T; &ndash", "&foo; & &; &#; &#x; &#xZZ; &#12a; AT&T; &ndash", []),
    "no character": ("&#0; &#x110000; &#xD800; &#1;b", "&#0; &#x110000;    b", []),
    "an entity does not begin markup": ("&#91;[Foo]] &lt;ref>", "[[Foo]] <ref>", []),
    # Type
    "apostrophe": ("it's", "it's", []),
    "italics": ("''a''", "a", []),
    "bold": ("'''a'''", "a", []),
    "four apostrophes": ("''''a''''", "'a'", []),
    "bold italics": ("'''''a'''''", "a", []),
    "six apostrophes": ("''''''a''''''", "'a'", []),
    "apostrophe before italics": ("l'''Iliade'' d'Homère", "l'Iliade d'Homère", []),
    "apostrophe before italics, after one letter": ("'''La''' ou l'''Iliade'', '''X''' d", "La ou l'Iliade, X d", []),
    "apostrophe before italics, after a word": ("dell'''Arte''", "dell'Arte", []),
    "no apostrophe where type is balanced": ("l'''Iliade''' d", "lIliade d", []),
    "each line by itself": ("l'''Iliade''\nl'''Iliade'''", "l'Iliade\nlIliade", []),
    "type in a link does not count": ("l'''[[Iliade|''I'']]''", "l'I", text_links(("Iliade", "I"))),
    "type in a reference does not count": ("l'''a'''<ref>''b</ref>", "la", []),
    # Lines
    "headings": ("== A ==\n=B=\n===C=== \nd", " A \nB\nC\nd", []),
    "link in a heading": ("== [[Foo]] ==", " Foo ", text_links(("Foo", "Foo"))),
    "equals signs in a heading": ("== a = b ==", " a = b ", []),
    "equals signs in text": ("a = b ==", "a = b ==", []),
    "lists": ("* a\n** b\n# c\n; d : e\n:: f\n*#:g", " a\n b\n c\n d : e\n f\ng", []),
    "stars in text": ("a * b # c", "a * b # c", []),
    "rules": ("a\n----\n-----b\n--- c", "a\n\nb\n--- c", []),
    "magic words": ("__NOTOC__a __NOEDITSECTION__b", "a b", []),
    "underscores": ("a_b __ __c __1__ ___", "a_b __ __c __1__ ___", []),
    # The web
    "external link": ("a [http://x.org/y b c] d", "a b c d", []),
    "external link without a label": ("a [http://x.org] d", "a  d", []),
    "without a scheme": ("[//x.org b]", "b", []),
    "type in a label": ("[https://x.org ''b'']", "b", []),
    "link in a label": ("[http://x.org a [[Foo]] b]c", "a Foo bc", text_links(("Foo", "Foo"))),
    "brackets": ("a [b] [c", "a [b] [c", []),
    "label over the end of a line": ("[http://x.org b\nc] d", "b\nc] d", []),
    "bare address": ("see http://x.org/y?z=1#w now", "see  now", []),
    "bare address and punctuation": ("See http://x.org. It (ftp://y.org/z), is; https://z.org/a_(b).", "See . It (), is; .", []),
    "other schemes": ("a irc://x b abcdefgh://x", "a  b abcdefgh://x", []),
    "colons": ("a: b: //c http: d", "a: b: //c http: d", []),
}  # fmt: skip


@pytest.mark.parametrize(("wikitext", "text", "links"), CASES.values(), ids=CASES.keys())
def test_rule(wikitext: str, text: str, links: Links) -> None:
    page = read(wikitext)
    assert (page.text, page.links) == (text, links)


@pytest.mark.parametrize(
    ("language", "wikitext", "anchor"),
    [
        ("en", "[[a]]büß", "ab"),
        ("de", "[[Stra]]ßenüÄ", "Straßenü"),
        ("fr", "[[a]]Ébß", "aÉb"),
        ("ru", "[[Москв]]а́", "Москва"),
        ("ru", "[[Москв]]ой", "Москвой"),
        ("pl", "[[a]]łŁx1", "ałŁx"),
        ("zh", "[[a]]bc", "a"),
        ("zh-min-nan", "[[a]]bc", "a"),
        ("ca", "[[a]]l'b", "al'b"),
        ("ca", "''[[a]]'' b", "a"),
        ("xx", "[[a]]bcß", "abc"),
    ],
)
def test_trails_of_languages(language: str, wikitext: str, anchor: str) -> None:
    assert read(wikitext, dialect(language)).links == [
        ("Москв" if language == "ru" else "Stra" if "Stra" in wikitext else "a", anchor, True)
    ]


@pytest.mark.parametrize("name", ["Datei", "datei", "File", "Image", "Bild"])
def test_files_by_any_name(name: str) -> None:
    german = dialect("de", {"Datei": 6, "Kategorie": 14, "Benutzer": 2})
    assert read(f"a[[{name}:X.jpg|mini|[[Foo]]]]b", german) == ("ab", aside_links(("Foo", "Foo")))


def test_namespaces_of_the_wiki() -> None:
    german = dialect("de", {"Datei": 6, "Kategorie": 14, "Benutzer Diskussion": 3})
    assert read("a[[Kategorie:X]]b[[Category:Y]]c", german) == ("abc", [])
    assert marks("[[Kategorie:Große  Stadt|x]]", german) == [("category", "große_Stadt")]
    assert read("[[Benutzer_Diskussion:X]]", german) == ("Benutzer_Diskussion:X", [])
    assert read("[[Kategorie:X]]").links == text_links(("Kategorie:X", "Kategorie:X"))  # is a title in English


@pytest.mark.parametrize(
    ("wikitext", "found"),
    [
        ("{{Disambig}}", [("template", "disambig")]),
        ("{{ disambig_page\n|x}}", [("template", "Disambig page")]),
        ("{{a|{{B}}}}{{c}}", [("template", "a"), ("template", "b"), ("template", "c")]),
        ("[[Category:Living people]]", [("category", "living people")]),
        ("[[category: X |y]][[:Category:Z]]", [("category", "x")]),
        ("__DISAMBIG__ __NOTOC__", [("magic", "disambig"), ("magic", "notoc")]),
        ("__消歧义__", [("magic", "消歧义")]),
        ("a __KEIN_INHALTSVERZEICHNIS__", [("magic", "kein inhaltsverzeichnis")]),
        ("<ref>{{a}}</ref>", [("template", "a")]),
        ("<!-- {{a}} --><nowiki>{{b}}__C__</nowiki><includeonly>{{d}}</includeonly>{{e", []),
        ("{<!-- -->{a}} _<!-- -->_B__ [<!-- -->[Category:c]]", [("template", "a"), ("magic", "b"), ("category", "c")]),
    ],
)
def test_marks(wikitext: str, found: list[tuple[str, str]]) -> None:
    assert marks(wikitext) == found


def test_a_template_as_its_users_see_it() -> None:
    page = "<includeonly>{{a}}__B__</includeonly><noinclude>{{c}}</noinclude>"
    assert marks(page) == [("template", "c")]
    assert marks(page, dialect("en", transcluded=True)) == [("template", "a"), ("magic", "b")]


@pytest.mark.parametrize(
    ("wikitext", "begins"),
    [
        ("Foo is.", "Foo is."),
        ("{{Infobox\n|a=b\n}}\n[[File:X.jpg|thumb|c]]\n'''Foo''' is.", "\nFoo is."),
        (":''For another, see [[Bar]].''\n* x\n\n<b>Foo</b> is.", "Foo is."),
        ("{|\n| a\n|}\n<small></small>\n“Foo” is.", "\n“Foo” is."),
        ("== H ==\n(Foo) is.", "(Foo) is."),
        ("* only\n* a list", " only\n a list"),
        ("{{Infobox\n|a=b\n}}'''Foo''' is.", "Foo is."),  # Berliin
        ("<ref>x</ref>'''Foo''' is.", "Foo is."),
        ('<div style="x">\n[[Image:X.jpg]]</div> Foo is.', "  Foo is."),
        ("''For another, see [[Bar]].''\nFoo is.", "Foo is."),
        ("''Foo'' is a film by ''Bar''", "Foo is a film by Bar"),
        ("A caption that leaked.\n\n'''Foo''' is.", "Foo is."),
        ("Foo is.\n\n== H ==\n'''Bar''' is.", "Foo is.\n\n H \nBar is."),
        ("{{lang|ja|'''Foo'''}} is.", "Foo is."),
        # Foreign relations of Ghana, Hacker ethic
        ("Ghana is active.\n\n'''Disputes:'''\nnone", "Ghana is active.\n\nDisputes:\nnone"),
        ("Ghana is active.\n\n'''Disputes''': \nnone", "Ghana is active.\n\nDisputes: \nnone"),
        ("The '''hacker ethic''' is either:\n* the belief", "The hacker ethic is either:\n the belief"),
    ],
)
def test_where_the_first_paragraph_begins(wikitext: str, begins: str) -> None:
    data = wikitext.encode()
    got = scan(data, np.array([0, len(data)]), ENGLISH)
    found = got.text[got.lead[0] :].tobytes().decode()
    assert found.endswith(begins.lstrip("\n"))
    assert found.strip() == begins.strip()


def test_no_name_is_taken_for_another() -> None:
    """Tags, prefixes and entities share one table of hashes."""
    tags = [(name, kind) for kind, names in TAGS.items() for name in names.split()]
    for name, kind in tags:
        shown = {BREAKING: "a b", FORMATTING: "ab", VANISHING: "ab"}
        assert read(f"a<{name}>b").text == shown.get(kind, "ab"), name
        inside = {DROPPED: "ac", ASIDE: "ac", LITERAL: "a''b''c", BREAKING: "a b c"}
        assert read(f"a<{name}>''b''</{name}>c").text == inside.get(kind, "abc"), name
    prefixes = language_prefixes()
    for prefix in prefixes:
        assert read(f"a[[{prefix}:b]]c") == ("ac", []), prefix
    for prefix in SISTERS - prefixes:
        assert read(f"a[[{prefix}:b|d]]c") == ("adc", []), prefix
    for name, point in name2codepoint.items():
        assert read(f"&{name};").text in (chr(point), " "), name
    rules = {name for names in RULES.values() for name in names.split("|")}
    rules |= {f"{kind}-{code}" for kind in ("lang", "ipa") for code in prefixes}
    rules = {name.replace("_", " ") for name in rules}
    spelled = {each.replace("_", " ") for each in Site().words.namespaces.keys() | prefixes | SISTERS}
    assert len(ENGLISH.names.keys) == len(tags) + len(name2codepoint) + 1 + len(spelled) + len(rules)

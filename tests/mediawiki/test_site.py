"""What a dump says of its wiki."""

import json
from pathlib import Path

import pytest

from tests.wikis import dump
from wikilda._core.compression import open_compressed
from wikilda._core.errors import InputError
from wikilda.mediawiki.languages import language, language_prefixes
from wikilda.mediawiki.site import Site, read_site

GERMAN = """\
<?xml version="1.0" encoding="utf-8"?>
<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" xml:lang="de">
  <siteinfo>
    <sitename>Wikipedia</sitename>
    <dbname>dewiki</dbname>
    <base>https://de.wikipedia.org/wiki/Wikipedia:Hauptseite</base>
    <generator>MediaWiki 1.42</generator>
    <case>first-letter</case>
    <namespaces>
      <namespace key="-2" case="first-letter">Medium</namespace>
      <namespace key="0" case="first-letter" />
      <namespace key="2" case="first-letter">Benutzer</namespace>
      <namespace key="3" case="first-letter">Benutzer Diskussion</namespace>
      <namespace key="6" case="first-letter">Datei</namespace>
      <namespace key="14" case="first-letter">Kategorie</namespace>
      <namespace key="100" case="first-letter">Portal &amp; mehr</namespace>
    </namespaces>
  </siteinfo>
  <page><title>Is not looked at</wrong>
"""


def test_a_german_wiki() -> None:
    site = read_site(GERMAN.encode(), "x")
    assert (site.name, site.database, site.language, site.first_letter_case) == ("Wikipedia", "dewiki", "de", True)
    names = site.namespaces
    assert (names["datei"], names["kategorie"], names["benutzer diskussion"], names["medium"]) == (6, 14, 3, -2)
    assert (names["file"], names["image"], names["category"], names["portal & mehr"]) == (6, 6, 14, 100)
    assert "" not in names


def test_other_scripts() -> None:
    head = dump(["<page></page>"], language="ru", namespaces={"Категория": 14, "Обсуждение_файла": 7}).encode()
    site = read_site(head, "x")
    assert (site.language, site.namespaces["категория"], site.namespaces["обсуждение файла"]) == ("ru", 14, 7)


def test_a_case_sensitive_wiki() -> None:
    assert not read_site(dump([], case="case-sensitive").encode(), "x").first_letter_case


def test_two_sites_share_no_namespaces() -> None:
    read_site(GERMAN.encode(), "x")
    assert "datei" not in Site().namespaces


def test_without_siteinfo_there_are_defaults() -> None:
    assert read_site(b"<mediawiki><page>", "x") == Site(namespaces=dict(language("en").namespaces))


def test_a_header_longer_than_what_was_read() -> None:
    assert read_site(GERMAN.encode()[:700], "x").database == "dewiki"


@pytest.mark.parametrize("declared", ["utf-8", "bogus", "shift_jis", "utf-16"])
def test_every_export_is_utf8(declared: str) -> None:
    head = GERMAN.replace('encoding="utf-8"', f'encoding="{declared}"').replace("Datei", "Größe")
    assert read_site(head.encode(), "x").namespaces["größe"] == 6


def test_a_byte_order_mark() -> None:
    assert read_site(b"\xef\xbb\xbf" + GERMAN.encode(), "x").database == "dewiki"


BOMB = (
    '<?xml version="1.0"?><!DOCTYPE mediawiki [<!ENTITY a "aaaaaaaaaa">'
    + "".join(f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(9))
    + "]><mediawiki><siteinfo><sitename>&j;</sitename></siteinfo>"
)


@pytest.mark.parametrize(
    ("head", "said"),
    [
        (BOMB, "has a DOCTYPE"),
        ('<!DOCTYPE x SYSTEM "file:///etc/passwd"><mediawiki>', "has a DOCTYPE"),
        ("<html><mediawiki/></html>", "the root element is <html>, not <mediawiki>"),
        ("Just text.", "line 1, column 0: syntax error; not a MediaWiki XML export"),
        ("<mediawiki><siteinfo></sitename>", "mismatched tag"),
        ("<mediawiki><siteinfo><sitename>&nope;</sitename>", "undefined entity"),
        ("<mediawiki><siteinfo><sitename>\xff", "not well-formed"),
        ("\x00\x01\x02", "not a MediaWiki XML export"),
        ('<?xml version="1.0"?>\n', "has no <mediawiki>"),
        ("<mediawiki><namespace key='six'>File</namespace>", "a <namespace> has a key that is not a number"),
        ("<mediawiki><namespace key=''>File</namespace><namespace key='x6'>Y</namespace>", "is not a number"),
    ],
)
def test_what_is_refused(head: str, said: str) -> None:
    with pytest.raises(InputError) as raised:
        read_site(head.encode("latin-1"), "dumps/x.xml")
    assert str(raised.value).startswith("dumps/x.xml: ")
    assert said in str(raised.value)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf16_is_named(encoding: str) -> None:
    with pytest.raises(InputError, match=r"x: is in UTF-16; .*iconv"):
        read_site(GERMAN.encode(encoding), "x")


def test_addresses() -> None:
    site = read_site(GERMAN.encode(), "x")
    assert site.url("Zürich (Stadt)") == "https://de.wikipedia.org/wiki/Z%C3%BCrich_(Stadt)"
    assert site.url("AC/DC?") == "https://de.wikipedia.org/wiki/AC/DC%3F"
    assert Site().url("X") == ""


def test_languages() -> None:
    assert language("de").trail.endswith("ß")
    assert language("de").namespaces["bild"] == language().namespaces["file"] == 6
    assert "weiterleitung" in language("de").redirect
    assert language("zh-min-nan").trail == language("zh").trail == ""
    assert language("zh").namespaces["分类"] == language("zh").namespaces["分類"] == 14
    assert language("xx") == language() == language("nowhere", "")
    assert language("xx", "de-at") == language("de")
    assert language("nb") == language("no")
    assert "disambiguacion" in language("es").disambiguation
    assert {"be-x-old", "be_x_old", "zgh", "nds-nl"} <= language_prefixes()


def test_all_that_configurations_tell_is_known(data: Path) -> None:
    """Namespaces, redirects and language prefixes of every Wikipedia."""
    with open_compressed(data / "wikis" / "configurations.jsonl.xz") as lines:
        wikis = [json.loads(line) for line in lines]
    assert len(wikis) > 300
    for wiki in wikis:
        if wiki["wiki"] == "mappings":  # a tool's
            continue
        words = language(wiki["wiki"])
        for number, name, *_ in (*wiki["namespaces"], *wiki["aliases"]):
            assert not name or name.lower() in words.namespaces, (wiki["wiki"], number, name)
        assert {word.lower().strip("#:") for word in wiki["magic_words"]["redirect"]} <= set(words.redirect)
        assert set(wiki["language_prefixes"]) <= language_prefixes()

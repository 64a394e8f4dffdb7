"""Words of wikis: namespaces, redirects, disambiguation pages, lists, letters that trail a link.

`wikis.jsonl` has the wikis' configurations; `scripts/wiki_words.py` writes it. Templates and categories of
disambiguation pages, titles of lists and link trails are not in configurations and are tabled here. A language that is
missing here still works: disambiguation pages are known by `__DISAMBIG__`, by the templates of the dump or by `page_props`, and
every entry can be set.
"""

# ruff: noqa: E501, SIM905 (tables, not code)

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Any


@dataclass(frozen=True)
class Language:
    """The words of one language; templates, categories and title patterns in lower case."""

    disambiguation_templates: tuple[str, ...] = ()
    disambiguation_categories: tuple[str, ...] = ()
    disambiguation_suffixes: tuple[str, ...] = ()
    list_prefixes: tuple[str, ...] = ()
    trail: str = "abcdefghijklmnopqrstuvwxyz"
    maintenance: str = ""  # a regular expression for names of maintenance categories
    # From the configurations:
    namespaces: Mapping[str, int] = field(default_factory=dict)
    redirect: tuple[str, ...] = ()
    disambiguation: tuple[str, ...] = ()  # magic words


_AZ = "abcdefghijklmnopqrstuvwxyz"
_CYRILLIC = "абвгдеёжзийклмнопрстуфхцчшщъыьэюя"
_ENGLISH = Language(
    disambiguation_templates=(
        "disambig", "disambiguation", "disambiguation page", "dab", "disamb", "hndis", "geodis", "hospitaldis",
        "schooldis", "numberdis", "mathdab", "roaddis", "tla", "lnd", "2cc", "3cc", "4cc", "2la", "3la", "4la", "5la",
        "human name disambiguation", "place name disambiguation", "letter-number combination disambiguation",
    ),
    disambiguation_categories=("disambiguation", "disambiguation pages", "all disambiguation pages", "ship disambiguation",
        "all article disambiguation pages", "human name disambiguation pages", "place name disambiguation pages",
        "educational institution disambiguation", "disambiguation pages with short description"),
    disambiguation_suffixes=("(disambiguation)",),
    list_prefixes=("list of ", "lists of ", "index of ", "outline of "),
    maintenance=r"^wikipedia |^(all )?(articles|pages|accuracy disputes|cleanup|redirects)\b|\bstubs?$|^(cs1|use) |\bdisambiguation\b",
)  # fmt: skip

LANGUAGES: dict[str, Language] = {
    "en": _ENGLISH,
    "simple": _ENGLISH,
    "de": Language(("begriffsklärung", "bks"), ("begriffsklärung",), ("(begriffsklärung)",), ("liste ",), _AZ + "äöüß"
    ),
    "fr": Language(("homonymie", "paronymie", "patronymie", "toponymie"), ("homonymie",), ("(homonymie)",),
        ("liste ",), _AZ + "àâçéèêîôûäëïöüùÇÉÂÊÎÔÛÄËÏÖÜÀÈÙ",
    ),
    "es": Language(("desambiguación", "desambig"), ("wikipedia:desambiguación",), ("(desambiguación)",),
        ("lista de ", "anexo:"), _AZ + "áéíóúñ"),
    "it": Language(("disambigua", "disambiguazione"), ("pagine di disambiguazione",), ("(disambigua)",),
        ("lista di ", "lista dei ", "lista delle "), _AZ + "àéèíîìóòúù"),
    "pt": Language(("desambiguação", "desambig"), ("desambiguação",), ("(desambiguação)",),
        ("lista de ", "anexo:lista"), _AZ + "áâãàéêẽçíòóôõq̃úüűũ"),
    "nl": Language(("dp", "doorverwijspagina", "dpintro"), ("wikipedia:doorverwijspagina",),
        ("(doorverwijspagina)",), ("lijst van ",), _AZ + "äöüïëéèà"),
    "pl": Language(("ujednoznacznienie", "disambig"), ("strony ujednoznaczniające",),
        ("(ujednoznacznienie)",), ("lista ",), _AZ + "ęóąśłżźćńĘÓĄŚŁŻŹĆŃ"),
    "sv": Language(("förgrening", "gren", "grensida"), ("förgreningssidor",), ("(olika betydelser)",),
        ("lista över ",), _AZ + "åäöéÅÄÖÉ"),
    "da": Language(("flertydig",), ("flertydige titler",), ("(flertydig)",), ("liste over ",), _AZ + "æøå"),
    "no": Language(("peker", "flertydig"), ("pekere",), ("(andre betydninger)",), ("liste over ",), _AZ + "æøå"),
    "fi": Language(("täsmennyssivu",), ("täsmennyssivut",), ("(täsmennyssivu)",), ("luettelo ",), _AZ + "äö"),
    "cs": Language(("rozcestník", "příjmení"), ("rozcestníky",), ("(rozcestník)",), ("seznam ",), _AZ + "áčďéěíňóřšťúůýž"),
    "hu": Language(("egyért",), ("egyértelműsítő lapok",), ("(egyértelműsítő lap)",), (), _AZ + "áéíóúöüőűÁÉÍÓÚÖÜŐŰ"),
    "ro": Language(("dezambiguizare",), ("dezambiguizare",), ("(dezambiguizare)",), ("listă de ", "lista "), _AZ + "ăâîşţșț"),
    "tr": Language(("anlam ayrımı",), ("anlam ayrımı sayfaları",), ("(anlam ayrımı)",), (), _AZ + "çğıöşüÇĞİÖŞÜ"),
    "ru": Language(("неоднозначность", "disambig", "однофамильцы"),
        ("страницы значений", "многозначные термины"), ("(значения)",), ("список ",), _AZ + _CYRILLIC),
    "uk": Language(("неоднозначність", "disambig"), ("багатозначні терміни",), ("(значення)",), ("список ",),
        _AZ + "абвгґдеєжзиіїйклмнопрстуфхцчшщьюя"),
    "el": Language(("αποσαφήνιση",), ("αποσαφήνιση",), ("(αποσαφήνιση)",), ("κατάλογος ",),
        _AZ + "αβγδεζηθικλμνξοπρστυφχψωςάέήίόύώϊϋ"),
    "ar": Language(("توضيح",), ("صفحات توضيح",), ("(توضيح)",), ("قائمة ",), _AZ + "ءابتثجحخدذرزسشصضطظعغفقكلمنهوي"),
    "he": Language(("פירושונים",), ("פירושונים",), ("(פירושונים)",), ("רשימת ",), _AZ + "אבגדהוזחטיכךלמםנןסעפףצץקרשת"),
    "fa": Language(("ابهام‌زدایی",), ("صفحه‌های ابهام‌زدایی",), ("(ابهام‌زدایی)",), ("فهرست ",),
        _AZ + "ابپتثجچحخدذرزژسشصضطظعغفقکگلمنوهیآ"),
    "ja": Language(("aimai", "曖昧さ回避"), ("曖昧さ回避",), ("(曖昧さ回避)",), (), _AZ),
    "zh": Language(("disambig", "消歧义", "消歧義"), ("消歧义", "消歧義"), ("(消歧义)", "(消歧義)"), (), ""),
    "ko": Language(("동음이의",), ("동음이의어 문서",), ("(동음이의)",), (), _AZ),
    "vi": Language(("định hướng", "trang định hướng"), ("trang định hướng",), ("(định hướng)",), ("danh sách ",), _AZ + "àâçéèêîôûäëïöüùÇÉÂÊÎÔÛÄËÏÖÜÀÈÙ"),
    "id": Language(("disambig", "disambiguasi"), ("disambiguasi",), ("(disambiguasi)",), ("daftar ",), _AZ),
    "ca": Language(("desambiguació",), ("pàgines de desambiguació",), ("(desambiguació)",), ("llista de ", "llista d'"), _AZ + "àèéíòóúç·ïü'"),
    "eu": Language(("argipen",), ("argipen orriak",), ("(argipena)",), ("zerrenda",), _AZ),
    "eo": Language(("apartigilo",), ("apartigiloj",), ("(apartigilo)",), ("listo de ",), _AZ + "ĉĝĥĵŝŭ"),
    "la": Language(("discretiva",), ("paginae discretivae",), ("(discretiva)",), ("index ",), _AZ),
}  # fmt: skip

# Prefixes of links to other wikis: the sister projects, and every Wikipedia's language code.
SISTERS = frozenset(
    "w wikipedia wikt wiktionary b wikibooks n wikinews q wikiquote s wikisource v wikiversity voy wikivoyage c commons "
    "d wikidata m meta metawikipedia mw mediawikiwiki species wikispecies incubator foundation wmf phab phabricator "
    "bugzilla toollabs doi google imdbname imdbtitle rfc pmid oeis arxiv acronym".split()
)
# Codes that links use, but no wiki any more.
_OLD_CODES = "be_x_old cz dk jp minnan zh-cfr tokipona tlh ru-sib nan nb zh-sg zh-hk zh-mo sr-ec sr-el".split()

# Wikis whose language code differs from their address.
_ADDRESSES = {
    "nb": "no", "gsw": "als", "yue": "zh-yue", "nan": "zh-min-nan", "lzh": "zh-classical", "sgs": "bat-smg",
    "vro": "fiu-vro", "rup": "roa-rup", "egl": "eml", "be-x-old": "be",
}  # fmt: skip


@cache
def _table() -> dict[str, dict[str, Any]]:
    lines = files(__package__).joinpath("wikis.jsonl").read_text("utf-8").split("\n")
    return {row["wiki"]: row for row in map(json.loads, filter(None, lines))}


@cache
def language_prefixes() -> frozenset[str]:
    """Return the prefixes of links to the same article in other languages."""
    known = [*_table()[""]["language_prefixes"], *_OLD_CODES]
    return frozenset(each for code in known for each in (code, code.replace("-", "_")))


@cache
def language(*codes: str) -> Language:
    """Return the words of the first known code of a wiki (`de`, `zh-yue`) or language, else the common words."""
    tried = [each for code in codes for each in (code, _ADDRESSES.get(code, ""), code.split("-")[0]) if each]
    table = _table()
    known = next((each for each in tried if each in table), "")
    rows = [table[""], table[known]]
    names = {name: number for row in rows for name, number in row["namespaces"].items()}
    redirect, unclear = (
        tuple(dict.fromkeys(word for row in rows for word in row.get(kind, ())))
        for kind in ("redirect", "disambiguation")
    )
    written = next((LANGUAGES[each] for each in (known, known.split("-")[0]) if each in LANGUAGES), Language())
    return replace(written, namespaces=names, redirect=redirect, disambiguation=unclear)

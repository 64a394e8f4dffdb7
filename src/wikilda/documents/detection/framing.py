"""Short lists of words that frame names, by language: calendar words, honorifics, titles of offices.

They are priors: a name of the knowledge that has such a word (`Black Friday`, `Queen Victoria`) stays whole. Languages
that are missing rely on the wiki's evidence.
"""

import re
from functools import cache

import numpy as np
from numpy.typing import NDArray

from wikilda._core.arrays import HashTable, table_of
from wikilda.knowledge import Knowledge
from wikilda.text.offsets import Spans
from wikilda.text.tokens import FLAGS, token_hashes

CALENDAR, HONORIFIC, OFFICE, PARTICLE, PURPOSE, ARTICLE = 1, 2, 3, 4, 5, 6
_LONGEST = 20  # characters of a word that frames a name, and spaces

# Small words that join two words of a name in any language: Bank of America, Vincent van Gogh, Marks & Spencer.
_SMALL = "of de da do di du y e la le el al af av van von der den del della dos das des den ter ten bin ibn &"
PARTICLES = frozenset(_SMALL.split())
# Small words that do so after a common noun, the second kind after another small word: House of the Dead.
_PURPOSES, _ARTICLES = "for für pour para per voor för", "the"
SMALL_WORDS = PARTICLES.union(_PURPOSES.split(), _ARTICLES.split())

# Languages that write all nouns with a capital, so that one says little of a single word.
CAPITAL_NOUNS = frozenset({"de", "bar", "als", "gsw", "ksh", "lb", "nds", "pdc", "pfl", "stq"})

_CALENDAR = {
    "en": "monday tuesday wednesday thursday friday saturday sunday tues thur thurs january "
    "february march april may june july august september october november december feb apr aug sept oct nov dec "
    "mondays tuesdays wednesdays thursdays fridays saturdays sundays",
    "de": "montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag januar jänner februar märz april mai "
    "juni juli august september oktober november dezember",
    "fr": "lundi mardi mercredi jeudi vendredi samedi dimanche janvier février mars avril mai juin juillet août "
    "septembre octobre novembre décembre",
    "es": "lunes martes miércoles jueves viernes sábado domingo enero febrero marzo abril mayo junio julio agosto "
    "septiembre setiembre octubre noviembre diciembre",
    "it": "lunedì martedì mercoledì giovedì venerdì sabato domenica gennaio febbraio marzo aprile maggio giugno luglio "
    "agosto settembre ottobre novembre dicembre",
    "pt": "segunda terça quarta quinta sexta sábado domingo janeiro fevereiro março abril maio junho julho agosto "
    "setembro outubro novembro dezembro",
    "nl": "maandag dinsdag woensdag donderdag vrijdag zaterdag zondag januari februari maart april mei juni juli "
    "augustus september oktober november december",
    "nds-nl": "moandag maandag maondag dinsdag woensdag goonsdag donderdag vrijdag zaoterdag zoaterdag zundag zöndag "
    "jannewaori feberwaori meert april mei juni juli augustus september oktober november december",
    "sv": "måndag tisdag onsdag torsdag fredag lördag söndag januari februari mars april maj juni juli augusti "
    "september "
    "oktober november december",
    "da": "mandag tirsdag onsdag torsdag fredag lørdag søndag januar februar marts april maj juni juli august "
    "september "
    "oktober november december",
    "no": "mandag tirsdag onsdag torsdag fredag lørdag søndag januar februar mars april mai juni juli august september "
    "oktober november desember",
    "pl": "poniedziałek wtorek środa czwartek piątek sobota niedziela styczeń luty marzec kwiecień maj czerwiec lipiec "
    "sierpień wrzesień październik listopad grudzień",
    "ru": "понедельник вторник среда четверг пятница суббота воскресенье января февраля марта апреля мая июня июля "
    "августа сентября октября ноября декабря",
    "tr": "pazartesi salı çarşamba perşembe cuma cumartesi pazar ocak şubat mart nisan mayıs haziran temmuz ağustos "
    "eylül ekim kasım aralık",
    "id": "senin selasa rabu kamis jumat sabtu minggu januari februari maret april mei juni juli agustus september "
    "oktober november desember",
    "min": "sanin salasa raba kamih jumaik sabtu akaik januari februari maret april mei juni juli agustus september "
    "oktober november desember",
}
_HONORIFICS = {
    "en": "mr mrs ms miss messrs mister dr prof professor sir dame lord lady baroness baron rev reverend rt hon sen "
    "rep "
    "gov col gen lt sgt capt cmdr adm maj lords madam",
    "de": "herr herrn frau dr prof professor fräulein",
    "fr": "m mm mme mlle mmes monsieur madame mademoiselle dr pr maître",
    "es": "sr sra srta señor señora señorita don doña dr dra",
    "it": "sig signor signora dott dottor dottoressa prof professor",
    "pt": "sr sra senhor senhora dom dona dr dra",
    "nl": "dhr mevr mw meneer mevrouw dr prof heer",
    "nds-nl": "dhr mevr mw meneer mevrouw dr prof heer",
    "sv": "herr fru fröken dr prof",
    "da": "hr fru frk dr prof",
    "no": "hr fru frk dr prof",
    "pl": "pan pani panna dr prof",
    "ru": "г господин госпожа",
    "tr": "bay bayan sayın dr prof",
    "id": "bapak ibu pak bu tuan nyonya haji dr prof",
    "min": "bapak ibu pak bu tuan buya tuanku haji dr prof",
}
_OFFICES = {
    "en": "president prime minister ministers chancellor secretary senator congressman congresswoman governor "
    "mayor "
    "king queen prince princess duke duchess emperor pope cardinal archbishop bishop colonel "
    "captain lieutenant sergeant admiral commander inspector detective constable chairman chairwoman "
    "director manager coach skipper striker goalkeeper midfielder defender spokesman spokeswoman judge justice "
    "attorney "
    "ambassador commissioner mp mps councillor actor actress director producer singer",
    "de": "präsident präsidentin bundespräsident bundeskanzler bundeskanzlerin kanzler kanzlerin minister ministerin "
    "könig königin kaiser papst bischof bürgermeister oberbürgermeister trainer chef",
    "fr": "président présidente premier ministre roi reine empereur pape évêque maire",
    "es": "presidente presidenta primer ministro rey reina emperador papa obispo alcalde",
    "it": "presidente primo ministro re regina imperatore papa vescovo sindaco",
    "pt": "presidente primeiro ministro rei rainha imperador papa bispo prefeito",
    "nl": "president premier minister koning koningin keizer paus bisschop burgemeester",
    "nds-nl": "president premier minister keuning keuningin keizer paus bisschop burgemeister",
    "id": "presiden menteri perdana gubernur bupati raja ratu walikota jenderal",
    "min": "presiden menteri perdana gubernur bupati walikota jenderal",
}  # fmt: skip


def language_of(knowledge: Knowledge) -> str:
    """Return the language of the knowledge; if it does not say, the one whose calendar its articles have most often."""
    if knowledge.site.language:
        return knowledge.site.language

    def often(language: str) -> int:
        words = (knowledge.word_strings.find(word) for word in _CALENDAR[language].split())
        return sum(int(knowledge.word_totals[word]) for word in words if word >= 0)

    return max(_CALENDAR, key=often)  # of equals the first, English


def words_before(text: str, spans: Spans) -> list[str]:
    """Return the word that is directly before each span, without a full stop; empty if there is none."""
    return [_word_before(text, start) for start, _ in spans]


def titled(before: list[str], language: str) -> NDArray[np.bool_]:
    """Return which of the words before spans are honorifics or offices: `Mr Brown`, `President Obama`."""
    words = _titles(language)
    return np.fromiter((each.lower() in words for each in before), np.bool_, len(before))


def capitalised(strings: list[str], before: list[str], language: str) -> NDArray[np.bool_]:
    """Return which strings have a capital that says something: their first letter, after a word in lower case.

    Not the letters of acronyms, and none in a language that writes all nouns with a capital.
    """
    if language in CAPITAL_NOUNS:
        return np.zeros(len(strings), np.bool_)
    found = (
        word.islower() and name[:1].isupper() and not name.isupper()
        for name, word in zip(strings, before, strict=True)
    )  # fmt: skip
    return np.fromiter(found, np.bool_, len(strings))


def _word_before(text: str, place: int) -> str:
    if place == 0 or not text[place - 1].isspace():
        return ""
    before = text[max(place - _LONGEST, 0) : place].split()
    return before[-1].rstrip(".").lstrip("\"'(“‘«") if before else ""


@cache
def _titles(language: str) -> frozenset[str]:
    return frozenset(f"{_HONORIFICS.get(language, '')} {_OFFICES.get(language, '')}".split())


_HANDLE = re.compile(r"(?<![\w@#])([@#])(\w+)(?![.@]\w)")
_CAMEL = re.compile(r"[^\W\d_]?[^\W\d_A-Z]+|[A-Z]+(?![a-z])|\d+")


def handles(text: str) -> Spans:
    """Return the spans of names after `@`, and of those after `#` that have a capital."""
    found = _HANDLE.finditer(text)
    return [each.span(2) for each in found if each.group(1) == "@" or each.group(2) != each.group(2).lower()]


def words_of_handle(handle: str) -> str:
    """Return the words of a name after `@` or `#`: `Bill Gates` for `BillGates`."""
    return " ".join(_CAMEL.findall(handle.replace("_", " "))) or handle


def is_titled(name: str) -> bool:
    """Return whether a name of several words begins with an honorific or an office, in any language."""
    first, _, rest = name.partition(" ")
    return bool(rest) and first.lower().rstrip(".") in _all_titles()


@cache
def _all_titles() -> frozenset[str]:
    return frozenset(word for words in (*_HONORIFICS.values(), *_OFFICES.values()) for word in words.split())


@cache
def frames(language: str) -> HashTable:
    """Return the kinds of words that frame names in a language, by their hashes."""
    lists = [(PARTICLE, _SMALL), (PURPOSE, _PURPOSES), (ARTICLE, _ARTICLES)]
    for kind, by_language in ((OFFICE, _OFFICES), (HONORIFIC, _HONORIFICS), (CALENDAR, _CALENDAR)):
        lists.append((kind, by_language.get(language, "")))
    kinds = {int(token_hashes(word)[0] & ~FLAGS): kind for kind, words in lists for word in words.split()}
    keys = np.array(sorted(kinds), np.uint64)
    table = table_of(keys)
    filled = table.values >= 0
    table.values[filled] = np.array([kinds[int(key)] for key in keys], np.int32)[table.values[filled]]
    return table

"""The first sentence of an article, which serves as the topic's description."""

# ruff: noqa: SIM905 (tables)

import re

LONGEST = 400
_MOSTLY, _AHEAD = 300, 20
_FULL_STOPS = "。।॥！？։۔።။؟។᠃｡"  # end a sentence wherever they are
_STOP = re.compile(rf"[.!?{_FULL_STOPS}]+")
_OPEN, _CLOSE = "([{（［【〔「『«„", ")]}）］】〕」』»“"
_BRACKET = re.compile(f"[{re.escape(_OPEN + _CLOSE)}]")
_AFTER = re.compile(r"""["'»”’)\]）］】」』]*(?:\s+|$)""")
_BEGINNING = re.compile(r"""(?:['’][a-z]\s)?["'«“„(\[¡¿]*(\w)""")  # of the next sentence, as in `'t Is`
_OPENED = re.compile(r"[(\[（［]")
_EMPTY = re.compile(r"[(\[（［]\s*(?:[;,:–—/.-]\s*|\b(?:or|und|ou|o|и)\b\s*)*[)\]）］]")
_HOLE = re.compile(r"([(\[（［])[\s;,:、–—-]+(?=[^\s\d])")
_AT_NOTHING = re.compile(r" (?:at|near|from|of|by) (?=[,;])")  # the space marks a removed template
_BEFORE_CLOSE = re.compile(r"[\s;,:、]+(?=[)\]）］])")
_COMMAS = re.compile(r"([,;:،、])(?:\s*[,;،、])+")
_BEFORE_DASH = re.compile(r"[,;،、] ?(?=[–—] )")
_BEFORE_STOP = re.compile(r"[,;:،]+ ?(?=[.!?](?: |$))")
_ENDS = tuple(".:;!?") + tuple(_FULL_STOPS)
_BEFORE_MARK = re.compile(r" ([,.;:)!?،؛])")
_LAST_WORD = re.compile(r"[^\s\W_][^\s.,;:()\[\]/–—]*$")
_ROMAN = re.compile(r"[IVXLC]+")
_ORDINALS = frozenset(
    "de als bar nds lb hsb dsb da no nb nn is fo fi et cs sk sl hr bs sr sh hu pl tr lv eu la".split()
)
_ABBREVIATIONS = frozenset(
    "inc corp co ltd bros llc plc cie gmbh gen col capt cpt lt sgt maj adm rev hon prof sen gov pres rep supt "
    "messrs mme mlle mrs mr ms dr dra sr sra srta jr st ste sts mt ft ed eds vs approx ca cca circa etc al fl "
    "née esp geb gest bzw sog jh jhd jhdt evtl inkl zzt usw vgl griech lat latein engl frz franz russ poln "
    "tschech arab hebr ital span niederl althochdt mhd ahd gr angl arm av apr env hist lit dial born dec jan feb "
    "febr mar apr aug sept sep oct okt nov dez dic ang niem łac ros fr hiszp wł ur zm im ks św gw woj pow nar "
    "zem něm angl slov maď rus čes pol tzv např kb stb ún pl snd srn u umb nn esim engl ruots saks ven mm ns "
    "noin kr bl a.k.a г гг в вв н э т им род ум ок англ нем лат фр исп рус греч др тыс млн млрд км пос дер обл р "
    "оз ул нар св див укр пол біл αγγλ λατ π μ χ βλ δηλ".split()
)


def first_sentence(lead: str, language: str = "") -> str:
    """Return the first sentence of a text, without the holes of removed templates."""
    paragraph = _paragraph(lead.split("\n"))
    if len(paragraph) > _MOSTLY:  # most sentences are shorter than their paragraphs
        clean = _mended(paragraph[:_MOSTLY])
        end = _end(clean, language)
        if 0 < end < len(clean) - _AHEAD and not _is_open(clean[:end]):
            return _cut(clean[:end])
    clean = _mended(paragraph[: LONGEST + 200])  # more would be cut off
    end = _end(clean, language)
    return _cut(clean[:end] if end > 0 else clean)


def _paragraph(lines: list[str]) -> str:
    """Return the first line that is long enough, with the lines that continue its sentence."""
    first = next((at for at, line in enumerate(lines) if len(line.strip()) > 20), 0)
    paragraph = lines[first]
    for line in lines[first + 1 :]:
        if paragraph.rstrip()[-1:] in _ENDS or not (line[:1].islower() or line.startswith(("(", ","))):
            break
        paragraph = f"{paragraph} {line}"  # a line break within a sentence
    return paragraph


def _end(clean: str, language: str) -> int:
    """Return the end of the first sentence; 0 if there is none."""
    parentheses = _parentheses(clean)
    for stop in _STOP.finditer(clean):
        # A stop in parentheses does not end a sentence, unless it is their last character.
        if any(start < stop.start() < end - (stop.end() == end) for start, end in parentheses):
            continue
        if stop.group()[-1] in _FULL_STOPS:
            return stop.end()
        following = _AFTER.match(clean, stop.end())
        if following is not None and not _goes_on(clean, stop, following.end(), language):
            return following.end()
    return 0


def _mended(text: str) -> str:
    text = " ".join(text.split())
    if _OPENED.search(text):
        text = _EMPTY.sub("", _BEFORE_CLOSE.sub("", _HOLE.sub(r"\1", _EMPTY.sub("", text))))
    text = _BEFORE_DASH.sub(" ", _COMMAS.sub(r"\1", _AT_NOTHING.sub("", text)))
    return _BEFORE_MARK.sub(r"\1", _BEFORE_STOP.sub("", text).replace("  ", " ")).strip(" ,;:")


def _is_open(text: str) -> bool:
    """Whether a parenthesis is open that the rest of the text may close."""
    return sum(map(text.count, _OPEN)) > sum(map(text.count, _CLOSE))


def _cut(sentence: str) -> str:
    sentence = sentence.strip()
    if len(sentence) <= LONGEST:
        return sentence
    return (sentence[: LONGEST - 1].rpartition(" ")[0] or sentence[: LONGEST - 1]) + "…"


def _parentheses(text: str) -> list[tuple[int, int]]:
    """Return the spans of parentheses. Unclosed ones are ignored."""
    spans: list[tuple[int, int]] = []
    opened: list[tuple[int, str]] = []
    for found in _BRACKET.finditer(text):
        character = found.group()
        if character in _OPEN:
            opened.append((found.start(), _CLOSE[_OPEN.index(character)]))
        elif opened and character == opened[-1][1]:
            spans.append((opened.pop()[0], found.start()))
    return spans


def _goes_on(text: str, stop: "re.Match[str]", after: int, language: str) -> bool:
    """Whether the sentence goes on after a stop: in lower case, with a number, or because of what comes before."""
    if after >= len(text):
        return False
    beginning = _BEGINNING.match(text, after)
    if beginning is None:
        return True
    first = beginning.group(1)
    if first.islower() and not "ა" <= first <= "ჿ":  # Georgian has upper case, but does not begin sentences with it
        return True
    return stop.group() == "." and _is_abbreviation(text, stop.start(), language, before_number=first.isdigit())


def _is_abbreviation(text: str, stop: int, language: str, *, before_number: bool) -> bool:
    """Whether a full stop belongs to an ordinal, an initial or an abbreviation (`* 1.`, `H. W.`, `St.`, `i.e.`)."""
    word = _LAST_WORD.search(text, 0, stop)
    if word is None:
        return False
    letters = word.group()
    if letters.isdigit():
        return len(letters) <= 2 or before_number
    if _ROMAN.fullmatch(letters):
        return len(letters) == 1 or language in _ORDINALS
    dotted = word.start() > 0 and text[word.start() - 1] == "." and len(letters) <= 3
    short = len(letters) <= 2 and letters[0].isupper() and not letters.isupper()
    return (
        len(letters) == 1
        or dotted
        or short
        or (before_number and len(letters) < 4 and letters[0].lower() != letters[0].upper())
        or letters.lower() in _ABBREVIATIONS
    )

"""Inline templates: what a reader sees of them in a sentence.

Most templates are boxes, notes and maintenance, and are set aside. Those in `RULES` show some of their parameters, in
any wiki. One that is unknown and stands in a sentence, with a space or a parenthesis before it, shows its only parameter
(`Hejā'ī {{Arabiyyah|هجائي}}`) or, if it has none, its name (`at 3:55 {{PM}} inside`); attached to the word before it, it
is a note (`by Bramantyo,{{sfn|Irwansyah 2011}}`) and shows nothing.
"""

# ruff: noqa: E501 (a table)

import numpy as np
from numpy.typing import NDArray

from wikilda._core.jit import bare, int64
from wikilda.mediawiki.wikitext._characters import DIGIT_0, DIGIT_1, DIGIT_9, EQUALS, PIPE, SPACE
from wikilda.text.tokens import Bytes

Partners = NDArray[np.int32]

# What is shown: nothing, a space, the 1st or 2nd or last parameter, the 2nd or else the 1st, the first two, the 1st and
# in parentheses the 2nd, all, what follows the colon of a parser function.
HIDE, BLANK, FIRST, SECOND, LAST, SECOND_OR_FIRST, PAIR, GLOSS, ALL, AFTER_COLON = range(1, 11)
MOST_PARAMETERS = 8

RULES = {
    HIDE: "ref|note|fn|rf|mn|an|inote|hnote|ref label|ref_label|note label|ref harvard|sfn|sfnp|efn|harv|harvnb|harvtxt|r|rp|refn|"
    "fact|cn|citeneeded|citation needed|citation required|verify credibility|who|when|which|why|clarify|by whom|dubious|"
    "dead link|millal|year missing|update inline|cite book|cite web|cite journal|cite news|gutenberg|isbn|issn|doi|oclc|"
    "coord|coor d|coor dm|coor dms|coor title dms|flagicon|flagicon image|flaga|прапорець|флагификация|پرچمک|국기그림|drapeau|"
    "icona|es icon|de icon|fr icon|en icon|it icon|ru icon|ja icon|clear|anchor|url|wikicommons|commons|commonscat|"
    "currentyear|currentmonth|currentmonthname|currentday|namespace|sitename|oeis|oeis2c|pdb|icd9|icd10|gr|"
    "pronunciation|prononciation|lausunta|listen|respell|sp|כ|toc|#if|#switch|#expr|#tag|#invoke",
    BLANK: "snd|spnd|spaced ndash|spaced en dash|nbsp|space|spaces|spc|ndash|mdash|dash|–|—|·|•|dot|bullet|nnbsp|thinsp|"
    "zwj|zwnj|zwsp|shy|wbr|br|-|!|*|'|okina|hamza|ayin",
    FIRST: "nowrap|nobr|nobreak|nowraplinks|nb|j|small|smaller|large|larger|big|bigger|smallcaps|sc|smallcaps2|allcaps|"
    "unicode|polytonic|ipa|ipa2|api|api-fr|msapi|fonetik|pie|proto|angbr|angle|grapheme|script|script/hebrew|script/arabic|"
    "sub|sup|su|sic|em|strong|incise|citation|latin|grec|grc|hebr|\"|quote|'\"|as of|circa|c.|ca|née|nee|né|born|"
    "abbr|abbrv|tooltip|explain|hover|vanchor|visible anchor|ill|illm|interlanguage link|ill2|link-interwiki|lien|仮リンク|"
    "link-en|le|enlace|flag|flagcountry|flagu|flagdeco|land|country|iw|trad|нп3|s|s-|s2|sap|siècle|séc|secolo|siglo|segle|"
    "szám|fmtn|ta|m|esd|unit|nts|num|euro|eur|usd|us$|gbp|gbp2|inrconvert|currency|us patent|chem|mvar|wc|date-|"
    "kbd|key|key press|button|mono|code|tt|var|sans-serif|serif|resize|font|noitalic|noitalics|plainlist|ruby-ja|lj|nft",
    SECOND: "audio|audio-nohelp|lang|lang2|langx|langue|lengua|lingua|língua|llang|język|iaith|kieli|color|colour|color text|текст|nihongo4|"
    "ruby|tsl|internetquelle",
    LAST: "val|transl|transliteration|translit|tr|font color|fontcolor|color box|mp|mpl|style|verse translation",
    SECOND_OR_FIRST: "нп|нп2|нп4|нп5|не переведено|не переведено 2|не переведено 3|не переведено 5|iw2|page name link",
    PAIR: "convert|cvt|conversie|convertir|unité|unidad|enhet|unité/2|nombre unité|tmp|heure|time|km|mnm|حول|تحويل|преобразовать|"
    "換算|nombre|frac|fraction|sfrac|dash year|oldstyledate|höhe|number",
    GLOSS: "nihongo|nihongo2|nihongo3|nihongo krt|korean|読み仮名|ruby2|linktext|hangul|chinese",
    ALL: "date|date de naissance|date de décès|dtlink|dni|daton|data|päivä|start date|end date|birth date|birth date and age|"
    "death date|death date and age|bd|ship|hms|uss|ss|gaps|comma separated entries|hlist|kardeş şehir|usc|ussc|bibleverse",
    AFTER_COLON: "formatnum|lc|uc|lcfirst|ucfirst|urlencode|plural|grammar",
}  # fmt: skip


@bare
def positional(source: Bytes, at: int, end: int, partner: Partners, wanted: int) -> tuple[int, int]:
    """Where the positional parameter of a number begins and ends, without white space; (−1, −1) if there is none.

    `at` is the end of the template's name, `end` the first of the closing braces; `1=` names the first.
    """
    number = 0
    while at < end:
        start = at + 1
        equals = -1
        at = start
        while at < end and source[at] != PIPE:
            if source[at] == EQUALS and equals < 0:
                equals = at
            at = max(at + 1, int64(partner[at]))  # over links and templates
        named = _number_before(source, start, equals) if equals >= 0 else 0
        number += equals < 0
        if (equals < 0 and number == wanted) or (named > 0 and named == wanted):
            return _trimmed(source, equals + 1 if named > 0 else start, min(at, end))
    return -1, -1


@bare
def count_positional(source: Bytes, at: int, end: int, partner: Partners) -> int:
    """How many positional parameters a template has, up to the most that are shown."""
    count = 0
    while count < MOST_PARAMETERS and positional(source, at, end, partner, count + 1)[0] >= 0:
        count += 1
    return count


@bare
def _number_before(source: Bytes, start: int, equals: int) -> int:
    start, equals = _trimmed(source, start, equals)
    return int64(source[start]) - DIGIT_0 if equals == start + 1 and DIGIT_1 <= source[start] <= DIGIT_9 else 0


@bare
def _trimmed(source: Bytes, start: int, end: int) -> tuple[int, int]:
    while start < end and source[start] <= SPACE and source[start] != 3:
        start += 1
    while end > start and source[end - 1] <= SPACE and source[end - 1] != 3:
        end -= 1
    return start, end

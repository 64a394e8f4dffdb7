"""The urn, slow and obvious: loops over the definitions in the docstrings of `wikilda.urn`."""

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda.text.characters import LONE, MARK, SPACE, TABLE_SIZE, WORD_PART, characters
from wikilda.text.characters import lower as lower_case

Dense = NDArray[np.float64]
Row = list[tuple[int, float]]  # topics and λ̂

SAME, INITIALS, UNLIKE, PART, NOTED = 1, 2, 4, 8, 16


def candidates(row: Row, most: int) -> dict[int, float]:
    """P(k|v) of the `most` topics with the largest λ̂; of equals, those that come first in the row."""
    total = sum(value for _, value in row)
    best = sorted(range(len(row)), key=lambda at: (-row[at][1], at))[:most]
    return {row[at][0]: row[at][1] / max(total, 1e-300) for at in sorted(best)}


def thinned(links: list[int], hub: int) -> list[int]:
    """Every so manieth entry of a list, so that at most `hub` are left."""
    return links[:: max(math.ceil(len(links) / hub), 1)]


def neighbours(out_links: list[set[int]], in_links: list[set[int]], topic: int, hub: int) -> list[int]:
    """What a topic links to and what links to it."""
    return sorted({*thinned(sorted(out_links[topic]), hub), *thinned(sorted(in_links[topic]), hub)})


def relatedness(out_links: list[set[int]], topics: list[int], links: float, shared: float) -> Dense:
    """R by dense matrices, for a graph without hubs."""
    size = len(out_links)
    directed = np.array([[float(other in out) for other in range(size)] for out in out_links]).reshape(size, size)
    near = np.maximum(directed, directed.T)
    damping = 1.0 / np.log(2.0 + directed.sum(0) + directed.sum(1))
    degrees = np.maximum(near.sum(1), 1.0)
    whole = (links * near + shared * near @ np.diag(damping) @ near) / np.sqrt(np.outer(degrees, degrees))
    np.fill_diagonal(whole, 0.0)
    found: Dense = whole[np.ix_(topics, topics)]
    return found


def shares(rows: list[Row], topics: int) -> Dense:
    """P(k|w): words × topics."""
    table = np.zeros((len(rows), topics))
    for word, row in enumerate(rows):
        total = sum(value for _, value in row)
        for topic, value in row:
            table[word, topic] = value / total if total > 0 else 0.0
    return table


def lengths(rows: list[Row], topics: int) -> Dense:
    """√Σ_w P(k|w)."""
    found: Dense = np.sqrt(shares(rows, topics).sum(0))
    return found


def evidence(words: list[int], rows: list[Row], near: dict[int, list[int]], topics: int, overlap: float) -> list[float]:
    """E of the topics in `near`, given their neighbours: cosines, averaged."""
    document = np.zeros(len(rows))
    for word in set(words):
        document[word] = 1.0 + math.log(words.count(word))
    document /= np.linalg.norm(document) if words else 1.0
    vectors = np.sqrt(shares(rows, topics))
    norms = np.linalg.norm(vectors, axis=0)
    cosines = document @ (vectors / np.where(norms > 0, norms, 1.0))
    found = []
    for topic, others in near.items():
        family = [topic, *others]
        found.append(float(cosines[family].mean() / math.sqrt(1.0 / len(family) + overlap)))
    return found


# Names


def _kind(character: str) -> int:
    return int(characters().kind[ord(character)]) if ord(character) < TABLE_SIZE else MARK


def _tokens(text: str) -> list[tuple[str, bool, bool]]:
    """The tokens of a text in lower case: whether one is a word, and whether it comes after a space."""
    found: list[tuple[str, bool, bool]] = []
    spaced = True
    first = SPACE
    for character in text.encode("utf-8", "replace").decode():
        kind = _kind(character)
        if kind == SPACE:
            spaced = True
            if character == "\n" and found and found[-1][0] != "\n":
                found.append(("\n", False, False))
        elif not spaced and (kind == MARK or (kind == WORD_PART and first in (WORD_PART, MARK))):
            found[-1] = (found[-1][0] + character, *found[-1][1:])
        else:
            found.append((character, kind in (WORD_PART, LONE, MARK), spaced))
            first, spaced = kind, False
    return found


def without_note(title: str) -> str:
    """`Mercury` for `Mercury (planet)`; what is nothing but a note stays."""
    before, bracket, _ = title.rpartition(" (")
    inner = title[len(before) + 2 :]
    is_note = bracket and before and inner.endswith(")") and "(" not in inner
    return before if is_note else title


def names(string: str, title: str) -> int:
    """What a title says of a string."""
    own, whole, plain = _tokens(string), _tokens(title), _tokens(without_note(title))
    words = [lower_case(token) for token, _, _ in own]
    kinds = 0
    if own and words in ([lower_case(token) for token, _, _ in tokens] for tokens in (whole, plain)):
        kinds |= SAME
    if _abbreviates(own, plain):
        kinds |= SAME
    letters = [lower_case(each) for each in string if _kind(each) == WORD_PART]
    if len(letters) > 1 and not any(spaced for _, _, spaced in own[1:]):
        initials = [token[0] for token, is_word, _ in plain if is_word]
        large = [each for each in initials if not _small(each)]
        kinds |= INITIALS * (letters in ([lower_case(each) for each in some] for some in (initials, large)))
    kinds = kinds or UNLIKE * (not _alike(own, whole))
    title_words = [lower_case(token) for token, _, _ in plain]
    part = 0 < len(words) < len(title_words) and words in (title_words[: len(words)], title_words[-len(words) :])
    return kinds | PART * part | NOTED * (len(plain) < len(whole))


def _abbreviates(own: list[tuple[str, bool, bool]], title: list[tuple[str, bool, bool]]) -> bool:
    """Whether words are those of a title, of which some are initials, but not the last."""
    words, others = ([lower_case(token) for token, is_word, _ in each if is_word] for each in (own, title))
    pairs = list(zip(words, others, strict=False))
    initials = [word for word, other in pairs if word != other]
    return (
        len(words) == len(others) and bool(initials) and words[-1] == others[-1]
        and all(word == other or (len(word) == 1 and word == other[0]) for word, other in pairs)
    )  # fmt: skip


def capital_chance(title: str, capital: dict[str, int]) -> float:
    """How often texts write a topic with a capital: `capital` has the shares of words, in 255ths."""
    words = [token for token, is_word, _ in _tokens(without_note(title)) if is_word]
    if any(not _small(word[0]) for word in words[1:]) or not words or words[0].lower() not in capital:
        return 1.0
    return max(capital[words[0].lower()], 13) / 255


def _small(character: str) -> bool:
    low = lower_case(character)
    raised = low.upper() if len(low.upper()) == 1 and ord(low) < TABLE_SIZE else low
    return raised not in (character, low)


def _alike(own: list[tuple[str, bool, bool]], title: list[tuple[str, bool, bool]]) -> bool:
    for word in (lower_case(token) for token, is_word, _ in own if is_word):
        for other, is_word in ((lower_case(token), is_word) for token, is_word, _ in title):
            if word == other or (is_word and len(word) >= 4 and len(other) >= 4 and word[:4] == other[:4]):
                return True
    return False


# Longer names


def _keys(string: str, words: list[int], *, short: bool) -> set[object]:
    """What a name is looked for by: the words at its ends; its initials, or itself if it may be initials."""
    parts, letters = string.split(), string.replace(".", "")
    capitals = "".join(part[0] for part in parts if part[0].isupper()) if len(parts) > 1 else ""
    if short:
        initials = letters if 2 <= len(letters) <= 8 and letters.isupper() and letters.isalpha() else ""
    else:
        initials = capitals if len(capitals) > 1 else ""
    return {*words[:1], *words[-1:], *([initials] if initials else [])}


def parents(strings: list[str], places: list[int], folded: dict[str, list[int]]) -> list[list[tuple[int, bool]]]:
    """By mention, which longer names it is short for, the nearest first, and whether as a surname.

    Looked at are the last three names that were met with each of its keys, of a name the last mention.
    """
    found = _before(strings, places, folded, list(range(len(strings))))
    after = _before(strings, places, folded, list(range(len(strings)))[::-1])
    chosen = [found[token] or after[token][:1] for token in range(len(strings))]
    return [[(at, _is_surname(strings[token], strings[at], folded)) for at in row] for token, row in enumerate(chosen)]


def _before(strings: list[str], places: list[int], folded: dict[str, list[int]], order: list[int]) -> list[list[int]]:
    found: list[list[int]] = [[] for _ in strings]
    for step, token in enumerate(order):
        name = folded[strings[token]]
        near: dict[str, int] = {}
        for key in _keys(strings[token], name, short=True):
            met: list[int] = []
            for other in reversed(order[:step]):
                longer = folded[strings[other]]
                has = len(longer) > 1 and key in _keys(strings[other], longer, short=False)
                if has and all(strings[at] != strings[other] for at in met):
                    met.append(other)
            near |= {strings[at]: at for at in met[:3]}
        fitting = [at for at in near.values() if _is_parent(strings[token], strings[at], folded)]
        apart = [at for at in fitting if not 0 <= places[token] - places[at] < _size(strings[at], folded)]
        found[token] = sorted(apart, key=lambda at: abs(at - token))[:3]
    return found


def _is_parent(string: str, other: str, folded: dict[str, list[int]]) -> bool:
    name, longer = folded[string], folded[other]
    if not 0 < len(name) < len(longer):
        return False
    if name in (longer[: len(name)], longer[-len(name) :]):
        return True
    texts = {each for each in _keys(string, [], short=True) & _keys(other, [], short=False) if isinstance(each, str)}
    return len(name) == 1 and bool(texts)


def _is_surname(string: str, parent: str, folded: dict[str, list[int]]) -> bool:
    begins = folded[parent][: len(folded[string])] == folded[string]
    return not begins and not any(part[0].islower() for part in parent.split())


class Sense(NamedTuple):
    """What a string means for the most part: its topic, the share and the number of its links, and how it is titled."""

    topic: int
    share: float
    links: float
    is_title: bool
    is_person: bool
    is_body: bool


def antecedents(
    strings: list[str], parents: list[list[int]], titled: list[bool], senses: dict[str, Sense],
    folded: dict[str, list[int]], *, untyped: bool = False,
) -> list[str]:  # fmt: skip
    """By mention: the string that it is drawn as; `untyped`: there are no types of topics."""
    drawn = list(strings)
    for _ in range(2):
        for token, row in enumerate(parents):
            if row and drawn[token] == strings[token]:
                full = strings[row[0]]
                if _is_sure(strings[token], full, senses[strings[token]], senses[full], titled[token], folded, untyped):
                    drawn[token] = drawn[row[0]]
    return drawn


def _is_sure(
    string: str, full: str, own: Sense, other: Sense, titled: bool, folded: dict[str, list[int]], untyped: bool
) -> bool:
    name, longer = folded[string], folded[full]
    begins, ends = longer[: len(name)] == name, longer[-len(name) :] == name
    in_capitals = string.replace(".", "").isupper() and len(string.replace(".", "")) > 1
    several = sum(part[0].isupper() for part in full.split()) > 1
    joined = any(part[0].islower() for part in full.split())
    if not begins and not ends:
        return not other.is_person
    if titled:
        return other.is_person or not other.is_body
    if (in_capitals and several) or (own.is_title and own.share >= 0.3):
        return False
    surname = not begins and not joined
    if other.is_person:
        return own.links < 30 or surname or own.share < 0.5
    if begins and own.topic >= 0:
        return False
    if other.is_body:
        return own.links < 30 and not surname
    whole = len(longer) == _size(full, folded)
    return (
        own.links < 30
        and several
        and len(longer) <= 4
        and not joined
        and whole
        and (other.topic < 0 or (untyped and surname))
    )


def _size(string: str, folded: dict[str, list[int]]) -> int:
    return len(folded[string]) + sum(not each.isalnum() and not each.isspace() for each in string)


# Mean-field inference

LEAST = 1e-3
MOST_SWEEPS = 50


@dataclass
class Mention:
    """What a mention may mean: topics with their scores, what each adds to the log odds of NIL, and its place.

    Mentions with the same `name` have the same string. Parents are (mention, weight, whether the mention is its
    surname).
    """

    topics: list[int]
    scores: list[float]
    place: int
    nil: float = -2.0
    against: list[float] = field(default_factory=list)
    name: int = -1
    parents: list[tuple[int, float, bool]] = field(default_factory=list)


@dataclass
class Found:
    """The posterior: of candidates, of NIL, what the urn holds for candidates, and the features of NIL."""

    shares: list[list[float]]
    nil: list[float]
    content: list[list[float]]
    features: list[list[float]]


@dataclass
class MeanField:
    """The update of each mention given the posteriors of all others, by the definition."""

    mentions: list[Mention]
    related: Dense
    alone: float = 0.1
    repeats: float = 0.1
    near: float = 3.0
    reach: float = 10.0
    coreference: float = 1.0
    graph: float = 1.5
    nil_parents: float = 1.0
    nil_same: float = 1.5
    nil_level: float = 0.3
    nil_fit: float = -0.4
    nil_mentions: float = 0.3
    usual_fit: float = 0.7

    def near_by(self, i: int, j: int) -> float:
        """1 and what nearness adds to it."""
        distance = abs(self.mentions[i].place - self.mentions[j].place)
        return 1.0 + (self.near * math.exp(-distance / self.reach) if distance <= int(3.0 * self.reach) else 0.0)

    def content(self, held: list[list[float]], i: int, k: int) -> float:
        """What the urn holds for topic k of mention i: α and what the other mentions have put into it."""
        found = self.alone
        for j, other in enumerate(self.mentions):
            if j != i:
                for topic, chance in zip(other.topics, held[j], strict=True):
                    found += chance * (self.repeats * (topic == k) + self.near_by(i, j) * float(self.related[topic, k]))
        for parent, weight, _ in self.mentions[i].parents:
            for topic, chance in zip(self.mentions[parent].topics, held[parent], strict=True):
                found += self.coreference * weight * chance * (topic == k)
        return found

    def run(self, tolerance: float = 1e-3) -> Found:
        """Update mentions in order until nothing changes by more than the tolerance."""
        size = len(self.mentions)
        held = [[0.0] * len(each.topics) for each in self.mentions]
        found = Found([[0.0] * len(each.topics) for each in self.mentions],
                      [0.0 if each.topics else 1.0 for each in self.mentions],
                      [[0.0] * len(each.topics) for each in self.mentions], [[0.0] * 5 for _ in range(size)])  # fmt: skip
        told = [False] * size
        for i in range(size):
            self._update(found, held, told, i)
        for i in range(size):
            self._tell(found, held, told, i)
        for _ in range(MOST_SWEEPS):
            change = 0.0
            for i in range(size):
                change = max(change, self._update(found, held, told, i))
                self._tell(found, held, told, i)
            if change < tolerance:
                break
        return found

    def _update(self, found: Found, held: list[list[float]], told: list[bool], i: int) -> float:
        own = self.mentions[i]
        if not own.topics:
            return 0.0
        content = [self.content(held, i, k) for k in own.topics]
        logs = [score + self.graph * math.log(each) for score, each in zip(own.scores, content, strict=True)]
        top = max(logs)
        fit = top + math.log(sum(math.exp(each - top) for each in logs))
        shares = [math.exp(each - fit) for each in logs]
        before, nil_before = found.shares[i], found.nil[i]
        others = [j for j, each in enumerate(self.mentions) if j != i and each.name == own.name]
        passed = sum(weight * (2.0 * found.nil[parent] - 1.0) for parent, weight, surname in own.parents if surname)
        same = sum(found.nil[j] for j in others if told[j]) / len(others) if others else 0.0
        fits = [(1.0 - found.nil[j], found.features[j][3]) for j in range(len(self.mentions)) if j != i and told[j]
                and self.mentions[j].topics]  # fmt: skip
        level = (sum(known * each for known, each in fits) + self.usual_fit) / (sum(known for known, _ in fits) + 1.0)
        odds = own.nil + sum(share * each for share, each in zip(shares, own.against, strict=True))
        odds += self.nil_parents * passed + self.nil_same * same + self.nil_level * level + self.nil_fit * fit
        several = math.log(max(sum(bool(each.topics) for each in self.mentions), 1))
        odds += self.nil_mentions * several
        nil = 1.0 / (1.0 + math.exp(-odds))
        found.shares[i], found.nil[i], found.content[i] = shares, nil, content
        found.features[i] = [passed, same, level, fit, several]
        return max(abs(nil - nil_before), *(abs(a - b) for a, b in zip(shares, before, strict=True)))

    def _tell(self, found: Found, held: list[list[float]], told: list[bool], i: int) -> None:
        """Small probabilities, and small changes, do not reach the others."""
        told[i] = True
        for at, share in enumerate(found.shares[i]):
            known = share * (1.0 - found.nil[i])
            known = known if known >= LEAST else 0.0
            if known == 0.0 or abs(known - held[i][at]) >= LEAST:
                held[i][at] = known

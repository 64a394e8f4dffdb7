"""A noisy channel from names to cells: the names that a cell may spell, with log likelihoods.

A cell's tokens are aligned with those of a name. Each difference costs its negative log probability: an edit of a
letter, an initial for a word, another order, an additional token (drawn from the tokens' own distribution), a missing
token. Words like *Ltd* and *Dr* may be added or missing at little cost. The alternative is an unknown name,
whose tokens come from the distribution of tokens and letters in all names.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikilda._core.arrays import lower_bound
from wikilda._core.jit import Real, Whole, bare, njit
from wikilda.text.tokens import Strings, mix

Numbers = NDArray[np.int64]
Bytes = NDArray[np.uint8]
Vector = NDArray[np.float64]

LONGEST_TOKEN, MOST_TOKENS = 24, 12  # of a cell; bytes, tokens
_SIMILAR = 64  # similar tokens of the index per token of a cell
_BUDGET = 4000  # names that are compared with a cell
_VERIFIED = 6000  # tokens that are compared with a cell's token
_TOPICS, _FAR = 128, 9.0  # topics of a cell, and the largest distance of their names from the best
_KEPT = 24  # names whose topics are gathered
_FIRST, _SEED = np.uint64(0xCBF29CE484222325), np.uint64(0x9E3779B97F4A7C15)
_NINE = ord("9")
_ROUNDING = 1e-3
_COMMON = 12.0  # −log P(token) below which a token is rarely another one with two typos
_INITIALS = np.uint64(1 << 63)
_LETTER = 3.0  # −log P(a letter)
_LIGHTEST, _LIGHT_LENGTH = 3, 6  # letters of a token with one typo, with two


class Costs(NamedTuple):
    """Negative log probabilities of differences between a cell and a name."""

    edit: float = 5.0
    initial: float = 2.5
    order: float = 0.7
    light: float = 1.0  # an added or missing legal form or honorific
    missing: float = 5.0
    other: float = 6.0  # a word in place of another, as in names of one pattern
    extra: float = 7.0  # in addition to the cost of the token
    spelling: float = 1.5  # accents, points, spaces: the name is not spelled exactly so
    title: float = 1.0  # bonus of a title with exactly this spelling


class NameTable(NamedTuple):
    """The names of the knowledge by their tokens."""

    token_data: Bytes
    token_offsets: Numbers
    info: Vector  # −log P(token) in an unknown name
    light: NDArray[np.bool_]
    name_offsets: Numbers
    name_tokens: NDArray[np.int32]
    log_counts: Vector  # of names: log counts, tempered and normalised
    post_offsets: Numbers  # names by token, short and frequent ones first
    post_names: NDArray[np.int32]
    post_heavy: NDArray[np.uint8]  # tokens of a name that are not light
    post_counts: NDArray[np.float32]  # its `log_counts`
    post_bits: NDArray[np.uint64]  # one of 63 bits for each token, and one bit if any token is a single letter
    deleted: NDArray[np.uint64]  # hashes of tokens without one letter, sorted
    deleted_tokens: NDArray[np.int32]
    segments: NDArray[np.uint64]  # hashes of thirds of tokens, sorted
    segment_tokens: NDArray[np.int32]
    segment_masks: NDArray[np.uint32]  # the letters of their tokens
    letters: NDArray[np.float32]  # −log P(byte | byte before)
    lengths: Vector  # −log P(number of tokens of a name)


class Cells(NamedTuple):
    """Cells by their tokens."""

    data: Bytes
    offsets: Numbers  # of tokens
    rows: Numbers  # where the tokens of a cell begin
    ids: Numbers  # of tokens in the table, −1 for others
    light: NDArray[np.bool_]


class MentionRows(NamedTuple):
    """The topics of names, and titles."""

    strings: Strings
    offsets: Numbers
    topics: NDArray[np.uint32]
    counts: NDArray[np.uint32]
    titles: Strings


class Spelled(NamedTuple):
    """Cells in their spelling, and in lower case."""

    data: Bytes
    offsets: Numbers
    lower: Bytes
    lower_offsets: Numbers


class Scratch(NamedTuple):
    """Memory of one thread."""

    marks: NDArray[np.int32]  # by token of the table: 1 + the first entry of its chain
    seen: NDArray[np.int32]  # by name: the last cell that it was compared with


@bare
def _hash(data: Bytes, start: Whole, end: Whole, without: Whole, salt: np.uint64) -> np.uint64:
    value = _FIRST ^ salt
    for at in range(start, end):
        if at != without:
            value = (value ^ np.uint64(data[at])) * _SEED
            value ^= value >> np.uint64(29)
    return mix(value)


@njit
def deletions(data: Bytes, offsets: Numbers) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
    """Return the hashes of tokens, and of tokens without one letter."""
    most = len(data) + len(offsets)
    hashes, tokens, size = np.empty(most, np.uint64), np.empty(most, np.int32), 0
    for token in range(len(offsets) - 1):
        start, end = offsets[token], offsets[token + 1]
        if not _may_vary(data, start, end):
            continue
        for without in range(start - 1, end):
            if without > start and data[without] == data[without - 1]:
                continue  # the same as without the letter before
            hashes[size], tokens[size] = _hash(data, start, end, np.int64(without), np.uint64(0)), token
            size += 1
    return hashes[:size], tokens[:size]


@njit
def segments(data: Bytes, offsets: Numbers) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
    """Hashes of the thirds of long tokens: with two typos, one third is intact."""
    most = 3 * len(offsets)
    hashes, tokens, size = np.empty(most, np.uint64), np.empty(most, np.int32), 0
    for token in range(len(offsets) - 1):
        start, length = offsets[token], offsets[token + 1] - offsets[token]
        if length < _LIGHT_LENGTH or not _may_vary(data, start, start + length):
            continue
        for part in range(3):
            first, last = length * part // 3, length * (part + 1) // 3
            hashes[size] = _hash(data, start + first, start + last, np.int64(-1), np.uint64(3 * length + part + 1))
            tokens[size] = token
            size += 1
    return hashes[:size], tokens[:size]


@bare
def _may_vary(data: Bytes, start: Whole, end: Whole) -> bool:
    """Whether a token may have typos: not numbers, and not very short or long tokens."""
    varies = _LIGHTEST <= end - start <= LONGEST_TOKEN
    for at in range(start, end):
        varies = varies and not (48 <= data[at] <= _NINE)
    return bool(varies)


@bare
def _distance(one: Bytes, other: Bytes, most: Whole, rows: Numbers) -> Whole:
    """Return the edit distance with transpositions of two tokens; `most` + 1 if it is larger."""
    n, m, width = len(one), len(other), np.int64(LONGEST_TOKEN + 2)
    if abs(n - m) > most:
        return np.int64(most + 1)
    for at in range(m + 1):
        rows[at] = at
    for i in range(1, n + 1):
        now, above, before = (i % 3) * width, ((i - 1) % 3) * width, ((i + 1) % 3) * width  # rows i, i − 1, i − 2
        rows[now] = i
        least = np.int64(i)
        for j in range(1, m + 1):
            changed = np.int64(one[i - 1] != other[j - 1])
            value = min(rows[above + j] + 1, rows[now + j - 1] + 1, rows[above + j - 1] + changed)
            if i > 1 and j > 1 and one[i - 1] == other[j - 2] and one[i - 2] == other[j - 1]:
                value = min(value, rows[before + j - 2] + 1)
            rows[now + j] = value
            least = min(least, value)
        if least > most:
            return np.int64(most + 1)
    return np.int64(rows[(n % 3) * width + m])


@njit
def similar(
    table: NameTable, cells: Cells, token: Whole, most: Whole, found: NDArray[np.int32], edits: NDArray[np.int8],
    rows: Numbers,
) -> Whole:  # fmt: skip
    """Find tokens of the table within some edits of a cell's token, with their distances; return their number."""
    size: Whole = np.int64(0)
    if cells.ids[token] >= 0:
        found[0], edits[0], size = cells.ids[token], 0, 1
    start, end = cells.offsets[token], cells.offsets[token + 1]
    if not _may_vary(cells.data, start, end):
        return size
    own = cells.data[start:end]
    for without in range(start - 1, end):
        if without > start and cells.data[without] == cells.data[without - 1]:
            continue
        key = _hash(cells.data, start, end, np.int64(without), np.uint64(0))
        at = lower_bound(table.deleted, np.int64(0), np.int64(len(table.deleted)), key)
        while at < len(table.deleted) and table.deleted[at] == key and size < _SIMILAR:
            size = _check(table, own, table.deleted_tokens[at], np.int64(1), found, edits, size, rows)
            at += 1
    if most < 2 or end - start < _LIGHT_LENGTH or (cells.ids[token] >= 0 and table.info[cells.ids[token]] < _COMMON):
        return size
    tried = np.int64(0)
    mask = letter_mask(cells.data, start, end)
    for step in range(5):  # lengths like its own first
        length = end - start + (step + 1) // 2 * (1 if step % 2 else -1)
        for part in range(3 if length >= _LIGHT_LENGTH else 0):
            first, last = length * part // 3, length * (part + 1) // 3
            for shift in range(-2, 3):
                low, high = start + first + shift, start + last + shift
                if low < start or high > end:
                    continue
                key = _hash(cells.data, low, high, np.int64(-1), np.uint64(3 * length + part + 1))
                at = lower_bound(table.segments, np.int64(0), np.int64(len(table.segments)), key)
                while at < len(table.segments) and table.segments[at] == key:
                    if _bits(table.segment_masks[at] ^ mask) > 4:  # two edits change four at most
                        at += 1
                        continue
                    tried += 1
                    if size >= _SIMILAR or tried > _VERIFIED:
                        return size
                    size = _check(table, own, table.segment_tokens[at], np.int64(2), found, edits, size, rows)
                    at += 1
    return size


@bare
def letter_mask(data: Bytes, start: Whole, end: Whole) -> np.uint32:
    """Return the letters of a token as bits."""
    mask = np.uint32(0)
    for at in range(start, end):
        mask |= np.uint32(1) << np.uint32(data[at] & 31)
    return mask


@njit
def letter_masks(data: Bytes, offsets: Numbers) -> NDArray[np.uint32]:
    """Return the letters of all tokens as bits."""
    masks = np.empty(len(offsets) - 1, np.uint32)
    for token in range(len(masks)):
        masks[token] = letter_mask(data, offsets[token], offsets[token + 1])
    return masks


@bare
def _bits(mask: Any) -> Whole:
    count = np.int64(0)
    while mask:
        mask &= mask - np.uint32(1)
        count += 1
    return count


@bare
def _check(
    table: NameTable, own: Bytes, other: Whole, most: Whole, found: NDArray[np.int32], edits: NDArray[np.int8],
    size: Whole, rows: Numbers,
) -> Whole:  # fmt: skip
    for at in range(size):
        if found[at] == other:
            return size
    distance = _distance(
        own, table.token_data[table.token_offsets[other] : table.token_offsets[other + 1]], most, rows
    )  # fmt: skip
    if distance > most:
        return size
    found[size], edits[size] = other, distance
    return size + 1


@bare
def token_bit(token: np.int32) -> np.uint64:
    """A bit for a token, of the lower 63."""
    return np.uint64(1) << ((np.uint64(token) * _SEED >> np.uint64(32)) % np.uint64(63))


@njit
def token_bits(tokens: NDArray[np.int32], offsets: Numbers, single: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """The bits of the tokens of each name."""
    found = np.zeros(len(offsets) - 1, np.uint64)
    for name in range(len(found)):
        for at in range(offsets[name], offsets[name + 1]):
            found[name] |= token_bit(tokens[at])
            if single[tokens[at]]:
                found[name] |= _INITIALS
    return found


@njit
def token_cost(table: NameTable, cells: Cells, token: Whole) -> Real:
    """−log P(token) in an unknown name: by its frequency in names, or by its letters."""
    if cells.ids[token] >= 0:
        return float(table.info[cells.ids[token]])
    return letters_cost(cells.data, cells.offsets[token], cells.offsets[token + 1], table.letters)


@bare
def letters_cost(data: Bytes, start: Whole, end: Whole, letters: NDArray[np.float32]) -> Real:
    """−log P(letters), by pairs of them."""
    cost, before = 0.0, np.uint8(0)
    for at in range(start, end):
        cost += np.float64(letters[before, data[at]])
        before = data[at]
    return cost + np.float64(letters[before, 0])


@njit
def match_cells(
    table: NameTable, costs: Costs, cells: Cells, chosen: Numbers, most_edits: Whole, scratch: Scratch
) -> tuple[NDArray[np.int32], Vector, Vector]:
    """Find the best names of each chosen cell, their log weights, and the log weight of an unknown name."""
    count, most_frequent = len(chosen), table.log_counts.max() if len(table.log_counts) else 0.0
    names = np.full((count, _KEPT), -1, np.int32)
    weights, unknown = np.full((count, _KEPT), -np.inf), np.zeros(count)
    found, edits = np.empty((MOST_TOKENS, _SIMILAR), np.int32), np.empty((MOST_TOKENS, _SIMILAR), np.int8)
    sizes, posts = np.zeros(MOST_TOKENS, np.int64), np.zeros(MOST_TOKENS, np.int64)
    bits, absent = np.zeros(MOST_TOKENS, np.uint64), np.zeros(MOST_TOKENS)
    own, rows = np.zeros(MOST_TOKENS), np.zeros(3 * (LONGEST_TOKEN + 2), np.int64)
    chain = np.zeros((MOST_TOKENS * _SIMILAR, 4), np.int64)  # next entry, token of the cell, edits, token of the table
    for place in range(count):
        cell = chosen[place]
        first = cells.rows[cell]
        size = min(cells.rows[cell + 1] - first, MOST_TOKENS)
        entries = 0
        heavy = 0
        for at in range(size):
            own[at] = token_cost(table, cells, first + at)
            if cells.light[first + at]:
                own[at] = min(own[at], costs.light)
            unknown[place] -= own[at]
            sizes[at] = similar(table, cells, first + at, most_edits, found[at], edits[at], rows)
            heavy += not cells.light[first + at]
            posts[at], bits[at] = 0, np.uint64(0)
            absent[at] = own[at] if cells.light[first + at] else costs.extra + own[at]
            if cells.offsets[first + at + 1] - cells.offsets[first + at] == 1:
                absent[at] = 0.0
            for each in range(sizes[at]):
                token = found[at, each]
                posts[at] += table.post_offsets[token + 1] - table.post_offsets[token]
                bits[at] |= token_bit(token)
                chain[entries, 0] = scratch.marks[token]
                chain[entries, 1], chain[entries, 2], chain[entries, 3] = at, edits[at, each], token
                entries += 1
                scratch.marks[token] = entries
        unknown[place] -= table.lengths[min(size, len(table.lengths) - 1)]
        budget, bound = np.int64(_BUDGET), most_frequent  # upper bound of a name without the tokens so far
        used = np.zeros(size, np.bool_)
        for _ in range(size):  # names by the rarest tokens first
            anchor = -1
            for at in range(size):
                if used[at] or sizes[at] == 0 or (heavy > 0 and cells.light[first + at]):
                    continue
                if anchor < 0 or posts[at] < posts[anchor]:
                    anchor = at
            if anchor < 0 or budget <= 0 or bound < max(weights[place, 0], unknown[place]) - _FAR:
                break
            used[anchor] = True
            bound -= min(costs.light, own[anchor]) if cells.light[first + anchor] else costs.extra + own[anchor]
            for each in range(sizes[anchor]):
                token, typos = found[anchor, each], costs.edit * edits[anchor, each]
                for post in range(table.post_offsets[token], table.post_offsets[token + 1]):
                    name = table.post_names[post]
                    missing = costs.missing * max(np.float64(table.post_heavy[post]) - size, 0.0)
                    least = max(weights[place, 0], unknown[place]) - _FAR - _ROUNDING
                    if np.float64(table.post_counts[post]) - missing - typos < least:
                        continue
                    if not table.post_bits[post] & _INITIALS:
                        for at in range(size):  # tokens without a similar one in the name
                            if not table.post_bits[post] & bits[at]:
                                missing += absent[at]
                        if np.float64(table.post_counts[post]) - missing - typos < least:
                            continue
                    if scratch.seen[name] == cell + 1:
                        continue
                    if budget <= 0:
                        break
                    budget -= 1
                    scratch.seen[name] = cell + 1
                    cost = _name_cost(table, costs, cells, first, size, own, name, scratch.marks, chain)
                    _insert(names[place], weights[place], name, table.log_counts[name] - cost)
        for entry in range(entries):
            scratch.marks[chain[entry, 3]] = 0
    return names, weights, unknown


@bare
def _name_cost(
    table: NameTable, costs: Costs, cells: Cells, first: Whole, size: Whole, own: Vector, name: np.int32,
    marks: NDArray[np.int32], chain: Numbers,
) -> Real:  # fmt: skip
    """−log P(cell | name): each token of the name takes the most similar one of the cell that is free."""
    taken, cost = np.int64(0), 0.0
    last = np.int64(-1)
    in_order: Whole = True
    left = np.int64(0)  # tokens of the name without a partner
    lacks: Whole = False
    adds: Whole = False
    start, end = table.name_offsets[name], table.name_offsets[name + 1]
    for at in range(start, min(end, start + 62)):
        entry = np.int64(marks[table.name_tokens[at]])
        best, partner = np.int64(99), np.int64(-1)
        while entry > 0:
            mine = chain[entry - 1, 1]
            if not (taken >> mine) & 1 and chain[entry - 1, 2] < best:
                best, partner = chain[entry - 1, 2], mine
            entry = chain[entry - 1, 0]
        if partner < 0:
            left |= np.int64(1) << (at - start)
            continue
        taken |= np.int64(1) << partner
        cost += costs.edit * best
        in_order = in_order and partner > last
        last = partner
    for at in range(start, min(end, start + 62)):
        if not (left >> (at - start)) & 1:
            continue
        token = table.name_tokens[at]
        partner = _initial(table, cells, first, size, taken, token)
        if partner >= 0:
            taken |= np.int64(1) << partner
            cost += costs.initial
            if table.token_offsets[token + 1] - table.token_offsets[token] == 1:
                cost += max(np.float64(own[partner]) - _LETTER, 0.0)  # the cell has additional tokens
        else:
            lacks = lacks or not table.light[token]
            cost += costs.light if table.light[token] else costs.missing
    for mine in range(size):
        if not (taken >> mine) & 1:
            adds = adds or not cells.light[first + mine]
            cost += costs.light if cells.light[first + mine] else costs.extra + own[mine]
    if lacks and adds:
        cost += costs.other
    return cost if in_order else cost + costs.order


@bare
def _initial(table: NameTable, cells: Cells, first: Whole, size: Whole, taken: Whole, token: np.int32) -> Whole:
    """A free token of the cell of which a name's token is the initial, or the reverse; −1 if there is none."""
    start, length = table.token_offsets[token], table.token_offsets[token + 1] - table.token_offsets[token]
    for mine in range(size):
        begin, own = cells.offsets[first + mine], cells.offsets[first + mine + 1] - cells.offsets[first + mine]
        is_initial = (own == 1 or length == 1) and own > 0 and length > 0 and not (taken >> mine) & 1
        if is_initial and cells.data[begin] == table.token_data[start]:
            return np.int64(mine)
    return np.int64(-1)


@njit
def gather(
    names: NDArray[np.int32], weights: Vector, table: MentionRows, cells: Spelled, costs: Costs, most: Whole,
    allowed: NDArray[np.bool_],
) -> tuple[NDArray[np.int64], Vector]:  # fmt: skip
    """For each cell the topics of its names, best first, and the log of the sum of their weights."""
    count = len(names)
    topics, best = np.full((count, most), -1, np.int64), np.full((count, most), -np.inf)
    some, sums = np.empty(_TOPICS, np.int64), np.empty(_TOPICS)
    for row in range(count):
        size = 0
        start, end = cells.lower_offsets[row], cells.lower_offsets[row + 1]
        raw = cells.data[cells.offsets[row] : cells.offsets[row + 1]]
        for at in range(names.shape[1]):
            name = names[row, at]
            if name < 0 or weights[row, at] < weights[row, 0] - _FAR:
                break
            weight = weights[row, at]
            string = table.strings.data[table.strings.offsets[name] : table.strings.offsets[name + 1]]
            if not _same(string, cells.lower[start:end]):
                weight -= costs.spelling
            total = 0.0
            for place in range(table.offsets[name], table.offsets[name + 1]):
                total += np.float64(table.counts[place])
            for place in range(table.offsets[name], table.offsets[name + 1]):
                topic = np.int64(table.topics[place])
                if len(allowed) and not allowed[topic]:
                    continue
                log = weight + np.log(np.float64(table.counts[place]) / total)
                if _same(raw, table.titles.data[table.titles.offsets[topic] : table.titles.offsets[topic + 1]]):
                    log += costs.title
                found = -1
                for other in range(size):
                    if some[other] == topic:
                        found = other
                        break
                if found >= 0:
                    high = max(sums[found], log)
                    sums[found] = high + np.log(np.exp(sums[found] - high) + np.exp(log - high))
                elif size < _TOPICS:
                    some[size], sums[size] = topic, log
                    size += 1
        for at in range(size):
            _insert(topics[row], best[row], some[at], sums[at])
    return topics, best


@bare
def _insert(numbers: NDArray[Any], weights: Vector, number: Any, weight: Real) -> None:
    """Put a name or topic among the best, of equals the first by number; free places have −1."""
    last = len(numbers) - 1
    if weight < weights[last] or (weight == weights[last] and number > numbers[last] >= 0):
        return
    at = last
    while at > 0 and (weights[at - 1] < weight or (weights[at - 1] == weight and numbers[at - 1] > number)):
        numbers[at], weights[at] = numbers[at - 1], weights[at - 1]
        at -= 1
    numbers[at], weights[at] = number, weight


@bare
def _same(one: Bytes, other: Bytes) -> bool:
    if len(one) != len(other):
        return False
    same = True
    for at in range(len(one)):
        same = same and one[at] == other[at]
    return bool(same)

"""News-like documents of a world: what each mention means is known."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from benchmarks.generate.chance import mixed, uniform
from benchmarks.generate.world import ALIAS, FULL, SHORT, Topics, World

_BLOCK = 1000
_MENTION_SHARE = 0.07  # of tokens
_ENTITIES = 8  # entities a document, on average; the first is what it is about


@dataclass(frozen=True)
class Habits:
    """What texts have and the wiki has not; none by default. Each mention tells which of these it shows (`case`)."""

    shifted: float = 0.0  # share of entities that are popular in texts where others are in the wiki
    contexts: float = 0.0  # share of the places next to a mention that have a word of its type
    nicknames: float = 0.0  # share of topics that texts call by another topic's name
    unknown: float = 0.0  # share of mentions of somebody without an article


PLAIN = Habits()
NEWS = Habits(0.5, 0.6, 0.04, 0.05)
_TYPE_WORDS = 6  # that may be next to a mention of a type, on either side


def write_documents(world: World, count: int, path: Path, begin: int = 0, habits: Habits = PLAIN) -> int:
    """Write JSON lines; returns the number of mentions."""
    mentions = 0
    with path.open("w", encoding="utf-8") as out:
        for first in range(begin, begin + count, _BLOCK):
            for document in documents(world, first, min(_BLOCK, begin + count - first), habits):
                mentions += len(document["mentions"])
                out.write(json.dumps(document, ensure_ascii=False) + "\n")
    return mentions


def documents(world: World, first: int, count: int, habits: Habits = PLAIN) -> list[dict[str, Any]]:
    """Some documents, numbered from `first`: {"id", "text", "mentions": [{"start", "end", "title", "case"}]}."""
    more = np.random.default_rng([world.seed, 5, first])
    rng = np.random.default_rng([world.seed, 4, first])
    entities, entity_at = _entities(world, count, rng)
    moved = more.random(len(entities)) < habits.shifted
    entities[moved] = _mirrored(world, entities[moved])
    lengths = np.clip(rng.lognormal(np.log(200) - 0.25, 0.7, count), 30, 4000).astype(np.int64)
    owner = np.repeat(np.arange(count), lengths)
    # A third of the text is about the main entity, as are a third of the mentions.
    drawn = np.maximum(0, rng.random(len(owner)) * 1.5 - 0.5)
    topic = entities[entity_at[owner] + (drawn * np.diff(entity_at)[owner]).astype(np.int64)]
    at_mention = np.flatnonzero(rng.random(len(owner)) < _MENTION_SHARE)
    token = world.used_words(topic, rng)
    token[at_mention] = world.word_count + np.arange(len(at_mention))
    means = topic[at_mention]
    forms = _forms(owner[at_mention], means, rng)
    called, cases = _called(world, means, forms, habits, more)
    names = world.named(called, np.where(called == means, forms, SHORT))
    for side in (-1, 1):
        token = _with_type_words(world, token, at_mention, means, side, habits.contexts, more)
    pieces = pa.concat_arrays([world.words, names]).take(pa.array(token))
    return _cut(world, first, np.append(0, np.cumsum(lengths)), pieces, at_mention, means, cases)


def _mirrored(world: World, topics: Topics) -> Topics:
    """In the cluster of each topic, the one that is as rare as it is popular."""
    cluster = world.cluster(topics)
    return world.bounds[cluster] + world.bounds[cluster + 1] - 1 - topics


def _called(
    world: World, means: Topics, forms: NDArray[np.int64], habits: Habits, rng: np.random.Generator
) -> tuple[Topics, NDArray[np.int64]]:
    """Whose name each mention has, and the case that it is: a row of CASES."""
    other = (mixed(means, world.seed * 16 + 8) % np.uint64(world.size)).astype(np.int64)
    nick = (uniform(means, world.seed * 16 + 9) < habits.nicknames) & (forms == SHORT)
    unknown = rng.random(len(means)) < habits.unknown
    stranger = rng.integers(0, world.size, len(means))
    called = np.where(unknown, stranger, np.where(nick, other, means))
    return called, np.where(unknown, 2, np.where(nick, 1, 0))


CASES = ("plain", "nickname", "unknown")


def _with_type_words(
    world: World, tokens: NDArray[np.int64], at: NDArray[np.int64], means: Topics, side: int, share: float,
    rng: np.random.Generator,
) -> NDArray[np.int64]:  # fmt: skip
    """Tokens with words that go with the types of topics next to their mentions, where no other mention is."""
    drawn, which = rng.random(len(at)), rng.integers(0, _TYPE_WORDS, len(at))
    places = at + side
    fits = (drawn < share) & (places >= 0) & (places < len(tokens))
    fits[fits] &= tokens[places[fits]] < world.word_count
    word = mixed(world.types(means) * 64 + which * 2 + (side > 0), 31) % np.uint64(min(2000, world.word_count))
    made = tokens.copy()
    made[places[fits]] = word[fits].astype(np.int64)
    return made


def _entities(world: World, count: int, rng: np.random.Generator) -> tuple[Topics, NDArray[np.int64]]:
    """For each document its main topic and topics that this one links to; and where each document's begin."""
    many = 1 + rng.poisson(_ENTITIES - 1, count)
    starts = np.append(0, np.cumsum(many))
    main = world.linked(rng.integers(0, world.size, count), rng)
    entities = world.linked(np.repeat(main, many), rng)
    entities[starts[:-1]] = main
    return entities, starts


def _forms(owner: NDArray[np.int64], topic: Topics, rng: np.random.Generator) -> NDArray[np.int64]:
    """The first mention in a document mostly has the full name, later ones the short one."""
    drawn = rng.random(len(owner))
    _, first = np.unique(np.stack([owner, topic]), axis=1, return_index=True)
    forms = np.where(drawn < 0.8, SHORT, np.where(drawn < 0.92, FULL, ALIAS))
    forms[first] = np.where(drawn[first] < 0.7, FULL, forms[first])
    return forms


def _cut(
    world: World,
    number: int,
    bounds: NDArray[np.int64],
    pieces: pa.Array,
    at_mention: NDArray[np.int64],
    topics: Topics,
    cases: NDArray[np.int64],
) -> list[dict[str, Any]]:
    texts = pc.binary_join(pa.ListArray.from_arrays(pa.array(bounds.astype(np.int32)), pieces), " ").to_pylist()
    lengths = pc.utf8_length(pieces).to_numpy(zero_copy_only=False)
    starts = np.cumsum(lengths + 1) - lengths - 1
    titles = world.titles(topics).to_pylist()
    parts = np.searchsorted(at_mention, bounds)
    made = []
    for document, text in enumerate(texts):
        base = starts[bounds[document]]
        spans = [
            {
                "start": int(starts[at] - base),
                "end": int(starts[at] - base + lengths[at]),
                "title": titles[row] if cases[row] < 2 else None,
                "case": CASES[cases[row]],
            }
            for row, at in enumerate(at_mention[parts[document] : parts[document + 1]], parts[document])
        ]
        made.append({"id": f"doc{number + document}", "text": text, "mentions": spans})
    return made

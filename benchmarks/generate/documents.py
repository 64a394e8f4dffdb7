"""News-like documents of a world: what each mention means is known."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from benchmarks.generate.world import ALIAS, FULL, SHORT, Topics, World

_BLOCK = 1000
_MENTION_SHARE = 0.07  # of tokens
_ENTITIES = 8  # entities a document, on average; the first is what it is about


def write_documents(world: World, count: int, path: Path, begin: int = 0) -> int:
    """Write JSON lines; returns the number of mentions."""
    mentions = 0
    with path.open("w", encoding="utf-8") as out:
        for first in range(begin, begin + count, _BLOCK):
            for document in documents(world, first, min(_BLOCK, begin + count - first)):
                mentions += len(document["mentions"])
                out.write(json.dumps(document, ensure_ascii=False) + "\n")
    return mentions


def documents(world: World, first: int, count: int) -> list[dict[str, Any]]:
    """Some documents, numbered from `first`: {"id", "text", "mentions": [{"start", "end", "title"}]}."""
    rng = np.random.default_rng([world.seed, 4, first])
    entities, entity_at = _entities(world, count, rng)
    lengths = np.clip(rng.lognormal(np.log(200) - 0.25, 0.7, count), 30, 4000).astype(np.int64)
    owner = np.repeat(np.arange(count), lengths)
    # A third of the text is about the main entity, as are a third of the mentions.
    drawn = np.maximum(0, rng.random(len(owner)) * 1.5 - 0.5)
    topic = entities[entity_at[owner] + (drawn * np.diff(entity_at)[owner]).astype(np.int64)]
    at_mention = np.flatnonzero(rng.random(len(owner)) < _MENTION_SHARE)
    token = world.used_words(topic, rng)
    token[at_mention] = world.word_count + np.arange(len(at_mention))
    names = world.named(topic[at_mention], _forms(owner[at_mention], topic[at_mention], rng))
    pieces = pa.concat_arrays([world.words, names]).take(pa.array(token))
    return _cut(world, first, np.append(0, np.cumsum(lengths)), pieces, at_mention, topic[at_mention])


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
            {"start": int(starts[at] - base), "end": int(starts[at] - base + lengths[at]), "title": titles[row]}
            for row, at in enumerate(at_mention[parts[document] : parts[document + 1]], parts[document])
        ]
        made.append({"id": f"doc{number + document}", "text": text, "mentions": spans})
    return made

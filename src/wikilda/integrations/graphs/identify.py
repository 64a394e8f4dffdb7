"""One identity for each node of a graph.

A node's name is a mention in the texts that the node was found in: these are linked, and the answers of all of them are
joined. A node without such a text is matched like the cell of a table, with its description as context. Nodes whose
entity the wiki lacks are clustered by their names and contexts (`wikilda.integrations.graphs._clusters`).

Earlier identities are given: nodes keep them, and new nodes join them.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from wikilda._core.atomic import new_file
from wikilda._core.compression import json_objects
from wikilda._core.errors import InputError
from wikilda.integrations.graphs._clusters import Clusters, Described, telling_words
from wikilda.integrations.graphs.nodes import Node, read_nodes
from wikilda.knowledge.entities import type_of
from wikilda.linking import Document, Entity, Linker
from wikilda.linking.match import Row, match_rows

KNOWN_FROM = 0.5  # probability from which a node is an entity
_CANDIDATES = 16
_AGREES, _UNTYPED = 0.9, 0.1  # a node's type is that of its entity; the least share of another type
_CONTEXT_WORDS = 40  # of a node, that are kept
_WINDOW = 300  # characters of a text on either side of a name
_MENTIONS = 4  # of a name in a text that are read


@dataclass(frozen=True)
class Identified:
    """A node and its identity.

    Attributes
    ----------
    node, name, type
        The node's own id, name and type.
    identity
        The same for all nodes that are the same thing: `Q42` or the title of an article for what the wiki has, `new:…`
        for what it lacks.
    title, wikidata
        The article; None where the wiki lacks it.
    confidence
        The probability that the node is this article; for a thing that the wiki lacks, that it is none.
    sources
        Digests of the texts that it was found in.
    words
        The most telling words of its context.
    """

    node: str
    name: str
    identity: str
    title: str | None = None
    wikidata: str | None = None
    confidence: float = 0.0
    type: str = ""
    sources: tuple[str, ...] = ()
    words: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The node as plain values: a line of `wikilda identify`."""
        return asdict(self)


def identify(
    linker: Linker, graph: Any, *, known: Iterable[Identified] = (), workers: int = 1
) -> list[Identified]:  # fmt: skip
    """Give each node of a graph an identity.

    Parameters
    ----------
    linker
        The linker of the nodes' names.
    graph
        Nodes, or what `read_nodes` takes.
    known
        Earlier identities. These nodes keep them, and others join them.
    workers
        Threads.

    Returns
    -------
    list of Identified
        Those that were known, in their order, and then the new ones.

    Examples
    --------
    >>> from wikilda.integrations.graphs import identify
    >>> text = "Robert Croft bowled for England. Croft took five wickets."
    >>> nodes = [{"id": "1", "name": "Robert Croft", "source": text}, {"id": "2", "name": "CROFT", "source": text}]
    >>> [(each.name, each.identity) for each in identify(linker, nodes)]
    [('Robert Croft', 'Robert Croft'), ('CROFT', 'Robert Croft')]
    """
    before = list(known)
    seen = {each.node for each in before}
    nodes = [each for each in read_nodes(graph) if each.id not in seen]
    found = _entities(linker, nodes, workers)
    words = [_context(linker, node) for node in nodes]
    clusters = Clusters(linker.knowledge)
    for each in before:
        clusters.add(
            Described(name=each.name, type=each.type, sources=each.sources, words=each.words), each.identity, each.title
        )
    described = [
        Described(name=node.name, type=node.type, sources=tuple(map(_digest, node.sources)), words=context)
        for node, context in zip(nodes, words, strict=True)
    ]
    made: dict[int, Identified] = {}
    for at in _order(nodes, found):
        node, (entity, probability), own = nodes[at], found[at], described[at]
        identity, title = (_identity(entity), entity.title) if entity else (None, None)
        identity, title = clusters.place(own, identity, title, f"{node.id}\n{node.name}")
        row = Identified(node.id, node.name, identity, title, None, round(float(probability), 4), node.type,
                         own.sources, own.words)  # fmt: skip
        made[at] = replace(row, wikidata=linker.entity(title).wikidata if title else None)
    return [*before, *(made[at] for at in range(len(nodes)))]


def _order(nodes: Sequence[Node], found: Sequence[tuple[Entity | None, float]]) -> list[int]:
    """Order nodes: articles first, then long names, which short ones join."""
    return sorted(range(len(nodes)), key=lambda at: (found[at][0] is None, -len(nodes[at].name.split()), at))


def _identity(entity: Entity) -> str:
    return entity.id or entity.wikidata or entity.title


def _entities(linker: Linker, nodes: Sequence[Node], workers: int) -> list[tuple[Entity | None, float]]:
    """Return the entity of each node with its probability; None with the probability of NIL."""
    sums: list[dict[int, float]] = [defaultdict(float) for _ in nodes]
    counts = np.zeros(len(nodes))
    documents, asked = [], []
    for text, places in _mentions(nodes):
        detected = linker.detector.detect(text)
        own = sorted(places)
        free = [span for span in detected if not any(span[0] < end and start < span[1] for start, end in own)]
        documents.append(Document(text, sorted([*own, *free]), _digest(text)))
        asked.append(places)
    answers = linker.link_many(documents, workers=workers, candidates=_CANDIDATES, topics=0)
    for linked, places in zip(answers, asked, strict=True):
        for mention in linked.mentions:
            for at in places.get((mention.start, mention.end), ()):
                counts[at] += 1
                for each in mention.candidates:
                    sums[at][each.entity.topic] += each.probability * (1 - mention.nil)
    _match(linker, nodes, sums, counts, workers)
    return [_best(linker, node, sums[at], counts[at]) for at, node in enumerate(nodes)]


def _mentions(nodes: Sequence[Node]) -> Iterator[tuple[str, dict[tuple[int, int], list[int]]]]:
    """The texts of nodes, each once, and where they name which nodes; of names that overlap, the longest."""
    having: dict[str, list[int]] = {}
    for at, node in enumerate(nodes):
        for text in node.sources:
            having.setdefault(text, []).append(at)
    for text, owners in having.items():
        spans: dict[tuple[int, int], list[int]] = {}
        for at in sorted(owners, key=lambda at: -len(nodes[at].name)):
            for span in _named(text, nodes[at].name):
                if span in spans or not any(span[0] < end and start < span[1] for start, end in spans):
                    spans.setdefault(span, []).append(at)
        if spans:
            yield text, spans


def _named(text: str, name: str) -> list[tuple[int, int]]:
    """Where a text has a name as whole words, as it is spelled or else in any case."""
    words = r"\s+".join(re.escape(each) for each in name.split())
    for flags in (0, re.IGNORECASE):
        pattern = re.compile(rf"(?<!\w){words}(?!\w)", flags)
        found = [each.span() for _, each in zip(range(_MENTIONS), pattern.finditer(text), strict=False)]
        if found:
            return found
    return []


def _match(
    linker: Linker, nodes: Sequence[Node], sums: list[dict[int, float]], counts: "np.ndarray[Any, Any]", workers: int
) -> None:
    """Match the nodes that no text names, like cells of a table."""
    left = [at for at in range(len(nodes)) if not counts[at]]
    rows = [
        Row(" ".join(nodes[at].name.split()), tuple(filter(None, (nodes[at].description, *nodes[at].sources[:1]))))
        for at in left
    ]
    for at, mention in zip(left, match_rows(linker, rows, candidates=_CANDIDATES, workers=workers), strict=True):
        counts[at] = 1
        for each in mention.candidates:
            sums[at][each.entity.topic] += each.probability * (1 - mention.nil)


def _best(
    linker: Linker, node: Node, sums: dict[int, float], count: float
) -> tuple[Entity | None, float]:  # fmt: skip
    """The best entity, with types as evidence, and its probability."""
    kind, types = type_of(node.type) if node.type else -1, linker.knowledge.types.shares
    chances = {topic: value / max(count, 1.0) for topic, value in sums.items()}
    rest = max(1.0 - sum(chances.values()), 0.0)
    if kind >= 0 and types:
        chances = {
            topic: chance * (_UNTYPED + (_AGREES - _UNTYPED) * float(types[kind][topic]) / 255) / _AGREES
            for topic, chance in chances.items()
        }
    total = sum(chances.values()) + rest
    if not chances or not total:
        return None, 1.0
    topic = min(chances, key=lambda each: (-chances[each], each))
    chance = chances[topic] / total
    return (linker.entity(topic), chance) if chance >= KNOWN_FROM else (None, 1 - chance)


def _context(linker: Linker, node: Node) -> tuple[str, ...]:
    """The most telling words around a node's name: those that are rare in the wiki."""
    parts = [node.description]
    for text in node.sources:
        spans = _named(text, node.name)
        parts += [text[max(start - _WINDOW, 0) : end + _WINDOW] for start, end in spans] or [text[: 2 * _WINDOW]]
    return telling_words(linker.knowledge, " ".join(parts), node.name, _CONTEXT_WORDS)


def _digest(text: str) -> str:

    return blake2b(" ".join(text.split()).encode("utf-8", "replace"), digest_size=8).hexdigest()


def write_identities(rows: Iterable[Identified], path: str | Path) -> None:
    """Write identities as JSON lines."""
    with new_file(Path(path)) as made, made.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(each.to_dict(), ensure_ascii=False) + "\n" for each in rows)


def read_identities(path: str | Path) -> list[Identified]:
    """Read what `write_identities` wrote."""
    found = []
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{path}: no such file. Check the path.")
    with path.open("rb") as lines:
        for number, row in json_objects(lines, path):
            try:
                lists = {name: tuple(map(str, row[name])) for name in ("sources", "words")}
                found.append(Identified(**{**row, **lists}))
            except (TypeError, KeyError) as error:
                raise InputError(
                    f"{path}, line {number}: is not an identity of a node ({error}). Remove the line."
                ) from None
    return found

"""What knowledge holds, by names."""

from pathlib import Path

from wikilda.knowledge import Knowledge


def topics_of(known: Knowledge, mention: str) -> dict[str, int]:
    topics, counts = known.mentions.row(known.find_mention(mention))
    return {known.titles[topic]: int(count) for topic, count in zip(topics, counts, strict=True)}


def counts_of(known: Knowledge, word: str) -> dict[str, int]:
    topics, counts = known.words.row(known.word_strings.find(word))
    return {known.titles[topic]: int(count) for topic, count in zip(topics, counts, strict=True)}


def links_of(known: Knowledge, title: str, way: str) -> set[str]:
    topic, graph = known.find_topic(title), known.graph
    offsets, targets = (graph.out_offsets, graph.out_topics) if way == "out" else (graph.in_offsets, graph.in_topics)
    return {known.titles[each] for each in targets[offsets[topic] : offsets[topic + 1]]}


def arrays(path: Path) -> dict[str, bytes]:
    return {str(file.relative_to(path)): file.read_bytes() for file in sorted(path.rglob("*.npy"))}

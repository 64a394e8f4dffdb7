"""Draws the diagrams of the documentation: `python docs/pictures/draw.py` writes them beside itself."""

from itertools import pairwise
from pathlib import Path

from svg import Drawing

HERE = Path(__file__).parent


def models() -> Drawing:
    """The paper's model (its Figure 2) and ours, as plate diagrams; boxes are evidence."""
    d = Drawing(
        1010, 450, "Plate diagrams: the paper's LDA of words and mentions, and evidence for the topic of each mention"
    )
    d.text(235, 24, "--method lda: the paper's model", "title")
    alpha, theta = d.node(235, 75, "α"), d.node(235, 165, "θ", "")
    words, mentions = d.node(125, 255, "zᶜ"), d.node(345, 255, "zᵐ")
    word, mention = d.node(125, 345, "wᶜ", seen=True), d.node(345, 345, "wᵐ", seen=True)
    d.text(125, 378, "content words", "small")
    d.text(345, 378, "mention strings", "small")
    phi_c, phi_m = d.node(40, 345, "φᶜ"), d.node(430, 345, "φᵐ")
    beta_c, beta_m = d.node(40, 255, "βᶜ"), d.node(430, 255, "βᵐ")
    d.plate(12, 312, 56, 86, "K")
    d.plate(402, 312, 56, 86, "K")
    d.plate(78, 130, 316, 308, "D documents")
    d.plate(86, 222, 78, 184, "Lᶜ")
    d.plate(296, 222, 92, 184, "Lᵐ")
    for pair in ((alpha, theta), (theta, words), (theta, mentions), (words, word), (mentions, mention),
                 (beta_c, phi_c), (beta_m, phi_m), (phi_c, word), (phi_m, mention)):  # fmt: skip
        d.arrow(*pair)
    d.text(750, 24, "--method urn: what links by default", "title")
    d.plate(600, 60, 300, 378, "D documents")
    d.plate(610, 152, 280, 260, "Lᵐ mentions")
    topic = d.node(750, 250, "z")
    d.text(750, 284, "article or NIL", "small")
    for side, top, bottom, factors, given, names in (
        (-1, "w", "v", ("E", "π"), ("φ", "λ"), ("words of articles", "naming, titles")),
        (1, "z′", "c", ("R", "S"), ("A", "n"), ("link graph", "contexts of types")),
    ):
        x, outside = 750 + side * 90, 750 + side * 205
        above, below = d.node(x, 100, top, seen=top == "w"), d.node(x, 352, bottom, seen=True)
        for y, inside, factor, known, name in (
            (200, above, factors[0], given[0], names[0]), (300, below, factors[1], given[1], names[1])
        ):  # fmt: skip
            evidence = d.box(x, y, 34, 26, factor)
            d.arrow(inside, evidence)
            d.arrow(d.node(outside, y, known, name, seen=known == "A"), evidence)
            d.arrow(evidence, topic)
    d.text(660, 72, "words", "small")
    d.text(840, 72, "other mentions", "small")
    d.text(660, 382, "string", "small")
    d.text(840, 382, "context", "small")
    return d


def pipeline() -> Drawing:
    """One iteration of training (the paper's Figure 3): joins bring parameters to documents."""
    d = Drawing(930, 410, "Flow of one training iteration: joins, shards, statistics, interpolation")
    corpus = d.box(110, 70, 170, 64, "texts", "encoded documents,", "in shards")
    graph = d.box(110, 215, 170, 64, "link graph", "links of candidates")
    model = d.box(110, 360, 170, 64, "model t", "rows by symbol,", "memory-mapped")
    join = d.box(355, 215, 150, 76, "join", "symbols of a shard →", "its parameters", "= packet")
    shards = [d.box(575, y, 180, 58, f"shard {name}", "E-step per document,", "integer statistics")
              for name, y in (("1", 95), ("2", 170), ("M", 290))]  # fmt: skip
    d.text(575, 230, "⋮")
    total = d.box(820, 215, 170, 64, "sum by key", "(symbol, topic) counts,", "exact in any order")
    merge = d.box(820, 360, 170, 64, "M-step", "(1 − ρ)·old + ρ·new", "full outer join")
    for source in (corpus, model, graph):
        d.arrow(source, join)
    for shard in shards:
        d.arrow(join, shard)
        d.arrow(shard, total)
    d.arrow(total, merge)
    d.path("M735 376H197", "accent loop")
    d.text(340, 362, "model t + 1", "small")
    d.text(355, 30, "No worker holds the model: each sees only the rows its shard needs.", "small left")
    return d


def rooms() -> Drawing:
    """The folders of the package, and the way of a document through them."""
    d = Drawing(960, 590, "The folders of the package and the way of a document through them")
    rows = (
        (("cli", "parsing, printing"), ("server", "API, page"), ("integrations", "spaCy, scikit-learn")),
        (("evaluation", "gold, methods"), ("suggestions", "missing links"), ("training", "Algorithm 2, engines")),
        (("linking", "Linker, results, files"),),
        (("joins", "Spark: rows by key, packets"),),
        (("urn", "ours: evidence, inference"), ("lda", "the paper's sampler")),
        (("model", "λ̂ and what was learned"), ("documents", "read, detect, encode, write")),
        (("knowledge", "topics, mentions, links"), ("mediawiki", "dumps, wikitext")),
        (("text", "tokens"), ("_core", "artifacts, settings, workers")),
    )
    for at, row in enumerate(rows):
        for place, (name, about) in enumerate(row):
            x = 290 + (place - (len(row) - 1) / 2) * 190
            d.box(x, 60 + 67 * at, 180, 50, name, about)
    d.text(290, 18, "imports run downward only", "small")
    steps = (
        ("text", "a string, a file, a data frame"), ("read", "documents/reading: one Document"),
        ("detect and encode", "one tokenisation → symbols, contexts"), ("candidates", "knowledge: P(k | v)"),
        ("evidence", "urn: words, names, context, graph"), ("infer", "urn: mean field → posterior, NIL"),
        ("segment", "urn: which spans are mentions"),
        ("answer", "linking: Linked, LinkedMention, Entity"),
    )  # fmt: skip
    d.text(770, 18, "the way of a document", "small")
    boxes = [d.box(770, 60 + 67 * at, 300, 48, *step) for at, step in enumerate(steps)]
    for source, target in pairwise(boxes):
        d.arrow(source, target, "accent")
    return d


PICTURES = {"models": models, "pipeline": pipeline, "rooms": rooms}

if __name__ == "__main__":
    for name, draw in PICTURES.items():
        (HERE / f"{name}.svg").write_text(draw().svg(), "utf-8")

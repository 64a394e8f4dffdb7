"""A spaCy component: `nlp.add_pipe("wikilda", config={"model": "simple"})`."""

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.pipeline import Pipe
from spacy.tokens import Doc, Span

from wikilda._core.errors import ArtifactError, SettingsError
from wikilda.documents.detection.spacy import QUANTITIES, trimmed
from wikilda.linking import Document, Linked, LinkedMention, Linker
from wikilda.linking.batch import map_ordered
from wikilda.linking.restriction import ALL, Restriction
from wikilda.linking.unknown import unknown_in

NIL = "NIL"
LABEL = "ENTITY"  # label of mentions without a recogniser's label
AUTO, ENTS = "auto", "ents"
_NOTE = "wikilda.json"

DEFAULTS: dict[str, Any] = {
    "model": "", "knowledge": None, "mentions": AUTO, "method": "urn", "candidates": 5, "topics": 10, "workers": 1,
    "types": [], "category": "", "only": [], "exclude": [],
}  # fmt: skip


@Language.factory("wikilda", default_config=DEFAULTS, assigns=["doc.ents", "token.ent_kb_id", "span._.wikilda"])
def make_linker(
    nlp: Language, name: str, model: str, knowledge: str | None, mentions: str, method: str, candidates: int,
    topics: int, workers: int, types: list[str], category: str, only: list[str], exclude: list[str],
) -> "WikildaLinker":  # fmt: skip
    """Make the component from spaCy's configuration."""
    wanted = Restriction(tuple(types), category, tuple(only), tuple(exclude))
    return WikildaLinker(name, model, knowledge, mentions, method, candidates, topics, workers, wanted)


class WikildaLinker(Pipe):
    """Links the entities of a document, or detects and links its mentions.

    Parameters
    ----------
    name
        The name of the component in its pipeline.
    model, knowledge, method
        As in `Linker.open`.
    mentions
        `ents` links the entities that the pipeline has set before; a detector (`dictionary`) detects mentions; `auto`
        takes entities where a component has set them, else `dictionary`.
    candidates, topics
        As in `Linker.link`.
    workers
        Threads of `nlp.pipe`.
    wanted
        Which topics may be answers.
    """

    def __init__(
        self, name: str, model: str, knowledge: str | None = None, mentions: str = AUTO, method: str = "urn",
        candidates: int = 5, topics: int = 10, workers: int = 1, wanted: Restriction = ALL,
    ) -> None:  # fmt: skip
        if not model:
            raise SettingsError(
                'the component needs a model. Add it like nlp.add_pipe("wikilda", config={"model": "simple"}).'
            )
        self.name = name
        self._made_of = (name, model, knowledge, mentions, method, candidates, topics, workers, wanted)
        self.mentions, self.candidates, self.topics, self.workers = mentions, candidates, topics, workers
        self.wanted = wanted
        detector = "dictionary" if mentions in (AUTO, ENTS) else mentions
        self.linker = Linker.open(model, method=method, detector=detector, knowledge=knowledge)
        wanted.check(self.linker.knowledge)
        for kind in (Doc, Span):
            if not kind.has_extension("wikilda"):
                kind.set_extension("wikilda", default=None)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._made_of  # another process opens the model again

    def __call__(self, doc: Doc) -> Doc:
        """Link one document."""
        self._annotate(doc, self._link(doc))
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 64) -> Iterator[Doc]:
        """Link many documents in order, with the component's workers."""
        handle: Callable[..., None] = self.get_error_handler()

        def link(doc: Doc) -> tuple[Doc, Linked | Exception]:
            try:
                return doc, self._link(doc)
            except Exception as error:
                return doc, error

        for doc, linked in map_ordered(link, stream, self.workers):
            if isinstance(linked, Exception):
                handle(self.name, self, [doc], linked)
                continue
            self._annotate(doc, linked)
            yield doc

    def _link(self, doc: Doc) -> Linked:
        document = Document(doc.text, self._spans(doc))
        return self.linker.link(
            document, candidates=self.candidates, topics=self.topics, restriction=self.wanted
        )  # fmt: skip

    def _spans(self, doc: Doc) -> list[tuple[int, int]] | None:
        if self.mentions == ENTS or (self.mentions == AUTO and doc.has_annotation("ENT_IOB")):
            return [_place(self._named(each)) for each in doc.ents if each.label_ not in QUANTITIES]
        return None

    def _named(self, entity: Span) -> Span:
        """Return an entity in the knowledge's spelling: *United States* without article, *The Hague* with it."""
        return entity if self.linker.knowledge.find_mention(entity.text) >= 0 else trimmed(entity)

    def _annotate(self, doc: Doc, linked: Linked) -> None:
        spans = [_with_kb_id(each, NIL) for each in doc.ents if each.label_ in QUANTITIES]
        taken = {token.i for each in spans for token in each}
        given = {_place(self._named(each)): each for each in doc.ents}
        for mention in linked.mentions:
            span = given.get((mention.start, mention.end))
            span = span or doc.char_span(mention.start, mention.end, LABEL, alignment_mode="expand")
            if span is not None and taken.isdisjoint(range(span.start, span.end)):
                taken.update(range(span.start, span.end))
                spans.append(_with_kb_id(span, _kb_id(mention)))
                spans[-1]._.wikilda = mention.to_dict()
        spans += [_with_kb_id(each, NIL) for each in doc.ents if taken.isdisjoint(range(each.start, each.end))]
        doc.ents = sorted(spans, key=lambda each: each.start)
        doc._.wikilda = {
            "topics": [each.to_dict() for each in linked.topics],
            "unknown": [each.to_dict() for each in unknown_in(linked)],
            "knowledge": linked.source.to_dict(),
        }

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Serialise the component without the model."""
        return json.dumps({"model": self.linker.model.identity}).encode()

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> "WikildaLinker":
        """Check that the model is the one that the pipeline was saved with."""
        wanted, found = json.loads(data)["model"], self.linker.model.identity
        if wanted != found:
            raise ArtifactError(
                f"{self.linker.model.path}: is not the model that the pipeline was saved with ({found}, not {wanted}). "
                "Restore that model."
            )
        return self

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write the component into a directory."""
        Path(path).mkdir(parents=True, exist_ok=True)
        (Path(path) / _NOTE).write_bytes(self.to_bytes())

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> "WikildaLinker":
        """Check the model against a directory."""
        return self.from_bytes((Path(path) / _NOTE).read_bytes())


def _kb_id(mention: LinkedMention) -> str:
    """Return the Wikidata id where it is known, else the title."""
    return (mention.entity.wikidata or mention.entity.title) if mention.entity else NIL


def _place(span: Span) -> tuple[int, int]:
    return span.start_char, span.end_char


def _with_kb_id(span: Span, kb_id: str) -> Span:
    return Span(span.doc, span.start, span.end, span.label, kb_id=kb_id, span_id=span.id)

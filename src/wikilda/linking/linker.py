"""Text in, entities out: for each mention its candidates with their probabilities, and the document's topics."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from wikilda._core.errors import SettingsError
from wikilda.documents.detection import Detector, DetectorSettings, DictionaryDetector, choose_detector
from wikilda.documents.document import Document
from wikilda.documents.encoding import EncodedDocument, Parts, encode
from wikilda.knowledge import Knowledge
from wikilda.knowledge.describe import topic_of
from wikilda.lda.sampler import Ranking, Sampler
from wikilda.lda.settings import LdaSettings
from wikilda.linking import escalation
from wikilda.linking._ranking import Best, Rows, best_candidates
from wikilda.linking.batch import map_ordered
from wikilda.linking.methods import MethodSettings, check_method, method_of, method_settings
from wikilda.linking.results import NIL_ABOVE, Answers, Entity, Linked, LinkedMention, Source
from wikilda.model import Model
from wikilda.urn import Drawn, Urn, UrnSettings, segment
from wikilda.urn.document_topics import broad_topics, document_topics
from wikilda.urn.own_entities import OwnEntities, OwnEntity

if TYPE_CHECKING:
    from wikilda.linking._names import NameMatcher
    from wikilda.linking.reasons import Explained, Explanation

DEFAULT = UrnSettings()
_NO_TOPICS: Ranking = (np.empty(0, np.uint32), np.empty(0, np.float64))


class Linker:
    """Links documents with a model. One linker serves many threads; the same document always gets the same answer.

    Mentions and the document's topics are inferred by the urn, or by the paper's sampler if the settings are those of
    it.

    Examples
    --------
    >>> from wikilda import Linker
    >>> linker = Linker.open(sample)
    >>> linker
    Linker('samplewiki', 249 topics, method='urn')
    >>> linked = linker.link("Croft took five wickets for England.")
    >>> linked.mentions[0]
    LinkedMention('Croft' [0:5] → 'Robert Croft', confidence=...)
    """

    def __init__(
        self, model: Model, knowledge: Knowledge | None = None, settings: MethodSettings = DEFAULT,
        detector: Detector | None = None,
    ) -> None:  # fmt: skip
        self.model, self.settings = model, settings
        self.knowledge = knowledge or model.knowledge()
        self.urn = Urn(model, self.knowledge, settings) if isinstance(settings, UrnSettings) else None
        self.source = Source.of(self.knowledge)
        self._entity = lru_cache(1 << 14)(self._make_entity)
        self.detector: Detector = detector or DictionaryDetector(self.knowledge)

    @cached_property
    def names(self) -> "NameMatcher":
        """What cells of tables are matched with."""
        from wikilda.linking._names import NameMatcher

        return NameMatcher(self.knowledge)

    def __repr__(self) -> str:
        return (
            f"Linker({self.source.wiki!r}, {len(self.knowledge.titles):,} topics, method={method_of(self.settings)!r})"
        )

    @classmethod
    def open(
        cls, model: str | Path, *, method: str | None = None, detector: str | Detector = "dictionary",
        settings: MethodSettings | Mapping[str, Any] | None = None, detection: DetectorSettings | None = None,
        knowledge: str | Path | None = None,
    ) -> "Linker":  # fmt: skip
        """Open a model for linking.

        Parameters
        ----------
        model
            The directory of the model: what `wikilda build` or `wikilda train` wrote.
        method
            `urn` (the default) or `lda`, the paper's sampler.
        detector
            How mentions are detected in raw text: `dictionary`, `spacy`, `spacy:MODEL`, or an object with a method
            `detect(text)` that returns spans.
        settings
            Settings of the method: `UrnSettings`, `LdaSettings`, or a mapping of those that differ from the defaults.
        detection
            Settings of the dictionary detector.
        knowledge
            The model's knowledge, if it has moved.

        Examples
        --------
        >>> from wikilda import Linker
        >>> Linker.open(sample, method="lda", settings={"sweeps": 20}).settings.burn_in
        4
        >>> Linker.open(sample, detector="regex")
        Traceback (most recent call last):
        wikilda._core.errors.SettingsError: there is no detector 'regex': choose dictionary, spacy, or spacy:MODEL.
        """
        chosen, opened = method_settings(method, settings), Model.open(model)
        check_method(opened, chosen)
        known = opened.knowledge(knowledge)
        return cls(opened, known, chosen, _detector(detector, known, detection or DetectorSettings()))

    def link(
        self, document: Document | str, *, candidates: int = 5, topics: int = 10,
        decided: Mapping[tuple[int, int], str | None] | None = None,
        entities: "Iterable[OwnEntity | Mapping[str, Any]]" = (), nested: bool = False,
    ) -> Linked:  # fmt: skip
        """Link a document: detect its mentions if they are not given, and decide what each refers to.

        Parameters
        ----------
        document
            A text, or a `Document`, which may have mentions and an id. Random numbers depend on the id.
        candidates
            Candidates of a mention in the result, best first.
        topics
            Topics of the document in the result, largest first; 0 saves the time to infer them.
        decided
            Titles of mentions, by their spans, that are known already, None for NIL; the others are drawn given these.
        entities
            Entities of your own that mentions of this document may mean, besides those of the wiki: `OwnEntity` or
            mappings with its fields. Their names are detected, too.
        nested
            Whether the known names inside of detected mentions are mentions, too. By default mentions do not overlap.

        Examples
        --------
        >>> linked = linker.link("Croft took five wickets for England.")
        >>> [(each.text, each.entity.title) for each in linked.mentions]
        [('Croft', 'Robert Croft'), ('England', 'England cricket team')]
        >>> linked.mentions[0].candidates[:2]
        [Candidate('Robert Croft', probability=..., prior=0.200), Candidate(...)]
        """
        own = self._own(entities)
        parts: Parts = "all" if nested else "unknown" if self.urn else ""
        encoded = self.encode(self._with_names(_document(document), own) if own else document, parts=parts)
        if decided:
            encoded = escalation.given(self, encoded, decided)
        symbols = np.asarray(encoded.mentions)
        kept, shares = None, _NO_TOPICS
        if self.urn:
            drawn = self.urn.draw(encoded, own)
            rows, nil = Rows(drawn.offsets, drawn.topics, drawn.posterior), drawn.nil
            best = best_candidates(self.model.mentions, rows, symbols, np.arange(len(symbols)), candidates)
            unknown = nil > NIL_ABOVE
            if _document(document).mentions is None:
                kept = segment(encoded, drawn.best(), unknown, nested=nested)
                if decided:
                    kept |= [span in decided for span in encoded.spans]
            if topics:
                shares = document_topics(self.urn, encoded, drawn, unknown if kept is None else unknown | ~kept)
        else:
            sampled = self.sampler.sample(encoded)
            rows = Rows(sampled.counts.offsets, sampled.counts.topics, sampled.counts.sweeps.astype(np.float64))
            places = np.where(symbols >= 0, sampled.rows, -1)
            best = best_candidates(self.model.mentions, rows, symbols, places, candidates)
            nil, shares = (symbols < 0).astype(np.float64), sampled.mixture
        answers = self._answers(encoded, best, nil, (shares[0][:topics], shares[1][:topics]), own)
        linked = Linked(answers if kept is None else answers.some(kept), self.source)
        return escalation.with_decided(self, linked, decided) if decided else linked

    def _answers(
        self, encoded: EncodedDocument, best: Best, nil: NDArray[np.float64], topics: Ranking, own: OwnEntities | None
    ) -> Answers:
        document = Document(encoded.text, list(encoded.spans), str(encoded.id))
        entity = partial(self._own_entity, own) if own else self._entity
        return Answers(document.spans, *best, nil, *topics, entity, document)

    def link_many(
        self, documents: Iterable[Document | str], *, workers: int = 1, candidates: int = 5, topics: int = 10,
        nested: bool = False,
    ) -> Iterator[Linked]:  # fmt: skip
        """Link documents in their order; they are read as results are taken, so there may be any number of them.

        Parameters
        ----------
        documents
            Texts or documents.
        workers
            Threads: they share the model, and its kernels run without the interpreter's lock. Results do not depend
            on them.
        candidates, topics, nested
            As in `link`.

        Examples
        --------
        >>> [len(each.mentions) for each in linker.link_many(["Croft bowled.", "England won."], workers=2)]
        [1, 1]
        """
        if isinstance(documents, str | Document):
            raise TypeError("link_many takes several texts: a list of str or Document. Use link for one.")

        def link(document: Document | str) -> Linked:
            return self.link(document, candidates=candidates, topics=topics, nested=nested)

        return map_ordered(link, documents, workers)

    def link_frame(self, frame: Any, text: str = "text", **options: Any) -> Any:
        """Link the texts of a data frame: pandas, Polars, Arrow, or another with Arrow's interface.

        Parameters
        ----------
        frame
            The data frame. A null in its text column is a document without mentions.
        text
            The column with the texts.
        id
            The column that identifies documents, on which random numbers depend; by default the number of the row.
        rows
            `mentions` for a row a mention, with flat columns, or `documents` for the frame with a column `mentions`
            that has lists of the same.
        workers
            Threads.

        Returns
        -------
        A data frame of the same library: `document`, `start`, `end`, `mention`, `title`, `topic`, `wikidata`,
        `confidence`, `posterior`, `nil`, `prior`, `type`. What is known of the entity is null where it is NIL.

        Examples
        --------
        >>> import pyarrow as pa
        >>> found = linker.link_frame(pa.table({"text": ["Croft bowled for England.", None]}))
        >>> found.select(["document", "mention", "title", "type"]).to_pylist()[0]
        {'document': 0, 'mention': 'Croft', 'title': 'Robert Croft', 'type': 'person'}
        """
        from wikilda.linking.frames import link_frame

        return link_frame(self, frame, text, **options)

    def match_frame(self, frame: Any, column: str, **options: Any) -> Any:
        """Match the cells of a column of a data frame with entities, and with each other.

        Parameters
        ----------
        frame
            A data frame, as in `link_frame`.
        column
            The column whose cells are matched; they are each other's context.
        context
            Other columns that tell the cells apart.
        types
            Types of the entities that cells may mean.
        workers
            Threads.

        Returns
        -------
        The data frame with more columns: `match_title`, `match_topic`, `match_wikidata`, `match_type`,
        `match_confidence`, `match_posterior`, `match_nil`, and `match_cluster`, which is the same for cells that mean
        the same entity, or the same unknown thing.

        Examples
        --------
        >>> import pyarrow as pa
        >>> cells = ["Croft", "Brian Lara", "Zyx Holdings", "Zyx Holdings, Ltd."]
        >>> found = linker.match_frame(pa.table({"name": cells}), "name")
        >>> found.select(["match_title", "match_cluster"]).to_pydict()
        {'match_title': ['Robert Croft', 'Brian Lara', None, None], 'match_cluster': [0, 1, 2, 2]}
        """
        from wikilda.linking.match import match_frame

        return match_frame(self, frame, column, **options)

    @overload
    def explain(self, what: LinkedMention, *, candidates: int = 5) -> "Explanation": ...

    @overload
    def explain(self, what: Linked | Document | str, *, candidates: int = 5) -> "Explained": ...

    def explain(
        self, what: LinkedMention | Linked | Document | str, *, candidates: int = 5
    ) -> "Explanation | Explained":
        """Explain the choice of an entity: what each kind of evidence adds to the log odds of the candidates.

        Parameters
        ----------
        what
            A mention of a result of `link`; or a result, a document or a text, to have all mentions explained.
        candidates
            Candidates of a mention that are explained.

        Examples
        --------
        >>> linked = linker.link("Croft took five wickets for England.")
        >>> best = linker.explain(linked.mentions[0]).candidates[0]
        >>> best.entity.title, best.odds.words > 0, "wickets" in [each.word for each in best.top_words]
        ('Robert Croft', True, True)
        """
        from wikilda.linking.explanation import explain, explain_document

        if isinstance(what, LinkedMention):
            number = what.document.spans.index((what.start, what.end))
            return explain(self, what.document, number, candidates=candidates)
        if isinstance(what, Linked):
            what = Document(what.text, [(each.start, each.end) for each in what.mentions], what.id)
        return explain_document(self, _document(what), candidates=candidates)

    def topics(self, document: Document | str, *, by_words: int = 0) -> Ranking:
        """The document's topics as numbers of the knowledge, and their shares, largest first.

        Parameters
        ----------
        document
            A text, or a `Document`.
        by_words
            So many topics more that its words go with: features that documents on one subject share. The paper's
            sampler gives all topics of words anyway.
        """
        encoded = self.encode(document)
        if self.urn:
            drawn = self.urn.draw(encoded)
            found = document_topics(self.urn, encoded, drawn, drawn.nil > NIL_ABOVE)
            return broad_topics(self.urn, encoded, found, by_words) if by_words else found
        return self.sampler.sample(encoded).mixture

    def encode(self, document: Document | str, *, contexts: bool | None = None, parts: Parts = "") -> EncodedDocument:
        """A document as symbols; the detector finds its mentions if they are not given, and `parts` of them.

        With `contexts`, it has the context symbols of its mentions, which the urn needs if the model knows contexts.
        """
        if contexts is None:
            contexts = self.urn is not None and self.urn.contexts is not None
        return encode(_document(document), self.knowledge, self.detector, contexts=contexts, parts=parts)

    @cached_property
    def sampler(self) -> Sampler:
        """The paper's sampler."""
        settings = LdaSettings(seed=self.settings.seed) if isinstance(self.settings, UrnSettings) else self.settings
        return Sampler(self.model, settings, self.knowledge.graph)

    def draw(self, document: EncodedDocument | Document | str) -> Drawn:
        """Draw the mentions of a document from the urn."""
        if self.urn is None:
            raise SettingsError("this linker has no urn: it was opened with the settings of the paper's sampler")
        return self.urn.draw(document if isinstance(document, EncodedDocument) else self.encode(document))

    def entity(self, topic: int | np.integer[Any] | str) -> Entity:
        """The entity of a topic, by its number or by a title, which may be that of a redirect.

        Examples
        --------
        >>> linker.entity("Robert Croft").url
        'https://example.org/wiki/Robert_Croft'
        >>> linker.entity("Robert Crof")
        Traceback (most recent call last):
        wikilda._core.errors.InputError: there is no title 'Robert Crof'; there are: Robert Croft, robert croft.
        """
        return self._entity(topic_of(self.knowledge, topic) if isinstance(topic, str) else int(topic))

    def _make_entity(self, topic: int) -> Entity:
        known = self.knowledge
        item = int(known.wikidata[topic])
        title = known.titles[topic]
        wikidata, kind = f"Q{item}" if item else None, known.types.best(topic)
        return Entity(title, int(known.page_ids[topic]), wikidata, known.url(topic), kind, topic, known.id(topic))

    def _own(self, entities: "Iterable[OwnEntity | Mapping[str, Any]]") -> OwnEntities | None:
        own = OwnEntities(entities, self.knowledge) if entities else None
        if own and not self.urn:
            raise SettingsError("entities of your own need the method urn")
        return own if own and own.entities else None

    def _with_names(self, document: Document, own: OwnEntities) -> Document:
        """A document whose mentions are detected, if they are not given, with the names of own entities."""
        if document.mentions is not None:
            return document
        return Document(document.text, own.spans(document.text, self.detector.detect(document.text)), document.id)

    def _own_entity(self, own: OwnEntities, topic: int) -> Entity:
        if topic < own.first:
            return self._entity(topic)
        given = own.entities[topic - own.first]
        return Entity(given.title, 0, None, "", given.type)


def _document(given: Document | str) -> Document:
    if isinstance(given, str):
        return Document(given)
    if not isinstance(given, Document):
        raise TypeError(f"a document is a str or a Document, not {type(given).__name__}; use link_many for several.")
    return given


def _detector(given: str | Detector, knowledge: Knowledge, settings: DetectorSettings) -> Detector:
    if isinstance(given, str):
        return choose_detector(given, knowledge, settings)
    if not callable(getattr(given, "detect", None)):
        raise TypeError(f"a detector is a name or an object with detect(text), not {type(given).__name__}.")
    return given

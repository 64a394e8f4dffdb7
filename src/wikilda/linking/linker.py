"""The linker: for each mention of a text its candidates with probabilities, and the text's topics."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, lru_cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from wikilda._core.errors import ArtifactError, SettingsError
from wikilda.documents.detection import Detector, DetectorSettings, DictionaryDetector, choose_detector
from wikilda.documents.document import Document
from wikilda.documents.encoding import EncodedDocument, Parts, encode
from wikilda.knowledge import Knowledge
from wikilda.knowledge.describe import topic_of
from wikilda.linking import escalation
from wikilda.linking.batch import map_ordered
from wikilda.linking.inference import Inference
from wikilda.linking.methods import Method, MethodSettings, Ranking, check_method, make_method, method_settings
from wikilda.linking.restriction import ALL, Allowed, Restriction
from wikilda.linking.results import Entity, Linked, LinkedMention, Request, Source
from wikilda.model import Model
from wikilda.urn import UrnSettings
from wikilda.urn.method import UrnMethod
from wikilda.urn.own_entities import OwnEntities, OwnEntity
from wikilda.urn.prior_shift import TEXTS, PriorShift, estimate

if TYPE_CHECKING:
    from wikilda.linking._names import NameMatcher
    from wikilda.linking.reasons import Explained, Explanation

DEFAULT = UrnSettings()


class Linker:
    """Links documents with a model. One linker serves many threads; the same document always gets the same answer.

    The settings choose the method: the urn, or the paper's sampler.

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
        self.method = make_method(model, self.knowledge, settings)
        self._begin(Source.of(self.knowledge), detector)

    def _begin(self, source: Source, detector: Detector | None, allowed: Allowed | None = None) -> None:
        self.source, self._allowed = source, allowed
        self._entity = lru_cache(1 << 14)(self._make_entity)
        self.detector: Detector = detector or DictionaryDetector(self.knowledge)

    @classmethod
    def of_parts(
        cls, method: Method, knowledge: Knowledge, detector: Detector, source: Source, allowed: Allowed | None = None
    ) -> "Linker":
        """Return a linker over parts of knowledge in memory: it has no model, and may have the allowed topics."""
        made = cls.__new__(cls)
        made.settings, made.knowledge, made.method = method.settings, knowledge, method
        made._begin(source, detector, allowed)
        return made

    def allowed(self, restriction: Restriction) -> Allowed:
        """Return the topics that a restriction leaves."""
        return self._allowed or restriction.allowed(self.knowledge)

    @cached_property
    def names(self) -> "NameMatcher":
        """The names that cells of tables are matched with."""
        from wikilda.linking._names import NameMatcher

        return NameMatcher(self.knowledge)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by path: another process of this machine opens the same files, which it shares in memory."""
        own = self.detector.settings if type(self.detector) is DictionaryDetector else self.detector
        return _reopen, (
            self.model.path.resolve(),
            self.knowledge.path.resolve(),
            self.model.identity,
            self.settings,
            own,
        )

    def __repr__(self) -> str:
        return f"Linker({self.source.wiki!r}, {len(self.knowledge.titles):,} topics, method={self.settings.method!r})"

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

    def infer(
        self, document: Document | str, *, decided: Mapping[tuple[int, int], str | None] | None = None,
        entities: "Iterable[OwnEntity | Mapping[str, Any]]" = (), nested: bool = False, restriction: Restriction = ALL,
    ) -> Inference:  # fmt: skip
        """Infer the mentions of a document once, for several views of them.

        Parameters
        ----------
        document, decided, entities, nested, restriction
            As in `link`.

        Examples
        --------
        >>> inference = linker.infer("Croft took five wickets for England.")
        >>> inference.linked().mentions[0].confidence == inference.explain().mentions[0].confidence
        True
        """
        own = tuple(OwnEntity.of(each) for each in entities)
        return self.infer_request(Request(_document(document), nested, own, decided, restriction))

    def infer_request(self, request: Request) -> Inference:
        """Infer a document again, with the options of an answer."""
        own = OwnEntities(request.entities, self.knowledge) if request.entities else None
        document = request.document
        if own is not None and document.mentions is None:
            document = Document(
                document.text, own.spans(document.text, self.detector.detect(document.text)), document.id
            )
        encoded = self.encode(document, nested=request.nested)
        if request.decided:
            encoded = escalation.given(self, encoded, request.decided)
        return Inference(self, request, encoded, self.method.infer(encoded, own), own)

    def link(
        self, document: Document | str, *, candidates: int = 5, topics: int = 10,
        decided: Mapping[tuple[int, int], str | None] | None = None,
        entities: "Iterable[OwnEntity | Mapping[str, Any]]" = (), nested: bool = False, restriction: Restriction = ALL,
    ) -> Linked:  # fmt: skip
        """Link a document: detect its mentions if they are not given, and decide what each refers to.

        Parameters
        ----------
        document
            A text, or a `Document`, which may have mentions and an id. Random numbers depend on the id.
        candidates
            The number of candidates per mention in the result, best first.
        topics
            The number of topics of the document in the result, largest first. 0 saves the time to infer them.
        decided
            Known titles of mentions, by their spans; None for NIL. The others are inferred given these.
        entities
            Entities of your own that mentions of this document may mean, besides those of the wiki: `OwnEntity` or
            mappings with its fields. Their names are detected, too.
        nested
            Whether the known names inside of detected mentions are mentions, too. By default mentions do not overlap.
        restriction
            Which entities may be answers. Mentions that cannot mean any of them are left out.

        Examples
        --------
        >>> linked = linker.link("Croft took five wickets for England.")
        >>> [(each.text, each.entity.title) for each in linked.mentions]
        [('Croft', 'Robert Croft'), ('England', 'England cricket team')]
        >>> linked.mentions[0].candidates[:2]
        [Candidate('Robert Croft', probability=..., prior=0.22...), Candidate(...)]
        """
        inference = self.infer(document, decided=decided, entities=entities, nested=nested, restriction=restriction)
        return inference.linked(candidates, topics)

    def link_many(
        self, documents: Iterable[Document | str], *, workers: int = 1, candidates: int = 5, topics: int = 10,
        nested: bool = False, restriction: Restriction = ALL,
    ) -> Iterator[Linked]:  # fmt: skip
        """Link documents in their order; they are read as results are taken, so there may be any number of them.

        Parameters
        ----------
        documents
            Texts or documents.
        workers
            Threads: they share the model, and its kernels run without the interpreter's lock. Results do not depend
            on them.
        candidates, topics, nested, restriction
            As in `link`.

        Examples
        --------
        >>> [len(each.mentions) for each in linker.link_many(["Croft bowled.", "England won."], workers=2)]
        [1, 1]
        """
        if isinstance(documents, str | Document):
            raise TypeError("link_many takes several texts: a list of str or Document. Use link for one.")

        def link(document: Document | str) -> Linked:
            return self.link(
                document, candidates=candidates, topics=topics, nested=nested, restriction=restriction
            )  # fmt: skip

        return map_ordered(link, documents, workers)

    def estimate_prior(self, documents: Iterable[Document | str]) -> PriorShift:
        """Estimate from texts how their prior differs from the model's: how they name entities, and which they name.

        The wiki's own articles name an entity by its title more often than other texts do. The estimate needs no
        labels. It is worth while for a hundred texts of one kind or more; `train` makes it for its texts.

        Parameters
        ----------
        documents
            Texts or documents. The first 400 are read.

        Examples
        --------
        >>> shift = linker.estimate_prior(["Croft took five wickets for England.", "England won."])
        >>> 0 < shift.naming < 3, shift.texts
        (True, 2)
        >>> Linker.open(sample, settings=shift.settings())
        Linker('samplewiki', 249 topics, method='urn')
        """
        if not isinstance(self.method, UrnMethod):
            raise SettingsError("the prior of texts can be estimated for the method urn only. Use --method urn.")
        return estimate(self.method.urn, [self.encode(each) for each in islice(documents, TEXTS)])

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
            `mentions` for one row per mention, with flat columns, or `documents` for the frame with a column `mentions`
            of lists.
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
        if isinstance(what, LinkedMention):
            return self.infer_request(what.request).explain_some([(what.start, what.end)], candidates)[0]
        inference = self.infer_request(what.request) if isinstance(what, Linked) else self.infer(what)
        return inference.explain(candidates)

    def topics(self, document: Document | str, *, by_words: int = 0) -> Ranking:
        """Return the document's topics as numbers of the knowledge, and their shares, largest first.

        Parameters
        ----------
        document
            A text, or a `Document`.
        by_words
            Number of additional topics to infer from words: features that documents on one subject share. The paper's
            sampler has the topics of words anyway.
        """
        return self.infer(document).topics(by_words)

    def encode(self, document: Document | str, *, nested: bool = False) -> EncodedDocument:
        """Encode a document as symbols, as the method reads it. Mentions are detected if they are not given."""
        parts: Parts = "all" if nested else "unknown" if self.method.proposes_parts else ""
        contexts = self.method.needs_contexts
        return encode(_document(document), self.knowledge, self.detector, contexts=contexts, parts=parts)

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


def _reopen(
    model: Path, knowledge: Path, identity: str, settings: MethodSettings, detector: Detector | DetectorSettings
) -> Linker:
    """Open a pickled linker. Tasks of one process share it."""
    if isinstance(detector, DetectorSettings):
        return _opened_once(model, knowledge, identity, settings, detector)
    return Linker(_same(model, identity), Knowledge.open(knowledge), settings, detector)


@lru_cache(maxsize=4)
def _opened_once(
    model: Path, knowledge: Path, identity: str, settings: MethodSettings, detection: DetectorSettings
) -> Linker:
    known = Knowledge.open(knowledge)
    return Linker(_same(model, identity), known, settings, DictionaryDetector(known, detection))


def _same(path: Path, identity: str) -> Model:
    model = Model.open(path)
    if model.identity != identity:
        raise ArtifactError(f"{path}: is another model than that of the pickled linker. Restore the model.")
    return model

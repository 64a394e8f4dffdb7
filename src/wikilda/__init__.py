"""Entity linking on a CPU, from any MediaWiki dump, in any language.

    from wikilda import Linker, build

    build("simplewiki.xml.bz2", "simple")
    linker = Linker.open("simple")
    print(linker.link("Croft took five wickets for England.").mentions)

All names below are the public API; they are imported when they are first used.
"""

__version__ = "0.2.0"

TYPE_CHECKING = False  # as type checkers understand it, without the time to import `typing`
if TYPE_CHECKING:
    from wikilda._core.errors import ArtifactError, BusyError, InputError, SettingsError, WikildaError
    from wikilda.documents.detection import Detector, DetectorSettings, DictionaryDetector, SpacyDetector
    from wikilda.documents.document import Document, marked
    from wikilda.documents.reading import Bad, ReadSettings, read_documents
    from wikilda.evaluation.evaluate import Evaluation, evaluate, evaluate_own_links
    from wikilda.knowledge import BuildSettings, Knowledge
    from wikilda.knowledge.diff import Diff, diff
    from wikilda.knowledge.estimate import Estimate, estimate
    from wikilda.lda.settings import LdaSettings
    from wikilda.linking.files import LinkedFiles, link_files
    from wikilda.linking.inference import Inference
    from wikilda.linking.linker import Linker
    from wikilda.linking.match_files import Matched, match_file
    from wikilda.linking.reasons import Explained, Explanation
    from wikilda.linking.restriction import Restriction
    from wikilda.linking.results import Candidate, Entity, Linked, LinkedMention, Source, TopicShare, is_nil
    from wikilda.linking.unknown import Unknown, unknown_names
    from wikilda.mediawiki.download import download
    from wikilda.model import Model, ModelSettings, create_model
    from wikilda.model.pack import get, pack
    from wikilda.server import serve
    from wikilda.server.settings import ServerSettings
    from wikilda.suggestions import Suggestion, Suggestions, suggest
    from wikilda.training.build import build
    from wikilda.training.corpus import Corpus, CorpusSettings, make_corpus
    from wikilda.training.likelihood_plot import plot_training
    from wikilda.training.pipeline import train
    from wikilda.training.report import TrainingReport
    from wikilda.training.settings import LdaTraining, TrainingPlan, UrnTraining
    from wikilda.training.topic_changes import topic_changes
    from wikilda.training.update import update
    from wikilda.urn.own_entities import OwnEntity
    from wikilda.urn.settings import UrnSettings

_HOMES = {
    "_core.errors": ("ArtifactError", "BusyError", "InputError", "SettingsError", "WikildaError"),
    "documents.detection": ("Detector", "DetectorSettings", "DictionaryDetector", "SpacyDetector"),
    "documents.document": ("Document", "marked"),
    "documents.reading": ("Bad", "ReadSettings", "read_documents"),
    "evaluation.evaluate": ("Evaluation", "evaluate", "evaluate_own_links"),
    "knowledge": ("BuildSettings", "Knowledge"),
    "knowledge.diff": ("Diff", "diff"),
    "knowledge.estimate": ("Estimate", "estimate"),
    "lda.settings": ("LdaSettings",),
    "linking.files": ("LinkedFiles", "link_files"),
    "linking.inference": ("Inference",),
    "linking.linker": ("Linker",),
    "linking.match_files": ("Matched", "match_file"),
    "linking.reasons": ("Explained", "Explanation"),
    "linking.restriction": ("Restriction",),
    "linking.results": ("Candidate", "Entity", "Linked", "LinkedMention", "Source", "TopicShare", "is_nil"),
    "linking.unknown": ("Unknown", "unknown_names"),
    "mediawiki.download": ("download",),
    "model": ("Model", "ModelSettings", "create_model"),
    "model.pack": ("get", "pack"),
    "server": ("serve",),
    "server.settings": ("ServerSettings",),
    "suggestions": ("Suggestion", "Suggestions", "suggest"),
    "training.build": ("build",),
    "training.corpus": ("Corpus", "CorpusSettings", "make_corpus"),
    "training.likelihood_plot": ("plot_training",),
    "training.pipeline": ("train",),
    "training.report": ("TrainingReport",),
    "training.settings": ("LdaTraining", "TrainingPlan", "UrnTraining"),
    "training.topic_changes": ("topic_changes",),
    "training.update": ("update",),
    "urn.own_entities": ("OwnEntity",),
    "urn.settings": ("UrnSettings",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "ArtifactError", "Bad", "BuildSettings", "BusyError", "Candidate", "Corpus", "CorpusSettings", "Detector",
    "DetectorSettings", "DictionaryDetector", "Diff", "Document", "Entity", "Estimate", "Evaluation", "Explained",
    "Explanation", "Inference", "InputError", "Knowledge", "LdaSettings", "LdaTraining", "Linked", "LinkedFiles",
    "LinkedMention", "Linker", "Matched", "Model", "ModelSettings", "OwnEntity", "ReadSettings", "Restriction",
    "ServerSettings", "SettingsError", "Source", "SpacyDetector", "Suggestion", "Suggestions", "TopicShare",
    "TrainingPlan", "TrainingReport", "Unknown", "UrnSettings", "UrnTraining", "WikildaError", "__version__", "build",
    "create_model", "diff", "download", "estimate", "evaluate", "evaluate_own_links", "get", "is_nil", "link_files",
    "make_corpus", "marked", "match_file", "pack", "plot_training", "read_documents", "serve", "suggest",
    "topic_changes", "train", "unknown_names", "update",
]  # fmt: skip


if not TYPE_CHECKING:  # so that type checkers report unknown names

    def __getattr__(name: str) -> object:
        """Import a public name when it is first used (PEP 562)."""
        if name not in _HOME_OF:
            raise AttributeError(f"module 'wikilda' has no attribute {name!r}")
        from importlib import import_module

        value = getattr(import_module(f"wikilda.{_HOME_OF[name]}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

"""The shapes of other services, so that their clients change nothing but an address."""

import re

from wikilda.knowledge import Knowledge
from wikilda.linking import Entity

_ESCAPED = re.compile('[\\x00-\\x20"#%<>?\\[\\\\\\]^`{|}\\x7f]')
DBPEDIA_TYPES = {
    "person": "DBpedia:Person", "organisation": "DBpedia:Organisation", "place": "DBpedia:Place",
    "event": "DBpedia:Event", "work": "DBpedia:Work", "product": "Schema:Product", "species": "DBpedia:Species",
}  # fmt: skip
_WIKIDATA = "http://www.wikidata.org/entity/"


def underscored(title: str) -> str:
    """A title as it stands in an address."""
    return title.replace(" ", "_")


def dbpedia(title: str, language: str) -> str:
    """DBpedia's resource for an article; those of English have no language in their host."""
    host = "dbpedia.org" if language in ("", "en", "simple") else f"{language}.dbpedia.org"
    return f"http://{host}/resource/{resource_name(title)}"


def resource_name(title: str) -> str:
    """A title as DBpedia writes it: other scripts as they are, what no address may hold percent-encoded."""
    return _ESCAPED.sub(lambda found: f"%{ord(found.group()):02X}", underscored(title))


def has_identifiers(knowledge: Knowledge, kind: str) -> bool:
    """Whether any entity has a name in a scheme: tables need not bring items or addresses."""
    if kind == "wikidata":
        return bool(knowledge.wikidata.any())
    return kind != "wiki" or bool(knowledge.site.url("A"))


def identifier(entity: Entity, kind: str, language: str) -> str | None:
    """An entity in a scheme of names: dbpedia, wikidata or wiki (its own address)."""
    if kind == "wikidata":
        return _WIKIDATA + entity.wikidata if entity.wikidata else None
    if kind == "wiki":
        return entity.url or None
    return dbpedia(entity.title, language)

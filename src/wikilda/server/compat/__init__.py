"""The APIs of other services, whose clients change only the address."""

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
    """Return a title as in an address."""
    return title.replace(" ", "_")


def dbpedia(title: str, language: str) -> str:
    """Return DBpedia's resource for an article. Those of English have no language in the host."""
    host = "dbpedia.org" if language in ("", "en", "simple") else f"{language}.dbpedia.org"
    return f"http://{host}/resource/{resource_name(title)}"


def resource_name(title: str) -> str:
    """Return a title in DBpedia's spelling: characters that addresses cannot hold are percent-encoded."""
    return _ESCAPED.sub(lambda found: f"%{ord(found.group()):02X}", underscored(title))


def has_identifiers(knowledge: Knowledge, kind: str) -> bool:
    """Whether any entity has a name in a scheme: tables may lack items and addresses."""
    if kind == "wikidata":
        return bool(knowledge.wikidata.any())
    return kind != "wiki" or bool(knowledge.site.url("A"))


def identifier(entity: Entity, kind: str, language: str) -> str | None:
    """Return the identifier of an entity in a scheme: dbpedia, wikidata or wiki (its address)."""
    if kind == "wikidata":
        return _WIKIDATA + entity.wikidata if entity.wikidata else None
    if kind == "wiki":
        return entity.url or None
    return dbpedia(entity.title, language)

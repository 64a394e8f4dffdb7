"""Lists of entities: one row per entity, from a table or a data frame, checked and as knowledge takes them.

Every problem that makes a row unusable is collected, so that one run names them all. What is usable but questionable
(a name that two entities share, a relation to an unknown id) is reported, and the row is kept.
"""

import csv
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from io import TextIOWrapper
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from wikilda._core.compression import json_objects, open_compressed, uncompressed_suffix, whole_lines
from wikilda._core.errors import InputError, Report
from wikilda._core.parquet import ParquetError, read_table
from wikilda.knowledge._type_words import LANGUAGES, TYPES
from wikilda.text import normalized

COMMON = 100  # occurrences of a function word, for each that is a mention
EXPLICIT = 1000  # links that a listed name counts as
USUAL_ODDS = 0.1  # that an occurrence of a string is a link, in an average wiki
ENDINGS = (".csv", ".tsv", ".tab", ".jsonl", ".ndjson", ".parquet")
COLUMNS = (
    "id", "name", "aliases", "description", "text", "type", "categories", "wikidata", "url", "related",
)  # fmt: skip
_SEPARATOR = re.compile(r"[|;\n]")
_ITEM = re.compile(r"(?:.*/)?Q?(\d{1,12})", re.IGNORECASE)
_LONGEST = 500  # characters of a name
_SHOWN = 20  # problems in a message
_LETTERS = re.compile(r"\w")


@dataclass(frozen=True)
class ListedEntity:
    """A row of a list of entities."""

    row: int
    id: str
    name: str
    aliases: tuple[str, ...] = ()
    description: str = ""
    text: str = ""
    type: str = ""
    categories: tuple[str, ...] = ()
    wikidata: int = 0
    url: str = ""
    related: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The name and the aliases, each once."""
        return tuple(dict.fromkeys((self.name, *self.aliases)))


@dataclass
class EntityList:
    """The entities of a list, and what is questionable about it."""

    source: str
    rows: list[ListedEntity]
    report: Report = field(default_factory=Report)

    def titles(self, is_taken: Callable[[str], bool] = lambda _: False) -> dict[str, str]:
        """The title of each entity, by its id: its name, or `name (id)` where the name is not unique."""
        counts = Counter(each.name for each in self.rows)
        used = {name for name, count in counts.items() if count == 1 and not is_taken(name)}
        found = {}
        for each in self.rows:
            title = each.name
            if title not in used:
                title = f"{each.name} ({each.id})"
                while title in used or is_taken(title):
                    title += "*"
                used.add(title)
            found[each.id] = title
        return found

    def lower_case(self) -> set[str]:
        """Normalised names that are listed in lower case and are not function words: texts have them so, too."""
        common = function_words()
        return {
            normalized(name) for each in self.rows for name in each.names if name == name.lower() != name.upper()
        } - common  # fmt: skip

    def common_words(self) -> set[str]:
        """Normalised names that are function words."""
        return {normalized(name) for each in self.rows for name in each.names} & function_words()


def is_list(source: Any) -> bool:
    """Whether a source of a build is a list of entities: a file of a table, or a data frame."""
    if isinstance(source, str | Path):
        return uncompressed_suffix(Path(source)) in ENDINGS
    return not isinstance(source, list | tuple)


def read_entities(source: Any) -> EntityList:
    """Read a list of entities.

    Parameters
    ----------
    source
        A file (.csv, .tsv, .jsonl, .parquet; text may be compressed), or a data frame (pandas, Polars, Arrow).

    Raises
    ------
    InputError
        Naming every row without a usable id or name and every id that occurs twice.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from wikilda.knowledge.entities import read_entities
    >>> listed = read_entities(pa.table({"id": ["C1"], "name": ["Acme Corporation"], "aliases": ["Acme|ACME"]}))
    >>> listed.rows[0].names
    ('Acme Corporation', 'Acme', 'ACME')
    """
    name = str(source) if isinstance(source, str | Path) else "entities"
    if isinstance(source, str | Path) and not Path(source).is_file():
        raise InputError(f"{source}: no such file. Check the path.")
    given = _file_rows(Path(source)) if isinstance(source, str | Path) else _frame_rows(source)
    report, rows, wrong = Report(), list[ListedEntity](), list[str]()
    first: dict[str, int] = {}
    for number, row in given:
        made = _entity(number, row, wrong)
        if made is None:
            continue
        if made.id in first:
            wrong.append(f"row {number}: id {made.id[:60]!r} is also the id of row {first[made.id]}")
            continue
        first[made.id] = number
        rows.append(made)
    if wrong:
        more = f"\n  … and {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
        raise InputError(
            f"{name}: {len(wrong)} of {len(wrong) + len(rows)} rows cannot be used. Correct or remove them.\n  "
            + "\n  ".join(wrong[:_SHOWN]) + more
        )  # fmt: skip
    if not rows:
        raise InputError(f"{name}: has no rows. Give a list with at least one entity.")
    listed = EntityList(name, rows, report)
    _report_names(listed)
    _report_relations(listed)
    report.count("entities", len(rows))
    return listed


def function_words() -> set[str]:
    """Words that join names or sentences (of, the, and) in the languages whose grammar is known."""
    return _FUNCTION_WORDS


_FUNCTION_WORDS = {
    word for each in LANGUAGES.values() for given in (each.copulas, each.stops, each.joints) for word in given.split()
} | {"a", "an", "the", "i", "it", "he", "she", "we", "they", "you", "this", "that", "no", "not", "so", "if", "all"}


def type_of(given: str) -> int:
    """The number of a coarse type: its own name, or a noun for things of that type; −1 for any other word."""
    word = given.strip().lower()
    if word in TYPES:
        return TYPES.index(word)
    return _NOUNS.get(word.split()[-1] if word else "", -1)


_NOUNS = {
    noun: number for each in LANGUAGES.values() for number, kind in enumerate(TYPES)
    for noun in each.nouns.get(kind, "").split()
} | {"organization": 1, "location": 2, "people": 0, "human": 0}  # fmt: skip


def _entity(row: int, given: Mapping[str, Any], wrong: list[str]) -> ListedEntity | None:
    """An entity of a row, or None and the reason in `wrong`."""
    try:
        id, name, description, text, type, url = (  # noqa: A001
            _text(each, given.get(each)) for each in ("id", "name", "description", "text", "type", "url")
        )
        aliases, categories, related = (_list(each, given.get(each)) for each in ("aliases", "categories", "related"))
        if not id:
            raise InputError("has no id")
        if not name:
            raise InputError("has no name")
        for each in (name, *aliases):
            if len(each) > _LONGEST:
                raise InputError(f"a name has {len(each):,} characters; at most {_LONGEST} are allowed")
            if not _LETTERS.search(each):
                raise InputError(f"{each[:40]!r} is not a name: it has no letters or digits")
        item = _item(given.get("wikidata"))
        return ListedEntity(row, id, name, aliases, description, text, type, categories, item, url, related)
    except InputError as error:
        wrong.append(f"row {row}: {error}")
        return None


def _text(name: str, value: Any) -> str:
    if _is_missing(value):
        return ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # pandas turns a column of numbers with gaps into floats
    if not isinstance(value, str | int | float):
        raise InputError(f"{name} is a {type(value).__name__}, not a string. Write it as text.")
    return " ".join(str(value).split())


def _list(name: str, value: Any) -> tuple[str, ...]:
    if _is_missing(value):
        return ()
    if isinstance(value, str):
        value = _SEPARATOR.split(value)
    elif not isinstance(value, Iterable) or isinstance(value, Mapping):
        value = [value]
    found = (_text(name, each) for each in value)
    return tuple(dict.fromkeys(each for each in found if each))


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value)


def _item(value: Any) -> int:
    text = _text("wikidata", value)
    if not text:
        return 0
    found = _ITEM.fullmatch(text)
    if found is None:
        raise InputError(f"wikidata {text[:40]!r} is not like Q42")
    return int(found.group(1))


def _report_names(listed: EntityList) -> None:
    """Report names of one character, names that several entities share, and function words."""
    having: dict[str, list[ListedEntity]] = {}
    for each in listed.rows:
        for name in each.names:
            key = normalized(name)
            if len(key) < 2:
                listed.report.complain("names too short", f"row {each.row}: {name!r} is too short to be found in text")
            elif each not in having.setdefault(key, []):
                having[key].append(each)
            if key in _FUNCTION_WORDS:
                how = f"row {each.row}: {name!r} is a common word: it needs a capital inside a sentence"
                listed.report.complain("names that are common words", how)
    for key, entities in having.items():
        if len(entities) > 1:
            shown = ", ".join(f"{each.id} (row {each.row})" for each in entities[:5])
            more = f" and {len(entities) - 5} more" if len(entities) > 5 else ""
            listed.report.complain("shared names", f"{key!r} is a name of {shown}{more}: its context decides")


def _report_relations(listed: EntityList) -> None:
    known = {each.id for each in listed.rows}
    for each in listed.rows:
        for other in each.related:
            if other not in known:
                what = f"row {each.row}: related id {other[:60]!r} is unknown"
                listed.report.complain("relations to unknown ids", what)


Rows = Iterator[tuple[int, dict[str, Any]]]


def _file_rows(path: Path) -> Rows:
    suffix = uncompressed_suffix(path)
    if suffix == ".parquet":
        try:
            return _frame_rows(read_table(path), str(path))
        except ParquetError as error:
            raise InputError(f"{path}: {error}") from None
    if suffix in (".jsonl", ".ndjson"):
        return _json_rows(path)
    if suffix in ENDINGS:
        return _delimited_rows(path, suffix)
    raise InputError(f"{path}: is not a list of entities by its name. Use a file that ends in {', '.join(ENDINGS)}.")


def _frame_rows(frame: Any, place: str = "entities") -> Rows:
    try:
        table = pa.Table.from_pandas(frame, preserve_index=False) if _is_pandas(frame) else pa.table(frame)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise InputError(f"{place}: a column has values of several types: {error}. Convert them to one.") from None
    except (TypeError, ValueError):
        raise InputError(f"a {type(frame).__name__} is no list of entities: give a file or a data frame.") from None
    _check_columns(place, table.column_names)
    return enumerate((row for batch in table.to_batches() for row in batch.to_pylist()), 1)


def _is_pandas(frame: Any) -> bool:
    return type(frame).__module__.split(".")[0] == "pandas"


def _check_columns(place: str, found: list[str]) -> None:
    for name in ("id", "name"):
        if name not in found:
            raise InputError(
                f"{place}: has no column {name!r}. Its columns are {', '.join(found)[:200]}. "
                f"Needed are id and name, and there may be {', '.join(COLUMNS[2:])}."
            )


def _json_rows(path: Path) -> Rows:
    with open_compressed(path) as lines:
        for number, row in json_objects(whole_lines(lines, path), path):
            unknown = sorted(set(row) - set(COLUMNS))
            if unknown and not {"id", "name"} <= row.keys():
                raise InputError(f"{path}: line {number} has no id and name. Use the fields {', '.join(COLUMNS)}.")
            yield number, row


def _delimited_rows(path: Path, suffix: str) -> Rows:
    """Rows of CSV or TSV; they are numbered as in a spreadsheet, where the header is row 1."""
    csv.field_size_limit(1 << 24)
    number = 1
    with open_compressed(path) as stream:
        text = TextIOWrapper(stream, "utf-8-sig", newline="")
        try:
            header = text.readline()
            delimiter = "\t" if suffix != ".csv" else max(",;\t", key=header.count)
            quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if suffix == ".csv" else csv.QUOTE_NONE
            names = [each.strip() for each in next(csv.reader([header], delimiter=delimiter, quoting=quoting), [])]
            _check_columns(str(path), names)
            reader = csv.reader(text, delimiter=delimiter, quoting=quoting, strict=True)
            for number, values in enumerate(reader, 2):
                if not any(each.strip() for each in values):
                    continue
                if len(values) != len(names):
                    hint = " Quote fields that have the separator." if suffix == ".csv" else ""
                    raise InputError(f"{path}: row {number} has {len(values)} fields, not {len(names)}.{hint}")
                yield number, dict(zip(names, values, strict=True))
        except UnicodeDecodeError as error:
            raise InputError(f"{path}: is not UTF-8 ({error.reason}). Save it as UTF-8.") from None
        except csv.Error as error:
            raise InputError(f"{path}: row {number + 1} cannot be read ({error}). Close the quote.") from None

"""Wikidata's *instance of* (P31), read from a table of items and classes.

A list of the most frequent classes gives the types of their instances. From these, `wikilda.knowledge.types` learns
the types of all other classes.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pv
from numpy.typing import NDArray

from wikilda._core.compression import open_compressed, uncompressed_suffix
from wikilda._core.errors import InputError
from wikilda._core.parquet import ParquetError, open_parquet, parquet_batches
from wikilda.knowledge._type_words import TYPES
from wikilda.knowledge.categories import Lists

_ROWS = 1 << 17
_SEPARATORS = {".tsv": "\t", ".csv": ","}
_ITEM = r"^(?:.*/)?Q(?P<number>[0-9]{1,9})>?$"  # also the form of SPARQL: http://www.wikidata.org/entity/Q42

_CLASSES = {
    "person": "5 15632617 95074",
    "organisation": "43229 4830453 6881511 783794 891723 476028 215380 7278 3918 3914 9826 163740 327333 484652 "
    "12973014 1616075 18127",
    "place": "515 486972 532 3957 6256 3624078 4022 8502 23397 23442 484170 747074 41176 16970 33506 34442 55488 "
    "1248784 82794 10864048 35657 5119 1549591 3863 523 318 634 165 5107 483110 262166 70208 22698 46169",
    "event": "1190554 1656682 178561 198 27020041 40231 16510064 132241 8065 18608583 500834",
    "work": "11424 5398426 482994 134556 7366 571 8261 7725634 47461344 7889 11032 5633421 41298 3305213 1344 25379 "
    "24856 21191270 105543609 207628 15416 8274 860861",
    "product": "7397 166142 11446 11436 15056993 3231690 12140 40218 1229765 17517 2095 746549 728 9135 22645",
    "species": "16521 23038290 310890 39367 729",
    "concept": "13406463 34770 618779 11173 11344 12136 101352 202444 7187 8054 41710 28640 188451 31629 577 65943",
}


def check_instances(path: Path) -> None:
    """Check the beginning of the table, before hours of work."""
    next(_batches(path), None)


def read_instances(path: Path, items: NDArray[np.int64]) -> Lists:
    """Return the sorted classes of each topic. `items` are the topics' items (0: none)."""
    pairs = list(_pairs(path, items))
    topics = np.concatenate([each for each, _ in pairs]) if pairs else np.empty(0, np.int64)
    classes = np.concatenate([each for _, each in pairs]) if pairs else np.empty(0, np.int64)
    if not len(topics):
        raise InputError(
            f"{path}: has no item of this wiki. It needs two columns, items and their classes (Q42, Q5), and the wiki "
            "needs items: give the dump's page_props.sql.gz with --page-props, or tables with a column `wikidata`."
        )
    both = np.unique(np.stack((topics, classes)), axis=1)
    lengths = np.bincount(both[0], minlength=len(items))
    return Lists(np.concatenate(([0], np.cumsum(lengths))).astype(np.int64), both[1].astype(np.uint32))


def taught_types(instances: Lists) -> NDArray[np.int64]:
    """Return the type of each topic by its known classes, or −1."""
    known = {int(each): number for number, kind in enumerate(TYPES) for each in _CLASSES[kind].split()}
    keys = np.array(sorted(known), np.int64)
    places = np.minimum(np.searchsorted(keys, instances.numbers), len(keys) - 1)
    types = np.where(keys[places] == instances.numbers, np.array([known[int(key)] for key in keys])[places], -1)
    taught = np.full(len(instances.offsets) - 1, -1, np.int64)
    np.maximum.at(taught, np.repeat(np.arange(len(taught)), np.diff(instances.offsets)), types)
    return taught


def _pairs(path: Path, items: NDArray[np.int64]) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield topics and classes in batches of rows."""
    order = np.argsort(items, kind="stable")
    ordered = items[order]
    for batch in _batches(path):
        item, number = (_numbers(column) for column in batch.columns[:2])
        places = np.minimum(np.searchsorted(ordered, item), len(ordered) - 1)
        ours = (item > 0) & (number > 0) & (ordered[places] == item)
        yield order[places[ours]], number[ours]


def _batches(path: Path) -> Iterator[pa.RecordBatch]:
    suffix = uncompressed_suffix(path)
    try:
        if suffix == ".parquet":
            file = open_parquet(path)
            yield from parquet_batches(file, _ROWS, _two(file.schema_arrow.names))
        elif suffix in _SEPARATORS:
            with open_compressed(path) as lines:
                parse, convert = (
                    pv.ParseOptions(delimiter=_SEPARATORS[suffix]),
                    pv.ConvertOptions(strings_can_be_null=False),
                )
                reader = pv.open_csv(lines, parse_options=parse, convert_options=convert)
                _two(reader.schema.names)
                yield from reader
        else:
            raise InputError("is not a table by its name. Use a .tsv, .csv or .parquet file.")
    except (ParquetError, InputError) as error:
        raise InputError(f"{path}: {error}") from None
    except pa.ArrowException as error:
        raise InputError(
            f"{path}: cannot be read as a table ({str(error).partition(chr(10))[0][:200]}). Correct the file."
        ) from None


def _two(names: list[str]) -> list[str]:
    if len(names) < 2:
        raise InputError("needs two columns, items and their classes. Write their names in the first line.")
    return names[:2]


def _numbers(column: pa.Array) -> NDArray[np.int64]:
    """Return the numbers of items; 0 for other values."""
    found = pc.struct_field(pc.extract_regex(pc.cast(column, pa.string()), _ITEM), "number")
    return pc.fill_null(pc.cast(found, pa.int64()), 0).to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]

"""Noisy cells: edits are counted as an oracle counts them, and spellings find their names."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wikilda
from wikilda import Linker
from wikilda._core.jit import Whole, njit
from wikilda.linking._channel import LONGEST_TOKEN, Bytes, Numbers, _distance
from wikilda.linking._names import NameMatcher, fold, near_pairs

LISTED = {
    "E1": "Robert Croft", "E2": "Glamorgan County Cricket Club", "E3": "Northwind Traders", "E4": "Étienne Dupré",
    "E5": "Müller", "E6": "Kestrel Photonics", "E7": "Anna Lindqvist", "E8": "Tullamore Distillers", "E9": "Apfelbaum",
}  # fmt: skip
SPELLINGS = {
    "Robert Croft": "E1", "ROBERT CROFT": "E1", "Croft, Robert": "E1", "Robret Croft": "E1", "Robert Crofft": "E1",
    "Dr. Robert Croft": "E1", "Northwind Traders Ltd.": "E3", "Northwind Traders GmbH & Co. KG": "E3",
    "Northwnd Tradrs": "E3", "Etienne Dupre": "E4", "DUPRÉ, Étienne": "E4", "Kestrel Photonics S.p.A.": "E6",
    "Kestral Fotonics": "E6", "Ana Lindqvist": "E7", "A. Lindqvist": "E7", "Tullamroe Distilers": "E8",
    "Zyx Holdings": None, "Marigold Ventures": None, "Peter Novak": None,
}  # fmt: skip


@pytest.fixture(scope="module")
def listed(tmp_path_factory: pytest.TempPathFactory) -> Linker:
    frame = pa.table({"id": list(LISTED), "name": list(LISTED.values())})
    return Linker.open(wikilda.build(frame, tmp_path_factory.mktemp("names") / "model", workers=1).path)


def edits(one: str, other: str) -> int:
    """Optimal string alignment, by its definition."""
    rows = [[max(i, j) if 0 in (i, j) else 0 for j in range(len(other) + 1)] for i in range(len(one) + 1)]
    for i in range(1, len(one) + 1):
        for j in range(1, len(other) + 1):
            changed = one[i - 1] != other[j - 1]
            rows[i][j] = min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + changed)
            if i > 1 and j > 1 and one[i - 1] == other[j - 2] and one[i - 2] == other[j - 1]:
                rows[i][j] = min(rows[i][j], rows[i - 2][j - 2] + 1)
    return rows[-1][-1]


@njit
def distance(one: Bytes, other: Bytes, most: Whole, rows: Numbers) -> Whole:
    return _distance(one, other, most, rows)


words = st.text("abc", min_size=1, max_size=8)


@given(words, words, st.integers(1, 3))
def test_edits_are_those_of_an_oracle(one: str, other: str, most: int) -> None:
    rows = np.zeros(3 * (LONGEST_TOKEN + 2), np.int64)
    first, second = (np.frombuffer(each.encode(), np.uint8) for each in (one, other))
    found = int(distance(first, second, np.int64(most), rows))
    assert min(found, most + 1) == min(edits(one, other), most + 1)


def test_folding() -> None:
    given = ["Étienne  DUPRÉ", "O'Neill, Jr.", "U.S. Open", "Straße & Söhne", "A/S Øst", ""]
    assert fold(pa.array(given, pa.large_string())).to_pylist() == [
        "etienne dupre", "oneill jr", "us open", "strasse and sohne", "as ost", "",
    ]  # fmt: skip


@pytest.mark.parametrize(("cell", "wanted"), SPELLINGS.items())
def test_spellings_find_their_names(listed: Linker, cell: str, wanted: str | None) -> None:
    [row] = listed.match_frame(pa.table({"name": [cell]}), "name").to_pylist()
    assert row["match_id"] == wanted


def test_any_two_typos_are_found_in_long_words(listed: Linker) -> None:
    """A letter less in one word and another letter in the other, wherever they are."""
    cells = [
        f"{first[:at]}{first[at + 1:]} {second[:at]}x{second[at + 1:]}"
        for first, second in [("Tullamore", "Distillers")] for at in range(9)
    ]  # fmt: skip
    found = listed.match_frame(pa.table({"name": cells}), "name").column("match_id").to_pylist()
    assert found == ["E8"] * 9


def test_candidates_are_shown_with_scores_also_where_nil_is_more_probable(listed: Linker) -> None:
    [row] = listed.match_frame(pa.table({"name": ["Kestrel Aviation"]}), "name").to_pylist()
    assert row["match_title"] is None
    assert row["match_decision"] in ("new", "review")
    assert "Kestrel Photonics" in row["match_candidates"]


def test_the_posterior_adds_up_and_does_not_depend_on_other_cells(listed: Linker) -> None:
    matcher = NameMatcher(listed.knowledge)
    cells = [*SPELLINGS]
    posterior, unknown = matcher.find(cells).posterior()
    np.testing.assert_allclose(posterior.sum(axis=1) + unknown, 1.0)
    for at, cell in enumerate(cells):
        alone, nothing = matcher.find([cell]).posterior()
        np.testing.assert_array_equal(alone[0], posterior[at])
        assert nothing[0] == unknown[at]


def test_odd_cells_are_no_error(listed: Linker) -> None:
    cells = ["", " ", "?!", "x" * 100_000, "a " * 5000, "\x00", "中文 名字", "1234567890", "😀", "Ltd", "A"]
    found = listed.match_frame(pa.table({"name": cells}), "name")
    assert found.num_rows == len(cells)
    assert found.column("match_title").null_count == len(cells)


def test_near_pairs() -> None:
    pairs = near_pairs(["marigold ventures", "marigld ventures", "short", "shrt", "marigold venture partners"])
    assert {tuple(sorted(each)) for each in pairs} == {(0, 1)}


def test_files_resume_and_are_the_same(listed: Linker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from wikilda.linking import match_files
    from wikilda.linking.match import match_table

    monkeypatch.setattr(match_files, "_BATCH", 7)
    table = tmp_path / "in.csv"
    table.write_text("n,name\n" + "".join(f'{at},"{cell}"\n' for at, cell in enumerate(list(SPELLINGS) * 3)))
    whole = match_files.match_file(listed, table, tmp_path / "whole.parquet", "name")
    real, calls = match_table, 0

    def stop(*arguments: object, **options: object) -> pa.Table:
        nonlocal calls
        calls += 1
        if calls == 4:
            raise KeyboardInterrupt
        return real(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(match_files, "match_table", stop)
    with pytest.raises(KeyboardInterrupt):
        match_files.match_file(listed, table, tmp_path / "again.parquet", "name")
    assert len(list((tmp_path / "again.parquet.partial").glob("*.parquet"))) == 3
    resumed = match_files.match_file(listed, table, tmp_path / "again.parquet", "name")
    assert calls == 4 + 6, "batches that were done are kept"
    assert resumed == whole
    assert whole.rows == 3 * len(SPELLINGS)
    assert (tmp_path / "again.parquet").read_bytes() == (tmp_path / "whole.parquet").read_bytes()
    assert not (tmp_path / "again.parquet.partial").exists()

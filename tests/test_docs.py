"""Documentation tells what is measured: its tables are those of the JSON that benchmarks wrote."""

from benchmarks import record


def test_tables_are_those_of_the_figures() -> None:
    assert [page.name for page in record.outdated()] == [], "run: python -m benchmarks.record"


def test_a_table_is_markdown() -> None:
    rows = [{"method": "urn", "micro": 89.3, "documents": 216}, {"method": "prior", "micro": None, "documents": 12345}]
    assert record.table(rows).splitlines() == [
        "| method | micro | documents |",
        "| --- | ---: | ---: |",
        "| urn | 89.3 | 216 |",
        "| prior | – | 12,345 |",
    ]

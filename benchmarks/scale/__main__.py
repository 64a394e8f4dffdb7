"""`python -m benchmarks.scale 10000 100000 1000000 4000000 --directory DIR --figure FILE.svg`."""

import os
import shutil
from pathlib import Path

import click

from benchmarks import record
from benchmarks.scale.figure import draw
from benchmarks.scale.steps import Plan, Steps
from benchmarks.scale.table import tables

_NAME = "scale"
_WARMING = 2000
_PATH = click.Path(path_type=Path)
_PLAN = Plan()


@click.command()
@click.argument("sizes", nargs=-1, type=click.IntRange(100))
@click.option("--directory", type=_PATH, required=True, help="where everything is made; 20 GB at 4 million topics")
@click.option("--figure", type=_PATH, help="SVG")
@click.option("--linked", default=_PLAN.linked, show_default=True, help="documents to link")
@click.option("--trained", default=_PLAN.trained, show_default=True, help="documents to train on; 0: do not train")
@click.option("--memory", default=_PLAN.memory, show_default=True, help="--memory of the build")
@click.option("--cold", is_flag=True, help="start processes cold, too: drops the file cache of the whole machine")
@click.option("--keep", is_flag=True, help="leave what was made where it is")
def main(
    sizes: tuple[int, ...], directory: Path, figure: Path | None, linked: int, trained: int,
    memory: str, cold: bool, keep: bool,
) -> None:  # fmt: skip
    """Run every step with wikis of several SIZES (topics); recorded figures of other sizes are kept."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its bytecode
    plan = Plan(linked, trained, memory, cold=cold)
    rows = {int(row["topics"]): row for row in record.read(_NAME).get("rows", [])}
    if sizes and not (directory / str(_WARMING)).exists():
        Steps(_WARMING, directory, Plan(50, 2000)).run(train=trained > 0)  # compiles the kernels
    for topics in sizes:
        steps = Steps(topics, directory, plan)
        rows[topics] = steps.run(train=trained > 0)
        if not keep:
            shutil.rmtree(steps.place)
        found = [rows[size] for size in sorted(rows)]
        record.write(_NAME, tables(found), rows=found)
    found = [rows[size] for size in sorted(rows)]
    for each in tables(found).values():
        click.echo(record.table(each))
    if figure:
        figure.write_text(draw(found), "utf-8")


if __name__ == "__main__":
    main()

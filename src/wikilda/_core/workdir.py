"""A directory beside a result where work in progress is kept; one process at a time."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from wikilda import __version__
from wikilda._core.atomic import lock, write_text
from wikilda._core.errors import WikildaError, explain_full_disk


@contextmanager
def work_directory(
    target: Path, ending: str, inputs: dict[str, Any], *, restart: bool = False, precious: bool = False,
    keep: bool = True,
) -> Iterator[Path]:  # fmt: skip
    """`TARGET.ending`: kept when something goes wrong (unless nobody could use it), gone when all is done.

    What an earlier run left is used if it came from the same inputs, else removed or, if it is precious, refused; to
    restart is to remove it in any case. The target is locked meanwhile.
    """
    work = target.with_name(f"{target.name}.{ending}")
    with lock(target), explain_full_disk(work):
        work.mkdir(parents=True, exist_ok=True)
        try:
            stamp = json.dumps({"wikilda": __version__} | inputs, sort_keys=True)
            _prepare(work, stamp, restart=restart, precious=precious)
            yield work
        except BaseException:
            if not keep:
                shutil.rmtree(work, ignore_errors=True)
            raise
        shutil.rmtree(work)


def _prepare(work: Path, stamp: str, *, restart: bool, precious: bool) -> None:
    known = work / "inputs.json"
    earlier = known.read_text("utf-8") if known.is_file() else None
    if earlier == stamp and not restart:
        return
    if earlier is not None and precious and not restart:
        raise WikildaError(
            f"{work}: holds unfinished work with other inputs or settings ({_difference(earlier, stamp)}). "
            "Run it with those to resume, or say --restart to begin anew."
        )
    shutil.rmtree(work)
    work.mkdir()
    write_text(known, stamp)


def _difference(earlier: str, now: str) -> str:
    before, after = json.loads(earlier), json.loads(now)
    flat = [{**each, **each.get("settings", {})} for each in (before, after)]
    names = sorted(name for name in flat[0].keys() | flat[1].keys() if name != "settings")
    other = [f"{name} {flat[0].get(name)}" for name in names if flat[0].get(name) != flat[1].get(name)]
    return ", ".join(other)

"""A directory beside a result where work in progress is kept; one process at a time."""

import fcntl
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from wikilda import __version__
from wikilda.errors import WikildaError, disk_worded
from wikilda.files import write_text


@contextmanager
def workplace(
    target: Path, ending: str, inputs: dict[str, Any], *, restart: bool = False, dear: bool = False, keep: bool = True
) -> Iterator[Path]:
    """`TARGET.ending`: kept when something goes wrong (unless nobody could use it), gone when all is done.

    What an earlier run left is used if it came from the same inputs, else removed or, if it is dear, refused; to
    restart is to remove it in any case.
    """
    work = target.with_name(f"{target.name}.{ending}")
    work.mkdir(parents=True, exist_ok=True)
    with (work / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise WikildaError(
                f"{work}: another process is writing {target}. Wait for it, or choose another -o."
            ) from None
        try:
            with disk_worded(work):
                stamp = json.dumps({"wikilda": __version__} | inputs, sort_keys=True)
                _prepare(work, stamp, restart=restart, dear=dear)
                yield work
        except BaseException:
            if not keep:
                shutil.rmtree(work, ignore_errors=True)
            raise
        shutil.rmtree(work)


def _prepare(work: Path, stamp: str, *, restart: bool, dear: bool) -> None:
    known = work / "inputs.json"
    earlier = known.read_text("utf-8") if known.is_file() else None
    if earlier == stamp and not restart:
        return
    if earlier is not None and dear and not restart:
        raise WikildaError(
            f"{work}: holds unfinished work with other inputs or settings ({_difference(earlier, stamp)}). "
            "Run it with those to go on, or say --restart to begin anew."
        )
    for old in work.iterdir():
        if old.is_dir():
            shutil.rmtree(old)
        elif old.name != "lock":
            old.unlink()
    write_text(known, stamp)


def _difference(earlier: str, now: str) -> str:
    before, after = json.loads(earlier), json.loads(now)
    flat = [{**each, **each.get("settings", {})} for each in (before, after)]
    names = sorted(name for name in flat[0].keys() | flat[1].keys() if name != "settings")
    other = [f"{name} {flat[0].get(name)}" for name in names if flat[0].get(name) != flat[1].get(name)]
    return ", ".join(other)

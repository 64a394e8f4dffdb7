"""Draw the recorded terminal session of the README: `python docs/pictures/terminal.py`."""

import io
import os
import re
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

TARGET = Path(__file__).parents[1] / "images" / "demo.svg"
COMMANDS = (
    ["demo", "--keep", "sample"],
    ["explain", "sample", "Croft took five wickets for England.", "-m", "Croft"],
)
WIDTH = 100


def record(directory: Path) -> str:
    """Run the commands in a directory, and return the session as SVG, without fonts from other servers."""
    console = Console(record=True, width=WIDTH, file=io.StringIO())
    for arguments in COMMANDS:
        shown = " ".join(f"'{each}'" if " " in each else each for each in arguments)
        console.print(Text("$ ", "bold green") + Text(f"wikilda {shown}", "bold"))
        command = [sys.executable, "-c", "from wikilda.cli import main; main()", *arguments]
        environment = {**os.environ, "COLUMNS": str(WIDTH), "NO_COLOR": "1", "WIKILDA_COMPILE": "never"}
        done = subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, check=True)
        lines = done.stdout.splitlines()
        if arguments[0] == "demo":  # the table of the linked text, without the counts before it and the hints after it
            start = next(at for at, line in enumerate(lines) if line.startswith("The entities"))
            lines = lines[start : next(at for at, line in enumerate(lines) if line.startswith("Try your own")) - 1]
        console.print(Text("\n".join([*lines, ""])))
    svg = console.export_svg(title="wikilda demo", unique_id="demo")
    return re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as scratch:
        TARGET.write_text(record(Path(scratch)), "utf-8")

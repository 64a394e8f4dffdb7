"""List the messages that a user can see: `python -m scripts.messages [--check]`.

They are the arguments of errors, warnings, log records, `click.echo` and usage errors, and the help of options and
settings. Expressions are shown as `{…}`. With `--check`, only messages that break a rule of `Message.faults` are
listed, and the exit code is 1 if there are any.
"""

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "wikilda"
_ERRORS = re.compile(r"(Error|Refused|Failed|BadParameter|ClickException|Abort|Exception)$")
USER_ERRORS = ("WikildaError", "InputError", "ArtifactError", "BusyError", "SettingsError", "ParquetError")
# A remedy: a sentence in the imperative, a list of what is possible, an example, or a suggestion made at run time.
_VERBS = (
    "Add|Ask|Build|Change|Check|Choose|Close|Compare|Convert|Correct|Decompress|Delete|Download|Drop|Encode|Fix|Free|Get"
    "|Give|Hold|Install|Keep|Leave|Link|Lower|Make|Measure|Name|Open|Put|Quote|Raise|Read|Remove|Rename|Repair|Repeat|Restore|Run|Save"
    "|See|Serve|Set|Split|Train|Try|Turn|Unset|Update|Upgrade|Use|Wait|Write"
)
REMEDY = re.compile(
    rf"(?:^|[.;?)] )(?:{_VERBS})\b|[:;,] (?:or )?(?:{_VERBS.lower()})\b|pip install|there (?:is|are):? \{{…\}}"
    r"|(?:such as|like|must be|it has:|Needed are) \S|[\w\"]\{…\}\.?$|[.}] ?\{…\}\.?$"
)
PARTS = ("knowledge/entities.py",)  # reasons that a message with a remedy collects
_SPEAKERS = {
    "warn": "warning",
    "warning": "warning",
    "info": "log",
    "error": "log",
    "exception": "log",
    "echo": "output",
}
AVOIDED = re.compile(
    r"\b(anew|so many|in words|is said|are said|is told|are told|stands|mend(?:s|ed)?|strangers?|of others|at hand"
    r"|in vain|that there (?:is|are) (?:not|none)|whatever|goes with|by itself|alone)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Message:
    """A message and where it is."""

    file: str
    line: int
    kind: str
    text: str
    error: str = ""  # the class of an error

    def faults(self) -> list[str]:
        """What is wrong with the message."""
        found = [f"avoid “{each.group()}”" for each in AVOIDED.finditer(self.text)]
        if self.error in USER_ERRORS and not REMEDY.search(self.text) and not self._is_part():
            found.append("say how to fix it")
        if self.kind == "help" and self.text[:1].islower() and self.text[:1].isascii():
            found.append("begin with a capital")
        return found

    def _is_part(self) -> bool:
        return self.file in PARTS and not self.text.endswith(".")


def messages(source: Path = SOURCE) -> Iterator[Message]:
    """Yield all messages of the package, file by file."""
    for path in sorted(source.rglob("*.py")):
        name = str(path.relative_to(source))
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            for kind, expression in _spoken(node):
                text = _text(expression)
                if text and any(letter.isalpha() for letter in text.replace("{…}", "")):
                    yield Message(name, expression.lineno, kind, text, _called(node) if kind == "error" else "")


def _spoken(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """The kind and the text of what a call says."""
    if not isinstance(node, ast.Call):
        return
    name = _called(node)
    if _ERRORS.search(name) and node.args:
        yield "error", node.args[0]
    elif name in _SPEAKERS and node.args:
        yield _SPEAKERS[name], node.args[0]
    for keyword in node.keywords:
        if keyword.arg in ("help", "short_help"):
            yield "help", keyword.value
    if name in ("setting", "option_setting") and node.args:
        yield "help", node.args[-1]


def _called(node: ast.AST) -> str:
    """The name of what is called."""
    function = getattr(node, "func", None)
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _text(node: ast.expr) -> str:
    """The text of a string expression, `{…}` for what is only known at run time; empty if it is no string."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) if isinstance(part, ast.Constant) else "{…}" for part in node.values)
    if isinstance(node, ast.BinOp):
        left, right = _text(node.left), _text(node.right)
        return f"{left or '{…}'}{right or '{…}'}" if left or right else ""
    if isinstance(node, ast.IfExp):
        return " | ".join(filter(None, (_text(node.body), _text(node.orelse))))
    return ""


def main() -> None:
    """Print the messages, or those that break a rule."""
    check = "--check" in sys.argv
    shown = [each for each in messages() if not check or each.faults()]
    for each in shown:
        print(f"{each.file}:{each.line}: {each.kind}: {each.text}" + "".join(f"  [{fault}]" for fault in each.faults()))
    sys.exit(check and bool(shown))


if __name__ == "__main__":
    main()

"""Write the generated parts of docs/reference from the code: `python -m scripts.reference`.

A page has them between `<!-- generated: NAME -->` and `<!-- end of generated -->`. tests/test_docs.py compares them.
"""

import importlib
import inspect
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import click

import wikilda
from wikilda.cli import COMMANDS
from wikilda.cli.settings import groups

PAGES = Path(__file__).parents[1] / "docs" / "reference"
_BLOCK = re.compile(r"(<!-- generated: (\w+) -->\n).*?(<!-- end of generated -->)", re.DOTALL)
_LIMITS = re.compile(r"  \[([^\]]+)\]")
SHARED = 2  # an option that more commands have, with the same help, is listed once
EXAMPLES = {
    "demo": "wikilda demo",
    "download": "wikilda download simplewiki -o dumps",
    "build": "wikilda build dumps/simplewiki-*.xml.bz2 -o simple",
    "link": "echo 'Croft took five wickets for England.' | wikilda link sample --table",
    "match": "printf 'name\\nRobert Crofft\\n' > names.csv && wikilda match sample names.csv --column name",
    "identify": """echo '{"name": "Croft"}' > nodes.jsonl && wikilda identify sample nodes.jsonl -o same.jsonl""",
    "suggest": "wikilda suggest dumps/simplewiki-*.xml.bz2 --model simple -o suggestions.html",
    "explain": "wikilda explain sample 'Croft took five wickets for England.' -m Croft",
    "show": "wikilda show sample Croft",
    "serve": "wikilda serve sample --workers 2",
    "train": "wikilda train sample texts.jsonl -o trained",
    "corpus": "wikilda corpus sample texts.jsonl -o news.corpus",
    "update": "wikilda update simple dumps/simplewiki-*.xml.bz2 -o newer",
    "diff": "wikilda diff simple newer",
    "topics": "wikilda topics trained",
    "plot": "wikilda plot trained -o likelihood.svg",
    "evaluate": "wikilda evaluate sample texts.jsonl --method prior --method urn",
    "init": "wikilda init sample -o other --preset paper",
    "pack": "wikilda pack simple -o simple.wikilda",
    "get": "wikilda get simple.wikilda -o copy",
    "compile": "wikilda compile --list",
    "verify": "wikilda verify sample",
    "settings": "wikilda settings train",
}


def examples() -> str:
    """An example of each command."""
    return "```sh\n" + "\n".join(EXAMPLES[name] for name in COMMANDS) + "\n```"


def commands() -> str:
    """The commands with their arguments and options; first the options that several commands share."""
    rows = {name: _options(name) for name in COMMANDS}
    counts = Counter(row for each in rows.values() for row in each)
    shared = [row for row, count in counts.items() if count > SHARED]
    parts = ["\n".join(["## Common options\n\n| option | |\n|---|---|", *shared])]
    for name, each in rows.items():
        command = _command(name)
        usage = " ".join([f"wikilda {name}", *command.collect_usage_pieces(click.Context(command))])
        common = [row.split("`")[1].split(" ")[0].rstrip(",") for row in each if row in shared]
        also = f" Common options: {', '.join(f'`{option}`' for option in common)}." if common else ""
        own = [row for row in each if row not in shared]
        table = ["", "| option | |\n|---|---|", *own] if own else []
        parts.append("\n".join([f"## {name}\n\n`{usage}`: {_paragraph(command)}{also}", *table]))
    return "\n\n".join(parts)


def _command(name: str) -> click.Command:
    command: click.Command = importlib.import_module(f"wikilda.cli.{name}").command
    return command


def _options(name: str) -> list[str]:
    """The options of a command as rows of a table."""
    context = click.Context(_command(name), info_name=f"wikilda {name}")
    records = [
        option.get_help_record(context)
        for option in context.command.get_params(context)
        if isinstance(option, click.Option) and "--help" not in option.opts
    ]
    return [f"| `{_cell(each[0])}` | {_cell(_LIMITS.sub(_limit, each[1]))} |" for each in records if each]


def _limit(found: re.Match[str]) -> str:
    """A default or a range of an option, in parentheses."""
    return "" if found[1].startswith("x>=") else f" ({found[1]})"


def settings() -> str:
    """All settings, with the commands that take them."""
    rows = [
        f"| {commands if number == 0 else ''} | `{name}` | {f'`{default}`' if default else ''} | {_cell(about)} |"
        for _, commands, group in groups()
        for number, (name, default, about) in enumerate(group)
    ]
    return "\n".join(["| commands | setting | default | |\n|---|---|---|---|", *rows])


def api() -> str:
    """The public names with their signatures and summaries."""
    things = {name: getattr(wikilda, name) for name in wikilda.__all__ if name != "__version__"}
    functions = {name: each for name, each in things.items() if inspect.isfunction(each)}
    errors = {name: each for name, each in things.items() if inspect.isclass(each) and issubclass(each, Exception)}
    classes = {name: each for name, each in things.items() if name not in functions and name not in errors}
    members = {f"{name}.{member}": value for name, each in classes.items() for member, value in _members(each)}
    parts = {"Functions": functions, "Classes": classes, "Methods and properties": members, "Errors": errors}
    return "\n\n".join(f"## {title}\n\n{_table(part)}" for title, part in parts.items())


def _members(each: type) -> Iterator[tuple[str, object]]:
    """The methods of a class, and those of base classes that are not public themselves."""
    bases = [base for base in each.__mro__[1:] if base.__name__ not in wikilda.__all__]
    own = [base for base in bases if base.__module__.startswith("wikilda.") and "._core." not in base.__module__]
    for name, value in {name: value for kind in (*reversed(own), each) for name, value in vars(kind).items()}.items():
        if not name.startswith("_") and isinstance(value, staticmethod | classmethod):
            yield name, value.__func__
        elif not name.startswith("_") and (inspect.isfunction(value) or isinstance(value, property)):
            yield name, value


def _table(things: dict[str, object]) -> str:
    rows = [f"| `{name}{_signature(each)}` | {_cell(_summary(each))} |" for name, each in things.items()]
    return "\n".join(["| | |\n|---|---|", *rows])


def _signature(each: object) -> str:
    """The parameters with their defaults, without types; nothing for what is not called."""
    if isinstance(each, property) or (inspect.isclass(each) and (issubclass(each, Exception) or _is_protocol(each))):
        return ""
    shown, starred = [], False
    for name, parameter in inspect.signature(each).parameters.items():  # type: ignore[arg-type]
        if name in ("self", "cls"):
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            shown.append("*")
            starred = True
        default = "" if parameter.default is parameter.empty else f"={_default(parameter.default)}"
        prefix = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        shown.append(f"{prefix}{name}{default}")
    return _cell(f"({', '.join(shown)})")


def _is_protocol(each: type) -> bool:
    return bool(getattr(each, "_is_protocol", False))


def _default(value: object) -> str:
    return "…" if " object at " in repr(value) or len(repr(value)) > 30 else repr(value)


def _summary(each: object) -> str:
    """The first paragraph of a docstring."""
    return " ".join((inspect.getdoc(each) or "").split("\n\n")[0].split())


def _paragraph(command: click.Command) -> str:
    """The help of a command in one paragraph."""
    return " ".join(each for each in (command.help or "").split() if each != "\b")


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def fill(text: str) -> str:
    """Return a page with its generated parts."""
    parts = {"examples": examples, "commands": commands, "settings": settings, "api": api}
    return _BLOCK.sub(lambda found: f"{found[1]}\n{parts[found[2]]()}\n\n{found[3]}", text)


def outdated() -> dict[Path, str]:
    """The pages that differ from the code, with what they should be."""
    texts = {page: page.read_text("utf-8") for page in sorted(PAGES.glob("*.md"))}
    return {page: filled for page, text in texts.items() if (filled := fill(text)) != text}


if __name__ == "__main__":
    for path, page in outdated().items():
        print(path.name)
        path.write_text(page, "utf-8")
    sys.exit()

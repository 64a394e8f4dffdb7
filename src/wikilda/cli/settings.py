"""`wikilda settings`."""

import json
from collections.abc import Iterator
from dataclasses import fields

import click

from wikilda._core.settings import Settings, describe_range
from wikilda.cli._options import json_option, show_table


def _groups() -> dict[str, tuple[str, type[Settings]]]:
    """Return the groups of settings with the commands that take them, and their class."""
    from wikilda.documents.detection import DetectorSettings
    from wikilda.documents.reading import ReadSettings
    from wikilda.knowledge import BuildSettings
    from wikilda.lda.settings import LdaSettings
    from wikilda.model import ModelSettings
    from wikilda.server.settings import ServerSettings
    from wikilda.training.corpus import CorpusSettings
    from wikilda.training.settings import LdaTraining, TrainingPlan, UrnTraining
    from wikilda.urn.settings import UrnSettings

    return {
        "urn": ("link, match, identify, explain, serve, evaluate", UrnSettings),
        "lda": ("link, match, identify, serve with --method lda", LdaSettings),
        "detection": ("link, train, corpus", DetectorSettings),
        "reading": ("link, train, corpus", ReadSettings),
        "build": ("build", BuildSettings),
        "server": ("serve", ServerSettings),
        "plan": ("train", TrainingPlan),
        "urn training": ("train", UrnTraining),
        "lda training": ("train with --method lda", LdaTraining),
        "corpus": ("corpus", CorpusSettings),
        "model": ("init", ModelSettings),
    }


@click.command()
@click.argument("name", required=False, metavar="[COMMAND]")
@json_option
def command(name: str | None, as_json: bool) -> None:
    """List the settings that commands take with --set NAME=VALUE or --settings FILE.toml.

    With COMMAND, those of a command or of a group.
    """
    groups = _groups()
    chosen = {
        group: (commands, kind)
        for group, (commands, kind) in groups.items()
        if name is None or name == group or name in commands.replace(",", "").split()
    }
    if not chosen:
        raise click.UsageError(f"{name!r} is no command that has settings, and no group; groups: {', '.join(groups)}.")
    if as_json:
        found = {group: [_described(kind, each.name) for each in fields(kind)] for group, (_, kind) in chosen.items()}
        click.echo(json.dumps(found, ensure_ascii=False, indent=1))
        return
    for group, (commands, kind) in chosen.items():
        show_table(f"{group}: {commands}", ["setting", "default", ""], _rows(kind))
        click.echo()


def groups() -> Iterator[tuple[str, str, list[tuple[str, str, str]]]]:
    """Yield each group with the commands that take it and its settings: name, default, help."""
    for group, (commands, kind) in _groups().items():
        yield group, commands, _rows(kind)


def _rows(kind: type[Settings]) -> list[tuple[str, str, str]]:
    rows = [_described(kind, each.name) for each in fields(kind)]
    return [(str(row["name"]), _text(row["default"]), f"{row['help']} {row['range']}".strip()) for row in rows]


def _described(kind: type[Settings], name: str) -> dict[str, object]:
    each = next(one for one in fields(kind) if one.name == name)
    about = each.metadata["help"].rstrip(".")
    about = about[0].upper() + about[1:] if about[0].isascii() else about
    limits = ", ".join(each.metadata["choices"]) or describe_range(each.metadata)
    return {"name": name, "default": each.default, "help": f"{about}.", "range": f"({limits})" if limits else ""}


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return ", ".join(value) if isinstance(value, tuple) else "" if value is None else str(value)

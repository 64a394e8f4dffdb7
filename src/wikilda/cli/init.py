"""`wikilda init`."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from wikilda.cli._options import Sectioned, settings_options
from wikilda.knowledge import Knowledge
from wikilda.model import PRESETS, ModelSettings, create_model

_ANY = click.Path(path_type=Path)


@click.command(cls=Sectioned)
@click.argument("knowledge", type=_ANY, metavar="KB")
@click.option("-o", "--output", "target", type=_ANY, required=True, help="The directory to write.")
@click.option(
    "--preset", type=click.Choice(sorted(PRESETS)), default="default", show_default=True, help="Settings to begin with."
)
@click.option("--overwrite", is_flag=True, help="Replace a model that is already there.")
@settings_options(ModelSettings, defaults=False)
def command(knowledge: Path, target: Path, preset: str, overwrite: bool, settings: dict[str, Any]) -> None:
    """Make a model from knowledge: λ̂ = mass · P(k|v) for words and mentions.

    It can link at once; training goes on from it. The preset `paper` follows the paper to the letter.
    """
    chosen = replace(PRESETS[preset], **settings)
    made = create_model(Knowledge.open(knowledge), target, chosen, overwrite=overwrite)
    click.echo(f"{target}: {made.topics:,} topics, {len(made.mentions.topics):,} mention parameters, "
               f"{len(made.words.topics):,} word parameters")  # fmt: skip

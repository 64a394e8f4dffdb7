"""`wikilda init`."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from wikilda.cli._options import ANY_PATH, output_options, settings_options
from wikilda.knowledge import Knowledge
from wikilda.model import PRESETS, ModelSettings, create_model


@click.command()
@click.argument("knowledge", type=ANY_PATH, metavar="MODEL")
@output_options("a model")
@click.option(
    "--preset", type=click.Choice(sorted(PRESETS)), default="default", show_default=True, help="Settings to start from."
)
@settings_options(raw=("settings",), settings=ModelSettings)
def command(knowledge: Path, target: Path, preset: str, overwrite: bool, settings: dict[str, Any], **_: None) -> None:
    """Make an untrained model with other priors from the knowledge of MODEL: λ̂ = mass · P(k|v).

    The preset `paper` has the paper's values.
    """
    chosen = replace(PRESETS[preset], **settings)
    made = create_model(Knowledge.open(knowledge), target, chosen, overwrite=overwrite)
    click.echo(f"{target}: {made.topics:,} topics, {len(made.mentions.topics):,} mention parameters, "
               f"{len(made.words.topics):,} word parameters")  # fmt: skip

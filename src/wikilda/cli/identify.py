"""`wikilda identify`."""

from pathlib import Path

import click

from wikilda._core.atomic import check_output
from wikilda.cli._options import ANY_PATH, method_option, model_argument, settings_options, workers_option
from wikilda.integrations.graphs import identify, read_identities, write_identities
from wikilda.linking import Linker
from wikilda.linking.methods import METHODS, MethodSettings


@click.command()
@model_argument
@click.argument("graph", type=ANY_PATH, metavar="GRAPH")
@click.option("-o", "--output", type=ANY_PATH, metavar="FILE", required=True, help="Write JSON lines, one per node.")
@click.option("--known", type=ANY_PATH, metavar="FILE",
              help="What was identified before: its nodes keep their identities, and new ones join them.")  # fmt: skip
@click.option("--overwrite", is_flag=True, help="Replace an output that exists.")
@method_option
@settings_options(method=METHODS)
@workers_option("Threads")
def command(
    model: Path, graph: Path, output: Path, known: Path | None, overwrite: bool,
    method: MethodSettings, workers: int,
) -> None:  # fmt: skip
    """Give each node of GRAPH an identity: the same for nodes that are the same thing.

    GRAPH is GraphML, NetworkX's JSON, Neo4j's CSV, Parquet or JSON lines with names, or the output folder of GraphRAG
    or LightRAG. Nodes are linked in the texts that they were found in; those that the wiki lacks are clustered.
    """
    check_output(output, overwrite=overwrite, inputs=[graph])
    before = read_identities(known) if known else []
    linker = Linker.open(model, settings=method)
    rows = identify(linker, graph, known=before, workers=workers)
    write_identities(rows, output)
    things, named = len({each.identity for each in rows}), len({each.identity for each in rows if each.title})
    click.echo(f"{len(rows):,} nodes: {things:,} things, {named:,} of the wiki → {output}", err=True)

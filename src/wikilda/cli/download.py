"""`wikilda download`: fetch a dump of a Wikimedia wiki."""

from pathlib import Path

import click

from wikilda.mediawiki.download import WIKIMEDIA, download


@click.command(
    "download",
)
@click.argument("wiki")
@click.option(
    "-o",
    "--output",
    "directory",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path(),
    show_default="here",
    metavar="DIR",
    help="The directory of the files; created if it does not exist.",
)
@click.option("--date", metavar="YYYYMMDD", help="Which dump.  [default: the newest finished one]")
@click.option("--mirror", metavar="URL", default=WIKIMEDIA, show_default=True, help="Where to fetch from.")
@click.option("--page-props", is_flag=True, help="Fetch the table of page properties, too.")
def command(wiki: str, directory: Path, date: str | None, mirror: str, page_props: bool) -> None:
    """Fetch a dump of WIKI (enwiki, simplewiki, dewiktionary …) and print where it is.

    Rerun the same command to resume an interrupted download. A file that is already there is checked and not
    fetched again.
    """
    for file in download(wiki, directory, date=date, mirror=mirror, page_props=page_props):
        click.echo(file)

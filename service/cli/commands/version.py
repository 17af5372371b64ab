"""`lineward version`."""

import typer

from service.cli.commands.options import AsJson
from service.cli.terminal import print_json
from service.release import installed_version

app = typer.Typer(add_completion=False)


@app.command()
def main(*, as_json: AsJson = False) -> None:
    """Print the version."""
    number = installed_version()
    if as_json:
        print_json({"version": number})
    else:
        typer.echo(number)

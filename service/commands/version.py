"""`lineward version`."""

import typer

from service.commands.options import AsJson
from service.release import release
from service.terminal import print_json

app = typer.Typer(add_completion=False)


@app.command()
def main(*, as_json: AsJson = False) -> None:
    """Print the version."""
    number = release()
    if as_json:
        print_json({"version": number})
    else:
        typer.echo(number)

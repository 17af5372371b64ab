"""`lineward runbook [NAME]`: pages of runbooks, also while the service that serves them is down."""

from typing import Annotated

import typer

from service.cli.terminal import plain_lines

app = typer.Typer(add_completion=False)


@app.command()
def main(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="Name of an alert or of a kind of fault \\[list all]."),
    ] = None,
) -> None:
    """Print the runbook of an alert or of a kind of fault; without a name, list all."""
    from runbooks.library import index_pages, page_markdown  # noqa: PLC0415 - the rules only once it is asked

    if name is not None:
        plain_lines(page_markdown(name).splitlines())
        return
    for heading, names in index_pages():
        plain_lines([f"{heading}:", *(f"  {each}" for each in names)])

"""`lineward demo`: a small shop of real Spark jobs, watched."""

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(add_completion=False)


@app.command()
def main(
    data_dir: Annotated[
        Path | None,
        typer.Option(help="An empty folder to keep it all in; else a temporary one, which goes."),
    ] = None,
    *,
    once: Annotated[bool, typer.Option("--once", help="End when all is shown.")] = False,
) -> None:
    """Run a shop's Spark jobs with the OpenLineage listener, and show what Lineward sees."""
    from service.demo.start import run  # noqa: PLC0415 - `--help` needs no Spark

    raise typer.Exit(run(once=once, data_dir=data_dir))

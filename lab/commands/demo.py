"""`lineward demo`: real Spark jobs of a small shop, monitored by Lineward."""

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(add_completion=False)


@app.command()
def main(
    data_dir: Annotated[
        Path | None,
        typer.Option(help="Empty folder to keep all files in \\[a temporary folder]."),
    ] = None,
    *,
    once: Annotated[bool, typer.Option("--once", help="Exit at the end of the demo.")] = False,
) -> None:
    """Run a shop's Spark jobs with the OpenLineage listener, and show what Lineward sees."""
    from lab.demo.start import run_demo  # noqa: PLC0415 - `--help` needs no Spark

    raise typer.Exit(run_demo(once=once, data_dir=data_dir))

"""`lineward bench ingest|pipeline|evaluate`: measured figures beside their budgets."""

import typer

app = typer.Typer()

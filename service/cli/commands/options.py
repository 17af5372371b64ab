"""Options of several commands."""

from pathlib import Path
from typing import Annotated, Any

import typer


def completed_datasets(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the datasets whose names begin like this."""
    # Imported here: only completion pays for the imports.
    from service.cli.commands.completing import complete_dataset  # noqa: PLC0415

    return complete_dataset(ctx, incomplete)


def replace_url(name: str) -> dict[str, Any]:
    """Return context settings with which `--url`, the earlier name of an option, still works."""
    return {"token_normalize_func": lambda word: name if word == "url" else word}


DataDir = Annotated[
    Path | None,
    typer.Option("--data-dir", help="Data folder [LINEWARD_DATA_DIR, ./lineward-data]."),
]
COLLECTOR_ADDRESS = (
    "Address of the collector"
    " \\[LINEWARD_COLLECTOR_URL, else this host and LINEWARD_COLLECTOR_PORT]."
)
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON as documented in docs/cli.md.")]
DatasetName = Annotated[
    str,
    typer.Argument(
        metavar="DATASET",
        help="Name, `namespace/name`, or the last part of a name.",
        autocompletion=completed_datasets,
    ),
]
DatasetNamespace = Annotated[
    str | None,
    typer.Option(
        "--namespace", help="Namespace of the dataset; DATASET must then be its full name."
    ),
]

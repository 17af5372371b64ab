"""Options that many commands take, spelt once."""

from pathlib import Path
from typing import Annotated

import typer


def completed_datasets(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the datasets whose names begin like this."""
    # At its use: whoever does not press the key need not wait for its imports.
    from service.commands.completing import datasets  # noqa: PLC0415

    return datasets(ctx, incomplete)


DataDir = Annotated[
    Path | None,
    typer.Option("--data-dir", help="Data folder [LINEWARD_DATA_DIR, ./lineward-data]."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, in its documented shape.")]
DatasetName = Annotated[
    str,
    typer.Argument(
        metavar="DATASET",
        help="Name, `namespace/name`, or a name's last part.",
        autocompletion=completed_datasets,
    ),
]
Namespace = Annotated[
    str | None, typer.Option("--namespace", help="The dataset's namespace; then its name is whole.")
]

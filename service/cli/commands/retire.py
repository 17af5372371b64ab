"""`lineward retire DATASET`: exclude a dataset from SLIs."""

from typing import Annotated

import typer

from service.cli.commands.options import AsJson, DataDir, DatasetName, Namespace
from service.cli.terminal import console, plain, print_json
from service.errors import RejectedInputError
from service.queries.catalog_session import open_session
from service.queries.dataset_lookup import resolve_dataset
from service.runtime.settings import read

app = typer.Typer(add_completion=False)


@app.command()
def main(
    dataset: DatasetName,
    note: Annotated[str, typer.Option(help="Reason, recorded in the audit log.")],
    namespace: Namespace = None,
    data_dir: DataDir = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Retire a dataset: no SLI counts it until it is written again."""
    if not note.strip():
        message = "--note: say why it is retired"
        raise RejectedInputError(message)
    settings = read(data_dir)
    with open_session(settings) as asked:
        named, now = resolve_dataset(asked.reader, dataset, namespace), asked.now
    from service.queries.retirement import retire  # noqa: PLC0415 - SQLAlchemy only once there is a dataset

    retire(settings, named, note.strip(), now=now)
    _, namespace, name = named
    if as_json:
        print_json({"dataset_namespace": namespace, "dataset": name, "note": note.strip()})
    else:
        console().print(plain(f"{name}: the next evaluation retires it"))

"""`lineward retire DATASET`: exclude a dataset from SLIs."""

from datetime import datetime
from typing import Annotated

import typer

from lineage.errors import InvalidRequestError
from lineage.process.clock import to_micros
from service.cli.commands.operator_name import operator_name
from service.cli.commands.options import AsJson, DataDir, DatasetName, DatasetNamespace
from service.cli.terminal import console, escape_markup, print_json
from service.queries.catalog_session import open_session
from service.queries.dataset_lookup import KnownDataset, resolve_dataset
from service.runtime.settings import Settings, read_settings

app = typer.Typer(add_completion=False)


@app.command()
def main(
    dataset: DatasetName,
    note: Annotated[str, typer.Option(help="Reason, recorded in the audit log.")],
    namespace: DatasetNamespace = None,
    data_dir: DataDir = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Retire a dataset: no SLI counts it until an event names it again."""
    if not note.strip():
        message = "--note: say why it is retired"
        raise InvalidRequestError(message)
    settings = read_settings(data_dir)
    with open_session(settings) as asked:
        named, now = resolve_dataset(asked.reader, dataset, namespace), asked.now
    _request(settings, named, note.strip(), now)
    _, namespace, name = named
    if as_json:
        print_json({"dataset_namespace": namespace, "dataset": name, "note": note.strip()})
    else:
        console().print(escape_markup(f"{name}: the next evaluation retires it"))


def _request(settings: Settings, dataset: KnownDataset, note: str, now: datetime) -> None:
    """Request the retirement, with an audit row in the same transaction."""
    from sqlalchemy import delete, insert  # noqa: PLC0415 - SQLAlchemy only once there is a dataset

    from alerts.operator_actions.audit import Entry, add_entry  # noqa: PLC0415 - as above
    from lineage.catalog.tables import retirement  # noqa: PLC0415 - as above
    from service.incidents.incident_commands import command_transaction  # noqa: PLC0415 - as above

    key, namespace, name = dataset
    at, detail = to_micros(now), f"{namespace}/{name}: {note}"
    entry = Entry(at=at, who=operator_name(), via="cli", action="retire", detail=detail)
    with command_transaction(settings) as connection:
        connection.execute(delete(retirement).where(retirement.c.dataset_key == key))
        connection.execute(insert(retirement).values(dataset_key=key, requested_at=at, note=note))
        add_entry(connection, entry)

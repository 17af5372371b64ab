"""Retires a dataset: what nobody writes or reads any more stops being expected."""

import getpass
from datetime import datetime

from sqlalchemy import Connection, delete, insert

from lineage.catalog.tables import audit, retirement
from lineage.process.clock import to_micros
from service.incidents.incident_commands import acting
from service.queries.dataset_lookup import Dataset
from service.runtime.settings import Settings


def retire(settings: Settings, dataset: Dataset, note: str, *, now: datetime) -> None:
    """Ask for it, with an audit row in the same transaction; the next evaluation does it."""
    with acting(settings) as connection:
        _request(connection, dataset, note, to_micros(now))


def _request(connection: Connection, dataset: Dataset, note: str, at: int) -> None:
    key, namespace, name = dataset
    connection.execute(delete(retirement).where(retirement.c.dataset_key == key))
    connection.execute(insert(retirement).values(dataset_key=key, requested_at=at, note=note))
    detail = f"{namespace}/{name}: {note}"
    connection.execute(
        insert(audit).values(at=at, who=getpass.getuser(), action="retire", detail=detail)
    )

"""Failed runs of datasets, and the messages about them."""

from sqlalchemy import update

from alerts.notify.message import from_json
from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from tests.alerts.detection.catalog_builder import dataset, micros
from tests.alerts.detection.conftest import NOON


def fail(watched, name="core", at=NOON + 60, **fields):  # noqa: ANN003
    """Fail a run with an error of two lines."""
    error = "[UNRESOLVED_COLUMN] no column amount\n  at line 3"
    return watched.estate.fail(name, at, **{"error_message": error} | fields)


def write(watched, name="core", at=NOON + 600):
    """Write the dataset by a later run."""
    table = tables.dataset_activity
    with write_transaction(watched.engine) as connection:
        mine = update(table).where(table.c.dataset_key == dataset(name))
        connection.execute(mine.values(last_written_at=micros(at)))


def sent(watched):
    """Return the messages, the first to be sent first."""
    return [from_json(row.message) for row in watched.rows(tables.notification)]

"""Rows of the tables that PostgreSQL keeps in partitions, for tests."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Engine, delete, insert, select, text

from lineage.catalog import migrations
from lineage.catalog.engine import exclusive_transaction, migrate, write_transaction
from lineage.catalog.partitions import add_partition, is_partitioned
from lineage.catalog.retention import RANGES
from lineage.catalog.tables import dataset, dataset_write, event, role_epoch, run, run_io
from lineage.process.clock import to_micros

NOW = datetime(2026, 11, 25, 12, tzinfo=UTC)
_DAY = timedelta(days=1)
_FLAGS = ("is_streaming", "is_history")
_HOUR = 3_600_000_000


def ago(days: float) -> int:
    """Return the time so many days before now, in µs."""
    return to_micros(NOW - days * _DAY)


def event_row(at: int, key: int = 0) -> dict[str, object]:
    """Return an event of this time."""
    row = dict.fromkeys((*_FLAGS, "is_skewed"), False)
    return {**row, "event_time": at, "event_key": key, "landed_at": 0, "last_seq": 1}


def write_row(key: int, at: int, root: str = "r", bucket: int | None = None) -> dict[str, object]:
    """Return a write of this dataset, by a run that completed at this time."""
    row = dict.fromkeys((*_FLAGS, "names_input", "is_reported"), False)
    job = {"job_key": 1, "job_namespace": "n", "job_name": "j"}
    hour = at // _HOUR * _HOUR + 1 if bucket is None else bucket
    keys = {"dataset_key": key, "root_run_id": root, "bucket": hour}
    return {**row, **job, **keys, "written_at": at, "landed_at": at}


def run_row(key: int, at: int, day: int = 0, run_id: str | None = None) -> dict[str, object]:
    """Return a run whose last event is of this time."""
    name = run_id or f"r{key}"
    job = {"job_namespace": "n", "job_name": "j"}
    root = {"root_run_id": name, "root_job_namespace": "n", "root_job_name": "j"}
    times = {"first_event_at": at, "last_event_at": at, "landed_at": at}
    return {"run_key": key, "day": day, "run_id": name, **job, **root, **times, "is_history": False}


def io_row(key: int, at: int, day: int = 0, direction: str = "write") -> dict[str, object]:
    """Return what this run wrote, by an event of this time."""
    keys = {"run_key": key, "day": day, "dataset_key": 1, "direction": direction}
    times = {"first_event_at": at, "last_event_at": at, "landed_at": at}
    return {**keys, **times, "has_statistics": False, "is_reported": True}


def dataset_row(key: int) -> dict[str, object]:
    """Return a dataset that was seen just now."""
    seen = {"first_seen_at": ago(500), "last_seen_at": ago(0)}
    return {"dataset_key": key, "canonical_key": key, "namespace": "n", "name": f"t{key}", **seen}


def put(engine: Engine, table, *rows):  # noqa: ANN002
    """Insert rows."""
    with exclusive_transaction(engine) as connection:
        connection.execute(insert(table), list(rows))


def remove(engine: Engine, table):
    """Delete all rows of a table."""
    with exclusive_transaction(engine) as connection:
        connection.execute(delete(table))


def undo_partitions_of_runs(engine: Engine):
    """Give a new catalog the plain tables that a migrated one has, until they are exchanged."""
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__path__[0])))
    with write_transaction(engine) as connection:
        config.attributes["connection"] = connection
        command.downgrade(config, "0019")
        connection.execute(insert(role_epoch).values(role="pipeline", epoch=1, began_at=0))
    migrate(engine)


def put_datasets(engine: Engine, *keys: int):
    """Insert datasets."""
    put(engine, dataset, *(dataset_row(key) for key in keys))


def events(engine: Engine) -> list[int]:
    """Return the times of all events."""
    with engine.connect() as connection:
        return sorted(connection.scalars(select(event.c.event_time)))


def writes(engine: Engine) -> list[tuple]:
    """Return keys and times of all writes."""
    columns = [*dataset_write.primary_key, dataset_write.c.written_at]
    with engine.connect() as connection:
        return sorted(tuple(row) for row in connection.execute(select(*columns)))


def runs(engine: Engine) -> tuple[list[tuple], list[tuple]]:
    """Return keys, days and times of all runs, and of what they read and wrote."""
    with engine.connect() as connection:
        return (
            sorted(tuple(row) for row in connection.execute(select(*_shown(run)))),
            sorted(tuple(row) for row in connection.execute(select(*_shown(run_io)))),
        )


def _shown(table):
    return [*table.primary_key, table.c.day, table.c.last_event_at]


def make_partition(engine: Engine, table: str, at: int) -> str:
    """Make the partition that a time lies in, if it is missing."""
    start = RANGES[table].start_of(at)
    return add_partition(engine, table, start, exclusive_transaction) or ""


def check_rights(engine: Engine, names: tuple[str, ...], change: Callable[[Engine], object]):
    """Check that a role that may read these tables may read them after a change, and no more."""
    role = f"reader_{engine.url.database}"
    with write_transaction(engine) as connection:
        connection.exec_driver_sql(f'CREATE ROLE "{role}"')
        connection.exec_driver_sql(f'GRANT SELECT ON {", ".join(names)} TO "{role}"')

    change(engine)

    granted = text("SELECT has_table_privilege(:role, :name, :right)")
    with write_transaction(engine) as connection:
        for name in names:
            given = {"role": role, "name": name}
            assert connection.scalar(granted, {**given, "right": "SELECT"})
            assert not connection.scalar(granted, {**given, "right": "INSERT"})
        connection.exec_driver_sql(f'DROP OWNED BY "{role}"')
        connection.exec_driver_sql(f'DROP ROLE "{role}"')


def partition_names(engine: Engine) -> list[str]:
    """Return the names of all partitions, which are tables beside those of the catalog."""
    if not is_partitioned(engine):
        return []
    found = "SELECT relname FROM pg_class WHERE relispartition AND relkind = 'r' ORDER BY relname"
    with engine.connect() as connection:
        return list(connection.scalars(text(found)))


def counts(engine: Engine, table: str) -> dict[str, int]:
    """Return the number of rows of each partition that has any."""
    query = text(f"SELECT tableoid::regclass::text, count(*) FROM {table} GROUP BY 1")  # noqa: S608 - ours
    with engine.connect() as connection:
        return dict(tuple(row) for row in connection.execute(query))

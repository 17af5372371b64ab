"""CPU time of a bare COPY of all rows that a catalog holds: the least that they cost PostgreSQL.

The rows go into another catalog, with the same tables, partitions and indexes, in the order in
which they are stored. `tests.bench.merge_statements` prints it.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import psycopg
from sqlalchemy import Engine

from tests.bench.partition_merges import catalog

_EVENTS_AT_ONCE: Final = 14_000  # as in a backlog of 100,000 events
_TABLES: Final = """
    SELECT c.relname, c.relkind = 'p' FROM pg_class c
    WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relname <> 'alembic_version'
    AND c.relnamespace = current_schema()::regnamespace ORDER BY c.relname
"""


def copy_nanos(engine: Engine, events: int) -> dict[str, int]:
    """Return the CPU nanoseconds of a session that copies all rows, by table."""
    with catalog() as other, engine.connect() as source, other.connect() as target:
        reading, writing = (_driver_connection(each) for each in (source, target))
        return {
            table: _copy(writing, table, list(_lines(reading, table, is_parent)), events)
            for table, is_parent in reading.execute(_TABLES).fetchall()
        }


def _driver_connection(connection: Any) -> psycopg.Connection[Any]:  # noqa: ANN401 - SQLAlchemy's
    return connection.connection.driver_connection  # type: ignore[no-any-return]


def _lines(reading: psycopg.Connection[Any], table: str, is_parent: bool) -> Iterator[bytes]:  # noqa: FBT001
    order = "tableoid, ctid" if is_parent else "ctid"
    query = f"COPY (SELECT * FROM {table} ORDER BY {order}) TO STDOUT"  # noqa: S608 - our own names
    with reading.cursor().copy(query.encode()) as copy:
        yield from map(bytes, copy)


def _copy(writing: psycopg.Connection[Any], table: str, lines: list[bytes], events: int) -> int:
    # What a migration has stored.
    writing.execute(f"DELETE FROM {table}".encode())  # noqa: S608 - our own names
    writing.commit()
    size = -(-len(lines) * _EVENTS_AT_ONCE // events) or 1
    before = _session_nanos(writing)
    for start in range(0, len(lines), size):
        with writing.cursor().copy(f"COPY {table} FROM STDIN".encode()) as copy:
            copy.write(b"".join(lines[start : start + size]))
        writing.commit()
    return _session_nanos(writing) - before


def _session_nanos(connection: psycopg.Connection[Any]) -> int:
    path = Path(f"/proc/{connection.info.backend_pid}/schedstat")
    return int(path.read_text().split()[0])

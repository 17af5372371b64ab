"""The edges of the catalog as arrays, by Arrow.

Rows as Python objects would take ten times as long.
"""

import itertools

import adbc_driver_postgresql.dbapi as postgresql
import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Engine, func, select

from lineage.catalog import tables

Keys = NDArray[np.int64]

_EDGES = "SELECT DISTINCT upstream_key, downstream_key FROM edge"


def catalog_version(engine: Engine) -> int:
    """When the last batch landed; 0 for an empty catalog. The graph changes with batches only."""
    newest = select(func.max(tables.batch.c.landed_at))
    with engine.connect() as connection:
        return connection.execute(newest).scalar_one() or 0


def read_edges(engine: Engine) -> tuple[Keys, Keys]:
    """Upstream and downstream key of every edge, once for each pair."""
    read = _from_sqlite if engine.dialect.name == "sqlite" else _from_postgresql
    upstream, downstream = read(engine)
    return upstream, downstream


def _from_sqlite(engine: Engine) -> Keys:
    # Never by ADBC: that brings its own SQLite, and of two in one process each drops the other's
    # locks (sqlite.org/howtocorrupt.html): the WAL was deleted under our writer, rows with it.
    with engine.connect() as connection:
        rows = connection.exec_driver_sql(_EDGES).cursor
        flat = np.fromiter(itertools.chain.from_iterable(rows), dtype=np.int64)  # type: ignore[arg-type]
    return flat.reshape(-1, 2).T.copy()


def _from_postgresql(engine: Engine) -> list[Keys]:
    url = engine.url.set(drivername="postgresql").render_as_string(hide_password=False)
    with postgresql.connect(url) as connection, connection.cursor() as cursor:
        cursor.execute(_EDGES)
        edges = cursor.fetch_arrow_table()
    columns = (edges.column(position).to_numpy() for position in range(2))
    return [column.astype(np.int64, copy=False) for column in columns]

"""`dataset_state`: what an evaluation says of each dataset, against what was said before."""

from collections.abc import Collection
from datetime import datetime
from typing import Any

import msgspec
import pyarrow as pa
from sqlalchemy import Connection, Engine, bindparam, delete, text

from lineage.catalog import tables
from lineage.clock import to_micros
from slis.stream.upsert import fold_rows

Row = dict[str, Any]

_AGES = """
    UPDATE dataset_state SET age_seconds = CASE WHEN a.last_written_at < :at
        THEN (:at - a.last_written_at) / 1e6 ELSE 0 END
    FROM dataset_activity a
    WHERE a.dataset_key = dataset_state.dataset_key AND dataset_state.sli = 'M2'
    AND a.last_written_at IS NOT NULL
"""
_TOUCHED = "UPDATE dataset_state SET is_worst = NULL WHERE dataset_key = :gone"
# What all list, count and show first; to find it among a dataset's states cost half a second.
_WORST = """
    UPDATE dataset_state SET is_worst = (sli = (
        SELECT o.sli FROM dataset_state o WHERE o.dataset_key = dataset_state.dataset_key
        ORDER BY CASE o.state WHEN 'bad' THEN 0 WHEN 'unknown' THEN 1 WHEN 'learning' THEN 2
            ELSE 3 END, CASE o.state WHEN 'good' THEN -o.since ELSE 0 END,
            LENGTH(o.sli), o.sli LIMIT 1))
    WHERE dataset_key IN (SELECT dataset_key FROM dataset_state WHERE is_worst IS NULL)
"""
_TOLD = ("state", "reason", "evidence", "limit_seconds", "limit_origin")


class StateChanges(msgspec.Struct, frozen=True):
    """What `dataset_state` must be told: most datasets are as they were."""

    rows: list[Row]
    gone: list[tuple[int, str]]


def state_changes(
    engine: Engine, as_of: datetime, states: pa.Table, *, slis: Collection[str]
) -> StateChanges:
    """`states` against the catalog's, with `since` kept while state and reason stay.

    Args:
        engine: of the catalog.
        as_of: the instant that was judged.
        states: `sli_schemas.STATES`.
        slis: whose states these are; those of others stay as they are.
    """
    names = ("dataset_key", "sli", *_TOLD, "age_seconds")
    whose = ", ".join(f"'{sli}'" for sli in slis)
    query = (
        f"SELECT dataset_key, sli, since, {', '.join(_TOLD)} FROM dataset_state"  # noqa: S608
        f" WHERE sli IN ({whose})"
    )
    with engine.connect() as connection:
        left = {row[:2]: row[2:] for row in connection.exec_driver_sql(query).fetchall()}
    at = to_micros(as_of)
    rows = []
    for values in zip(*(states.column(name).to_pylist() for name in names), strict=True):
        since, *before = left.pop(values[:2], (at, None))
        now = list(values[2:-1])
        if before != now:
            stays = before[:2] == now[:2]
            rows.append({**dict(zip(names, values, strict=True)), "since": since if stays else at})
    return StateChanges(rows=rows, gone=list(left))


def change_states(connection: Connection, changes: StateChanges) -> None:
    """Write the changes, and which state is now the gravest of each dataset they concern."""
    table = tables.dataset_state
    fold_rows(connection, table, [{**row, "is_worst": None} for row in changes.rows])
    if changes.gone:
        gone = delete(table).where(
            table.c.dataset_key == bindparam("gone"), table.c.sli == bindparam("of")
        )
        connection.execute(gone, [{"gone": one, "of": sli} for one, sli in changes.gone])
        connection.execute(text(_TOUCHED), [{"gone": one} for one, _ in changes.gone])
    mark_worst(connection)


def renew_ages(connection: Connection, as_of: datetime) -> None:
    """The age that every dataset has by now."""
    connection.execute(text(_AGES), {"at": to_micros(as_of)})


def mark_worst(connection: Connection) -> None:
    """Mark the gravest state of each dataset that has one with no mark."""
    connection.execute(text(_WORST))

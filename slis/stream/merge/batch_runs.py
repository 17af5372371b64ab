"""Runs of a batch, looked up once: the statements of a merge read them from staging tables.

`staging.batch_run` has all of them as the catalog knows them now, `staging.batch_io` what these
read and wrote, and `staging.unsourced` those that name no input.
"""

from collections.abc import Sequence
from typing import Final

from sqlalchemy import Connection, text

from lineage.catalog.new_rows import Then
from slis.stream.staging.tables import batch_io, batch_run

_RUNS: Final = ", ".join(column.name for column in batch_run.columns)
_IO: Final = ", ".join(column.name for column in batch_io.columns if column.name != "canonical_key")
# Each run with its day.
RUNS_OF_BATCH: Final = "(SELECT run_key, max(day) AS day FROM s_run GROUP BY run_key)"
_STORE_RUNS: Final = f"""
    INSERT INTO t_run ({_RUNS}) SELECT r.{_RUNS.replace(" ", " r.")}
    FROM {{of}} AS s CROSS JOIN run r WHERE r.run_key = s.run_key AND r.day = s.day
"""  # noqa: S608 - our own columns
_STORE_IO: Final = f"""
    INSERT INTO t_io ({_IO}, canonical_key) SELECT io.{_IO.replace(" ", " io.")}, d.canonical_key
    FROM {{of}} s CROSS JOIN run_io io JOIN dataset d ON d.dataset_key = io.dataset_key
    WHERE io.run_key = s.run_key AND io.day = s.day
"""  # noqa: S608 - likewise
# A new run has no value of the others.
_NEW: Final = ", ".join(name for name in _RUNS.split(", ") if name not in {"failed_at", "evidence"})
# PostgreSQL stages the runs that are new, and what they read and wrote, as it inserts them.
STAGE_NEW_RUNS: Final = Then(_NEW, f"INSERT INTO t_run ({_NEW}) SELECT {_NEW} FROM inserted")  # noqa: S608
STAGE_NEW_IO: Final = Then(
    _IO,
    f"""
    INSERT INTO t_io ({_IO}, canonical_key) SELECT io.{_IO.replace(" ", " io.")}, d.canonical_key
    FROM inserted io JOIN dataset d ON d.dataset_key = io.dataset_key
    """,  # noqa: S608 - our own columns
)
# Reading what it writes itself, as a MERGE does, names no source. By groups, not by a join: of rows
# with a direction PostgreSQL expects a few, and would compare each with each.
_STORE_UNSOURCED = text("""
    INSERT INTO t_unsourced (run_key)
    SELECT run_key FROM t_run WHERE run_key NOT IN (
        SELECT run_key FROM t_io GROUP BY run_key, canonical_key
        HAVING max(CASE WHEN direction = 'read' AND is_reported THEN 1 ELSE 0 END) = 1
            AND max(CASE direction WHEN 'write' THEN 1 ELSE 0 END) = 0)
""")
# Runs that no event of the batch names have no day yet.
_ANY_MISSING = text("""
    SELECT 1 FROM s_run WHERE day IS NULL AND run_key NOT IN (SELECT run_key FROM t_run) LIMIT 1
""")
_STORE_KNOWN = text("""
    INSERT INTO t_known (run_key) SELECT DISTINCT run_key FROM s_run
    WHERE run_key NOT IN (SELECT run_key FROM t_run)
        AND run_key NOT IN (SELECT run_key FROM t_known)
""")
_FIND_DAYS = text("""
    UPDATE s_run SET day = (SELECT max(r.day) FROM run r WHERE r.run_key = s_run.run_key)
    WHERE day IS NULL
""")
_EMPTY_IO = text("DELETE FROM t_io")
_EMPTY = (text("DELETE FROM t_run"), text("DELETE FROM t_unsourced"))
_RENEW = text("""
    UPDATE t_io SET canonical_key = (
        SELECT d.canonical_key FROM dataset d WHERE d.dataset_key = t_io.dataset_key)
""")


def stage_runs(connection: Connection, *, is_any_known: bool) -> None:
    """Stage the runs of the batch; once they are merged."""
    for of in _rest(connection, RUNS_OF_BATCH, is_any_known=is_any_known):
        connection.execute(text(_STORE_RUNS.format(of=of)))


def stage_io(connection: Connection, *, is_any_known: bool, is_changed: bool) -> None:
    """Stage what the staged runs read and wrote; once it is merged.

    Args:
        connection: inside the transaction of the batch.
        is_any_known: whether the catalog knew a run of the batch.
        is_changed: whether it changed since it was inserted.
    """
    if is_changed:
        _stage_all_io(connection)
    else:
        for of in _rest(connection, "t_run", is_any_known=is_any_known):
            connection.execute(text(_STORE_IO.format(of=of)))
    connection.execute(_STORE_UNSOURCED)


def _rest(connection: Connection, every: str, *, is_any_known: bool) -> Sequence[str]:
    """Return where the runs are that were not staged when they were inserted."""
    if connection.dialect.name == "sqlite":
        return (every,)
    return ("t_known",) if is_any_known else ()


def _stage_all_io(connection: Connection) -> None:
    connection.execute(_EMPTY_IO)
    connection.execute(text(_STORE_IO.format(of="t_run")))


def stage_missing(connection: Connection) -> None:
    """Stage the runs and what they read and wrote, where `staging.run` has others by now.

    These are stored, and so they are known.
    """
    if connection.execute(_ANY_MISSING).first() is None:
        return
    for statement in (_STORE_KNOWN, *_EMPTY):
        connection.execute(statement)
    connection.execute(_FIND_DAYS)
    connection.execute(text(_STORE_RUNS.format(of=RUNS_OF_BATCH)))
    _stage_all_io(connection)
    connection.execute(_STORE_UNSOURCED)


def renew_canonical_keys(connection: Connection) -> None:
    """Give what the runs read and wrote the canonical keys that datasets have by now."""
    connection.execute(_RENEW)

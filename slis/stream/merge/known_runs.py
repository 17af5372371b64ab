"""Runs of a batch that the catalog knew before it, and the days under which runs are stored.

A run is stored in the day of its id (`lineage.catalog.run_days`), or in day 0 if an older release
stored it: then it goes on there, and is one run.
"""

from typing import Final

from sqlalchemy import Connection, text

from lineage.catalog.retention import RANGES
from lineage.catalog.run_days import has_days
from slis.stream.merge.batch_runs import RUNS_OF_BATCH

# Beside the days of each run the
# partitions of the batch are named: PostgreSQL then plans no look-up in others. By their bounds and
# not by days: of a new day it expects no row, and would read whole indexes to find none.
_STORE_KNOWN: Final = f"""
    INSERT INTO t_known (run_key, day, id_day, completed_at, parent_run_id, root_run_id,
        root_job_namespace, root_job_name)
    SELECT * FROM (
        SELECT s.run_key, {{day}} AS day,
            s.day AS id_day, r.completed_at, r.parent_run_id, r.root_run_id, r.root_job_namespace,
            r.root_job_name
        FROM {RUNS_OF_BATCH} AS s
        LEFT JOIN run r ON r.run_key = s.run_key AND r.day IN (s.day, 0) {{of_run}}
    ) AS found WHERE day IS NOT NULL
"""  # noqa: S608 - our own columns
_DAY: Final = """
    coalesce(r.day, (SELECT min(io.day) FROM run_io io
        WHERE io.run_key = s.run_key AND {of_io}))
"""
_OF_ANY_DAY: Final = "io.day IN (s.day, 0)"
_UNDATED: Final = "io.day = 0"  # in one partition, without an entry for most runs
# With day 0, in which any run may be.
WITHIN: Final = "AND ({row}.day = 0 OR {row}.day >= :first AND {row}.day < :end)"
_DAYS: Final = "SELECT min(day), max(day) FROM s_run WHERE day <> 0"
_ANY_KNOWN: Final = text("SELECT 1 FROM t_known LIMIT 1")
_ANY_UNDATED: Final = text("SELECT 1 FROM t_known WHERE day <> id_day LIMIT 1")
_IS_UNDATED: Final = "run_key IN (SELECT run_key FROM t_known WHERE day <> id_day)"
_SET_UNDATED: Final = "UPDATE {rows} SET day = 0 WHERE {which}"


def stage_known(connection: Connection, *, finds_remains: bool) -> bool:
    """Stage the runs of the batch that are known; before it is merged. Return if there are any.

    Args:
        connection: inside the transaction of the batch.
        finds_remains: whether to look under each day for what a run without a row has read and
            written: retention deletes the run first. Under day 0 it is always looked for, since it
            decides the day of the run.
    """
    of_io = _OF_ANY_DAY if finds_remains else _UNDATED
    if connection.dialect.name == "sqlite":
        connection.execute(text(_STORE_KNOWN.format(day=_DAY.format(of_io=of_io), of_run="")))
    else:
        if not has_days(connection):
            _store_undated(connection, "day <> 0")
        day = _DAY.format(of_io=f"{of_io} {WITHIN.format(row='io')}" if finds_remains else of_io)
        within = text(_STORE_KNOWN.format(day=day, of_run=WITHIN.format(row="r")))
        connection.execute(within, range_bounds(connection, _DAYS))
    if connection.execute(_ANY_KNOWN).first() is None:
        return False
    if connection.execute(_ANY_UNDATED).first() is not None:
        _store_undated(connection, _IS_UNDATED)
    return True


def range_bounds(connection: Connection, days: str) -> dict[str, int]:
    """Return the start of the first and the end of the last range of days.

    Args:
        connection: inside the transaction of the batch.
        days: query of the first and of the last day.
    """
    first, last = connection.execute(text(days)).one()
    if first is None:
        return {"first": 0, "end": 0}
    ranges = RANGES["run"]
    return {"first": ranges.start_of(first), "end": ranges.start_of(last) + ranges.micros}


def _store_undated(connection: Connection, which: str) -> None:
    for rows in ("s_run", "s_run_io"):
        connection.execute(text(_SET_UNDATED.format(rows=rows, which=which)))

"""Root runs of a batch of which the catalog knew a run before it.

Only they have reads, writes and edges that are stored, or have ended before. So one look for each
root run stands for a look at each of these tables.
"""

from typing import Final

from sqlalchemy import Connection, text

from slis.stream.merge.known_runs import WITHIN, range_bounds

_STORE_ALL: Final = """
    INSERT INTO t_known_root (root_run_id, root_day)
    SELECT s.root_run_id, s.root_day
    FROM (SELECT root_run_id, max(root_day) AS root_day FROM s_run GROUP BY root_run_id) AS s
    WHERE 1 = 1
"""
_STORE: Final = f"""
    {_STORE_ALL} AND EXISTS (SELECT 1 FROM run r WHERE r.root_run_id = s.root_run_id {{within}})
"""  # noqa: S608 - our own columns
# A root run is older than its runs, as a rule.
_DAYS: Final = """
    SELECT min(CASE WHEN root_day > 0 AND root_day < day THEN root_day ELSE day END), max(day)
    FROM s_run WHERE day <> 0
"""
# A known run may have a root that an earlier event named.
_ADD: Final = text("""
    INSERT INTO t_known_root (root_run_id)
    SELECT DISTINCT r.root_run_id FROM t_known k CROSS JOIN t_run r
    WHERE r.run_key = k.run_key AND r.root_run_id NOT IN (SELECT root_run_id FROM t_known_root)
""")
_ANY: Final = text("SELECT 1 FROM t_known_root LIMIT 1")
IS_KNOWN: Final = "root_run_id IN (SELECT root_run_id FROM t_known_root)"


def stage_known_roots(connection: Connection, *, finds_remains: bool) -> None:
    """Stage the root runs of the batch that are known; before its runs are merged.

    Args:
        connection: inside the transaction of the batch.
        finds_remains: whether to take each for known. Otherwise a root run is new all of whose runs
            were deleted, or have other days than those of the batch and of its roots.
    """
    if finds_remains:
        connection.execute(text(_STORE_ALL))
    elif connection.dialect.name == "sqlite":
        connection.execute(text(_STORE.format(within="")))
    else:
        within = text(_STORE.format(within=WITHIN.format(row="r")))
        connection.execute(within, range_bounds(connection, _DAYS))


def add_known_roots(connection: Connection) -> bool:
    """Add the roots of the known runs; once runs are staged.

    Args:
        connection: inside the transaction of the batch.

    Returns:
        Whether any root run of the batch is known.
    """
    connection.execute(_ADD)
    return connection.execute(_ANY).first() is not None

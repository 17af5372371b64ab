"""PostgreSQL's planner learns of the tables that one transaction has filled, when it commits.

Autovacuum learns of them a minute later. If it looks while the transaction runs, it counts none of
the new rows: until its next look the planner expects three rows where 100,000 are, and joins them
by comparing each with each.
"""

from typing import Final

from sqlalchemy import Connection

ROWS: Final = 1_000  # fewer are joined fast by any plan
# `reltuples` is -1 where nobody has looked yet; `n_tup_ins` may still hold the second before.
_GROWN = """
    SELECT changed.relname FROM pg_stat_xact_user_tables changed
    JOIN pg_class known ON known.oid = changed.relid
    WHERE changed.schemaname = current_schema()
    AND changed.n_tup_ins >= GREATEST(%s, known.reltuples / 2)
    ORDER BY changed.relname
"""


def analyze_grown(connection: Connection) -> None:
    """Count the rows of each table that grew by half, and by `ROWS`, in this transaction.

    To be called at its end, and before a statement that joins what it wrote: later rows are not
    counted. Nobody else counts until it commits. Other engines than PostgreSQL need none of it.
    """
    if connection.dialect.name != "postgresql":
        return
    for name in connection.exec_driver_sql(_GROWN, (ROWS,)).scalars().all():
        connection.exec_driver_sql(f"ANALYZE {name}")

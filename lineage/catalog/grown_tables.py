"""Statistics for PostgreSQL's planner of tables that one transaction has filled, at its commit.

Autovacuum learns of them a minute later. If it looks while the transaction runs, it counts none of
the new rows: until its next look the planner expects three rows where 100,000 are, and joins them
by comparing each with each. A table with partitions it never counts, only its partitions.
"""

from typing import Final

from sqlalchemy import Connection

ROWS: Final = 1_000  # fewer are joined fast by any plan
# Of 3,000 rows, not of 30,000: the number of rows is what matters, and autovacuum takes the larger
# sample later.
_SAMPLE: Final = "SET LOCAL default_statistics_target = 10"
# PostgreSQL expects as many more rows of a counted table as it has more pages: another count gives
# it newer values of columns alone. `reltuples` is -1 where nobody has looked yet; what was inserted
# may still hold the second before. A table is counted with its partitions: none of these is counted
# beside it. Rows are looked up by columns of indexes: to sort the values of the others takes longer
# than all else. Of a table one number is asked for: PostgreSQL's view of all of them takes five
# times as long, in each batch.
_GROWN = """
    WITH changed AS (
        SELECT c.oid, c.relname, c.reltuples, i.inhparent AS parent, c.n_tup_ins
        FROM (SELECT oid, relname, reltuples, pg_stat_get_xact_tuples_inserted(oid) AS n_tup_ins
            FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace) c
        LEFT JOIN pg_inherits i ON i.inhrelid = c.oid
        WHERE c.n_tup_ins > 0),
    grown_parents AS (
        SELECT p.oid, p.relname FROM pg_class p
        JOIN (SELECT parent, sum(n_tup_ins) AS n FROM changed GROUP BY parent) s ON s.parent = p.oid
        WHERE s.n >= GREATEST(%(rows)s, p.reltuples)),
    grown AS (
        SELECT oid, relname FROM grown_parents
        UNION ALL SELECT oid, relname FROM changed
        WHERE n_tup_ins >= GREATEST(%(rows)s, reltuples)
        AND (parent IS NULL OR parent NOT IN (SELECT oid FROM grown_parents)))
    SELECT format('%%I (%%s)', g.relname, string_agg(DISTINCT quote_ident(a.attname), ', '))
    FROM grown g JOIN pg_index i ON i.indrelid = g.oid
    JOIN pg_attribute a ON a.attrelid = g.oid AND a.attnum = ANY (i.indkey)
    GROUP BY g.oid, g.relname ORDER BY g.relname
"""


def analyze_grown(connection: Connection) -> None:
    """Count the rows of each table that doubled, and grew by `ROWS`, in this transaction.

    To be called at its end, and before a statement that joins what it wrote: later rows are not
    counted. Nobody else counts until it commits. Other engines than PostgreSQL need none of it.
    """
    if connection.dialect.name != "postgresql":
        return
    grown = connection.exec_driver_sql(_GROWN, {"rows": ROWS}).scalars().all()
    if grown:
        connection.exec_driver_sql(f"{_SAMPLE}; ANALYZE {', '.join(grown)}")

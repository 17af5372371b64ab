"""Rows that an execution wrote, by output, where no event reports them.

A log has rows by stage, and a stage belongs to an execution: a file's to the one whose plan names
it, a JDBC table's to one that its command ran, a stream's to its micro-batch. Where they may have
gone to one output or to another, none are stored.
"""

from sqlalchemy import Connection, text

# Executions of the groups that are due, each with what its stages wrote; `writers`: how many of its
# group wrote. What failed may have been taken back.
_WROTE = """
    SELECT e.group_key, e.execution_key, e.outputs, sum(s.rows) AS rows, sum(s.bytes) AS bytes,
        count(*) OVER (PARTITION BY e.group_key) AS writers
    FROM execution e JOIN execution g ON g.execution_key = e.group_key
    JOIN evidence_stage s ON s.execution_key = e.execution_key
    WHERE e.group_key IN (SELECT group_key FROM t_due) AND s.rows IS NOT NULL
        AND e.error_message IS NULL AND g.error_message IS NULL
    GROUP BY e.group_key, e.execution_key, e.outputs
"""
# A sink knows its micro-batch, which several executions have.
_SINKS = """
    SELECT DISTINCT e.group_key, io.execution_key AS owner_key, io.dataset_key
    FROM execution e JOIN execution_io io ON io.execution_key = e.stream_key
    WHERE e.group_key IN (SELECT group_key FROM t_due) AND io.direction = 'write'
"""
_NAMED = f"""
    SELECT e.group_key, io.execution_key AS owner_key, io.dataset_key
    FROM execution e JOIN execution_io io ON io.execution_key = e.execution_key
    WHERE e.group_key IN (SELECT group_key FROM t_due) AND io.direction = 'write'
    UNION ALL {_SINKS}
"""  # noqa: S608 - our own tables
# Of a plan, those too whose dataset is not known: rows may have gone there.
_OUTPUTS = f"""
    SELECT group_key, sum(outputs) AS outputs FROM (
        SELECT group_key, outputs FROM execution
        WHERE group_key IN (SELECT group_key FROM t_due)
        UNION ALL SELECT group_key, 1 AS outputs FROM ({_SINKS}) AS t_sink
    ) AS t_every GROUP BY group_key
"""  # noqa: S608 - our own tables
# The run that names it is that of the execution whose plan does, else any of the group.
_COUNTED = f"""
    SELECT io.run_key, io.dataset_key, t_wrote.rows, t_wrote.bytes,
        row_number() OVER (PARTITION BY t_wrote.execution_key ORDER BY
            CASE WHEN e.execution_key = n.owner_key THEN 0 ELSE 1 END, io.run_key) AS place,
        max(io.rows) OVER (PARTITION BY t_wrote.execution_key) AS counted
    FROM ({_WROTE}) AS t_wrote
    JOIN ({_OUTPUTS}) AS o ON o.group_key = t_wrote.group_key
    JOIN ({_NAMED}) AS n ON n.group_key = t_wrote.group_key
        AND (t_wrote.outputs = 1 AND n.owner_key = t_wrote.execution_key
            OR t_wrote.writers = 1 AND o.outputs = 1)
    JOIN dataset nd ON nd.dataset_key = n.dataset_key
    JOIN execution e ON e.group_key = t_wrote.group_key
    JOIN run_io io ON io.run_key = coalesce(e.run_key, e.group_key) AND io.direction = 'write'
    JOIN dataset d ON d.dataset_key = io.dataset_key AND d.canonical_key = nd.canonical_key
"""  # noqa: S608 - our own tables
COUNT = f"""
    UPDATE run_io SET evidence_rows = t_rows.rows, evidence_bytes = t_rows.bytes
    FROM (
        SELECT run_key, dataset_key, max(rows) AS rows, max(bytes) AS bytes
        FROM ({_COUNTED}) AS t_counted WHERE place = 1 AND counted IS NULL
        GROUP BY run_key, dataset_key
    ) AS t_rows
    WHERE run_io.run_key = t_rows.run_key AND run_io.dataset_key = t_rows.dataset_key
        AND run_io.direction = 'write'
"""  # noqa: S608 - our own tables


def count_rows(connection: Connection) -> None:
    """Store `run_io.evidence_rows` of the groups in `staging.due`, beside the rows of events."""
    connection.execute(text(COUNT))

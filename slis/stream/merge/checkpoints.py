"""Checkpoints of a stream: with each of them its outputs were written, and its inputs read.

Flink 2 names the datasets of a job in its START only: the event of a checkpoint names none.
"""

from sqlalchemy import Connection, text

# Datasets that a checkpoint touches, beside the other mentions of streams. A run whose START
# has not landed names none yet: its next checkpoint counts, a minute later.
SELECT_TOUCHED = """
    SELECT c.run_key, io.dataset_key, io.direction, c.hour, c.first_at AS first_event_at,
        CASE WHEN io.direction = 'write' THEN c.last_at END AS streamed_at,
        CAST(NULL AS BIGINT) AS rows, 1 AS is_measured
    FROM s_checkpoint c
    JOIN t_run r ON r.run_key = c.run_key AND r.processing_type = 'STREAMING'
    JOIN t_io io ON io.run_key = c.run_key
"""
_ANY = text("SELECT 1 FROM s_checkpoint LIMIT 1")
# The newest checkpoint of each stream of the batch.
_NEWEST = """
    SELECT c.run_key, max(c.last_at) AS at FROM s_checkpoint c
    JOIN run r ON r.run_key = c.run_key AND r.processing_type = 'STREAMING' GROUP BY c.run_key
"""
_RUN_IO = text(f"""
    UPDATE run_io SET
        last_event_at = CASE WHEN c.at > last_event_at THEN c.at ELSE last_event_at END,
        streamed_at = CASE WHEN direction = 'write' AND c.at > coalesce(streamed_at, 0) THEN c.at
            ELSE streamed_at END
    FROM ({_NEWEST}) AS c WHERE run_io.run_key = c.run_key
""")  # noqa: S608 - our own tables
_DATASETS = text(f"""
    UPDATE dataset SET last_seen_at = c.at FROM (
        SELECT io.dataset_key, max(n.at) AS at FROM ({_NEWEST}) AS n
        JOIN run_io io ON io.run_key = n.run_key GROUP BY io.dataset_key
    ) AS c WHERE dataset.dataset_key = c.dataset_key AND dataset.last_seen_at < c.at
""")  # noqa: S608 - our own tables


def merge_checkpoints(connection: Connection) -> bool:
    """Count a checkpoint as a mention of all that its stream reads and writes.

    Without these mentions a stream that runs for 90 days would be retired while it writes. Return
    whether the batch has checkpoints.
    """
    if connection.execute(_ANY).first() is None:
        return False
    connection.execute(_RUN_IO)
    connection.execute(_DATASETS)
    return True

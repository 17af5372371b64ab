"""Checkpoints of a stream: with each of them its outputs were written, and its inputs read.

Flink 2 names the datasets of a job in its START only: the event of a checkpoint names none.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from sqlalchemy import Connection, text


def is_bare_checkpoint() -> Column:
    """Whether an event of `schemas.PARSED` reports a checkpoint and names no dataset."""
    names_none = (F.col("inputs") == 0) & (F.col("outputs") == 0)
    return F.col("has_checkpoint") & names_none & (F.col("event_type") == "RUNNING")


def checkpoints(parsed: DataFrame) -> DataFrame:
    """Return `schemas.CHECKPOINTS`: the first and the last such event of each run and hour."""
    time = F.col("event_time")
    return (
        parsed.where(is_bare_checkpoint() & time.isNotNull() & F.col("run_key").isNotNull())
        .groupBy("run_key", F.date_trunc("hour", time).alias("hour"))
        .agg(F.min(time).alias("first_at"), F.max(time).alias("last_at"))
    )


# Datasets that a checkpoint touches, as `touch` has other mentions of streams. A run whose START
# has not landed names none yet: its next checkpoint counts, a minute later.
TOUCHED = """
    SELECT c.run_key, io.dataset_key, io.direction, c.hour, c.first_at AS first_event_at,
        CASE WHEN io.direction = 'write' THEN c.last_at END AS streamed_at,
        CAST(NULL AS BIGINT) AS rows, 1 AS is_measured
    FROM s_checkpoint c
    JOIN run r ON r.run_key = c.run_key AND r.processing_type = 'STREAMING'
    JOIN run_io io ON io.run_key = c.run_key
"""
_STREAMED = text("""
    UPDATE run_io SET streamed_at = (
        SELECT max(c.last_at) FROM s_checkpoint c WHERE c.run_key = run_io.run_key)
    WHERE direction = 'write' AND coalesce(streamed_at, 0) < (
        SELECT max(c.last_at) FROM s_checkpoint c WHERE c.run_key = run_io.run_key)
    AND run_key IN (SELECT r.run_key FROM s_checkpoint s JOIN run r ON r.run_key = s.run_key
        WHERE r.processing_type = 'STREAMING')
""")


def merge_checkpoints(connection: Connection) -> None:
    """Note at the outputs of the batch's streams when data last went out."""
    connection.execute(_STREAMED)

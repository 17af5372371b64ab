"""Reads and events since the last evaluation, judged once: M5 and M6."""

from collections.abc import Collection
from datetime import datetime, timedelta

import pyarrow as pa
from pyspark.sql import SparkSession
from sqlalchemy import Engine

from lineage.catalog.queries import WITH_RETIREMENT, is_listed, key_list
from lineage.process.clock import to_micros
from slis.evaluation.catalog_frames import frame_rows, read_frame, small_frame
from slis.evaluation.dataset_states import FrameRow
from slis.evaluation.input import EvaluationRange
from slis.evaluation.sli_schemas import DATASET_TIERS, EVENTS, INSTANTS, READS, WRITES
from slis.indicators.lag import count_lag
from slis.indicators.provenance import SETTLING_MINUTES, judge_reads
from slis.spark.planning import local_rows

_READS = """
    SELECT dataset_key, root_run_id, bucket, read_at, landed_at, is_reported, is_history
    FROM dataset_read WHERE counted_at IS NULL AND read_at <= {due}
"""
_FIRST_WRITES = """
    SELECT w.dataset_key, '', '', '', min(w.written_at), 0, NULL, NULL, 1 = 1, 1 = 1, 1 = 1, 1 = 1
    FROM dataset_write w WHERE w.dataset_key IN (
        SELECT dataset_key FROM dataset_read WHERE counted_at IS NULL AND read_at <= {due}
    ) GROUP BY w.dataset_key
"""
_TIERS = f"""
    SELECT d.dataset_key, p.tier, p.tier_origin, p.is_source FROM dataset d
    JOIN dataset_policy p ON p.dataset_key = d.dataset_key {WITH_RETIREMENT}
    WHERE {is_listed()} AND t.dataset_key IS NULL AND d.dataset_key IN ({{keys}})
"""  # noqa: S608 - ours
_EVENTS = """
    SELECT event_time, landed_at, is_streaming, is_history, is_skewed FROM event
    WHERE last_seq > {after} AND last_seq <= {last}
"""


def count_events(
    spark: SparkSession, engine: Engine, at: EvaluationRange, horizon: datetime | None
) -> tuple[list[FrameRow], list[FrameRow]]:
    """Return READ_OUTCOMES and LAGS of what was not counted; no Spark job for nothing.

    Args:
        spark: the session.
        engine: of the catalog.
        at: the range that is evaluated.
        horizon: of earlier reads nothing is known; None: something is known of all.
    """
    instants = local_rows(spark, [(at.as_of,)], INSTANTS)
    outcomes: list[FrameRow] = []
    if (reads := read_reads(engine, at)).num_rows:
        writes = small_frame(spark, read_first_writes(engine, at), WRITES)
        tiers = read_tiers(engine, set(reads["dataset_key"].to_pylist()))
        datasets = small_frame(spark, tiers, DATASET_TIERS)
        frame = small_frame(spark, reads, READS)
        outcomes = frame_rows(judge_reads(frame, writes, datasets, instants, horizon=horizon))
    events = read_landed_events(engine, at)
    if not events.num_rows:
        return outcomes, []
    return outcomes, frame_rows(count_lag(small_frame(spark, events, EVENTS), instants))


def read_reads(engine: Engine, at: EvaluationRange) -> pa.Table:
    """Return rows of `sli_schemas.READS` that fell due and were not counted."""
    return read_frame(engine, _READS.format(due=_settled(at)), READS)


def read_first_writes(engine: Engine, at: EvaluationRange) -> pa.Table:
    """Return rows of `sli_schemas.WRITES`: the first write of each dataset of `read_reads`."""
    return read_frame(engine, _FIRST_WRITES.format(due=_settled(at)), WRITES)


def read_tiers(engine: Engine, keys: Collection[int]) -> pa.Table:
    """Return rows of `sli_schemas.DATASET_TIERS` of those datasets that `read_rows` reads."""
    return read_frame(engine, _TIERS.format(keys=key_list(keys)), DATASET_TIERS)


def _settled(at: EvaluationRange) -> int:
    return to_micros(at.as_of - timedelta(minutes=SETTLING_MINUTES))


def read_landed_events(engine: Engine, at: EvaluationRange) -> pa.Table:
    """Return rows of `sli_schemas.EVENTS` of the batches since the last evaluation."""
    return read_frame(engine, _EVENTS.format(after=at.after_seq, last=at.last_seq), EVENTS)

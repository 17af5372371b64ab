"""Changes to hours in the past by writes that landed late.

The history of an hour is what was known then, plus, for each late write once, the difference that
it makes: the same functions judge the same grid without it and with it. So the differences add up
to the truth, however many late writes come, and only datasets written late are judged again.

A write belongs to the evaluation that counts its batch, by the position in the log: what a merge
commits while an evaluation runs is of the next one, however long ago the merge began.
"""

from datetime import datetime, timedelta
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from sqlalchemy import Engine, text

from lineage.catalog.queries import key_list
from lineage.policy import Policy
from lineage.process.clock import from_micros
from slis.evaluation import catalog_frames
from slis.evaluation.counters import (
    AMENDABLE,
    AMOUNT_NAMES,
    Amounts,
    add_amounts,
    amounts_of,
    hour_of,
)
from slis.evaluation.facts_as_of import activity, facts_as_of
from slis.evaluation.input import EvaluationInput, EvaluationRange, read_excuses, stream_keys
from slis.evaluation.judge_datasets import count_states, datasets_judged
from slis.evaluation.sli_schemas import GAPS, INSTANTS, WRITES
from slis.spark.planning import local_rows, spark_schema
from slis.stream.derived.activity import IS_BACKFILL_AMONG, NEWEST_MEANT_FOR

LATE = timedelta(minutes=5)
STEP = timedelta(minutes=5)
_COLUMNS = f"{WRITES.rstrip()}, is_late boolean"
# With the grid of a week, a bound on the work: 200 datasets x 2,016 instants.
MAX_DATASETS = 200

# Writes of history loads are known, and amend nothing.
_IS_LATE = """
    landed_at > {after} AND landed_at <= {last} AND written_at < landed_at - {late}
    AND written_at >= {earliest} AND NOT is_history
"""
_LATE = f"""
    SELECT dataset_key, min(written_at) AS first_written_at FROM dataset_write
    WHERE {_IS_LATE}
    GROUP BY dataset_key ORDER BY first_written_at DESC LIMIT {MAX_DATASETS}
"""  # noqa: S608 - constants only
_WRITES = f"""
    SELECT dataset_key, root_run_id, job_namespace, job_name, written_at, landed_at,
        nominal_start_at, partition, names_input, is_reported, is_streaming, is_history,
        {_IS_LATE} AS is_late
    FROM (
        SELECT x.*, {NEWEST_MEANT_FOR} AS newest_meant_for FROM dataset_write x
        WHERE x.landed_at <= {{last}} AND x.dataset_key IN ({{keys}})
    ) AS w
    WHERE NOT coalesce({IS_BACKFILL_AMONG}, 1 = 0)
"""  # noqa: S608 - constants only
# A merge takes the time of its facts after the batch before has landed, and before its own has: so
# the times of two batches enclose what those after the first one and up to the second one wrote.
_LANDED = "SELECT landed_at FROM batch WHERE last_seq <= :seq ORDER BY last_seq DESC LIMIT 1"


def amend(spark: SparkSession, engine: Engine, at: EvaluationRange, policy: Policy) -> Amounts:
    """Return dataset-seconds to add to past hours, by (sli, tier, hour).

    Nothing for the first evaluation: there is no history yet that could be wrong. Of more than 200
    datasets written late at once, those written last are amended.
    """
    if at.previous_as_of is None or at.last_seq == at.after_seq:  # the first, or nothing landed
        return {}
    bounds = _bounds(engine, at)
    late = _late(engine, bounds)
    if not late:
        return {}
    query = _WRITES.format(keys=key_list(late), **bounds)
    writes = catalog_frames.read_frame(engine, query, _COLUMNS)
    grid = _grid(spark, min(late.values()), at.previous_as_of)
    given = EvaluationInput(spark, engine, at, policy, keys=late)
    tallied = _Tallies(spark, engine, given, at.as_of, grid)
    in_time = writes.filter(pc.invert(writes["is_late"]))
    return _difference(tallied.of(in_time), tallied.of(writes))


def _bounds(engine: Engine, at: EvaluationRange) -> dict[str, int]:
    """Return what `_IS_LATE` compares with, in microseconds."""
    with engine.connect() as connection:
        after, last = (
            connection.scalar(text(_LANDED), {"seq": seq}) or 0
            for seq in (at.after_seq, at.last_seq)
        )
    return {
        "after": after,
        "last": last,
        "late": LATE // timedelta(microseconds=1),
        "earliest": hour_of(at.as_of - AMENDABLE),
    }


def _late(engine: Engine, bounds: dict[str, int]) -> dict[int, datetime]:
    """Return the first late write of each dataset; backfills too, which amend nothing."""
    with engine.connect() as connection:
        rows = connection.execute(text(_LATE.format(**bounds))).all()
    return {row.dataset_key: from_micros(row.first_written_at) for row in rows}


def _grid(spark: SparkSession, first: datetime, last: datetime) -> DataFrame:
    """Return instants 5 minutes apart; each stands for the 5 minutes around it."""
    start = from_micros(hour_of(first)) + STEP / 2
    count = max(0, (last - start) // STEP + 1)
    return local_rows(spark, [(start + number * STEP,) for number in range(count)], INSTANTS)


class _Tallies:
    """Counts by hour, each write known from when it was."""

    def __init__(
        self,
        spark: SparkSession,
        engine: Engine,
        given: EvaluationInput,
        as_of: datetime,
        grid: DataFrame,
    ) -> None:
        self._spark, self._given, self._grid = spark, given, grid
        self._pauses = given.pauses()
        # A join with no rows is planned like one with many, and with all that it joins.
        self._edges = given.edges_into_streams() if stream_keys(given.rows) else None
        gaps = read_excuses(engine, as_of, None)
        self._gaps = catalog_frames.small_frame(spark, gaps, GAPS) if gaps.num_rows else None

    def of(self, writes: pa.Table) -> DataFrame:
        """Return the amounts of these writes, by SLI, tier and hour."""
        written = self._spark.createDataFrame(writes, spark_schema(_COLUMNS))
        facts = activity(written.withColumn("landed_at", F.col("written_at")))
        known = facts_as_of(facts, self._given.datasets(), self._grid)
        judged = datasets_judged(known, self._edges, self._gaps, self._pauses)
        hour = F.date_trunc("hour", "as_of").alias("hour")
        amounts = (F.sum(name).alias(name) for name in AMOUNT_NAMES)
        return count_states(judged).groupBy("sli", "tier", hour).agg(*amounts)


def _difference(before: DataFrame, after: DataFrame) -> Amounts:
    amounts: Amounts = {}
    signed = (frame.withColumn("sign", F.lit(sign)) for frame, sign in ((after, 1), (before, -1)))
    for row in catalog_frames.frame_rows(reduce(DataFrame.unionByName, signed)):
        place = (row["sli"], row["tier"], hour_of(row["hour"]))
        add_amounts(amounts, place, amounts_of(row, weight=row["sign"] * STEP.total_seconds()))
    return amounts

"""Events lost or late through our own fault: what looks bad because of it is unknown."""

from datetime import datetime

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lineage.states import BAD, UNKNOWN
from slis.evaluation.facts_as_of import plus_seconds, seconds_column

INGESTION, PIPELINE = "ingestion", "pipeline"
# Of `sli_schemas.GAPS`: when the collector was silent.
SILENCES = f"SELECT '{INGESTION}', started_at, ended_at FROM ingestion_gap"  # noqa: S608 - ours
INGESTION_GAP, PIPELINE_LAG = "ingestion_gap", "pipeline_lag"


def our_gaps(silences: pa.Table, backlog_since: datetime | None) -> pa.Table:
    """Return rows of `sli_schemas.GAPS`: the collector's silences, and the pipeline's own lag.

    Args:
        silences: rows of `sli_schemas.GAPS` of the collector.
        backlog_since: when the oldest event that has not landed was received; None: none waits.
    """
    if backlog_since is None:
        return silences
    lag = {"kind": PIPELINE, "started_at": backlog_since, "ended_at": None}
    return pa.concat_tables([silences, pa.Table.from_pylist([lag], silences.schema)])


def excuse_states(judged: DataFrame, gaps: DataFrame | None) -> DataFrame:
    """Make bad judgements unknown where a gap of ours may explain them.

    A collector's gap excuses what fell due in it, until the job's next cycle of which nothing fell
    into the gap. A pipeline that lags excuses what turned bad after the oldest event that has not
    landed was received: facts before that are complete.

    Args:
        judged: with the columns `as_of` and `judgement`.
        gaps: `sli_schemas.GAPS`; None: there are none.

    Returns:
        `judged` with the new state, `excuse`: pipeline_lag, ingestion_gap or null, and
        `excused_until`: when the first of the collector's gaps that excuse it does so no more.
    """
    if gaps is None:
        return judged.select(
            "*",
            F.lit(None).cast("string").alias("excuse"),
            F.lit(None).cast("timestamp").alias("excused_until"),
        )
    listed = gaps.agg(F.collect_list(F.struct("kind", "started_at", "ended_at")).alias("our_gaps"))
    excuse = (
        F.when(F.col("judgement.state") != BAD, F.lit(None).cast("string"))
        .when(F.exists("our_gaps", _is_behind), PIPELINE_LAG)
        .when(F.exists("our_gaps", _swallowed), INGESTION_GAP)
    )
    ends = F.transform(F.filter("our_gaps", _swallowed), _excuses_until)
    until = F.when(F.col("judgement.state") == BAD, F.array_min(ends))
    with_excuse = (
        judged.crossJoin(F.broadcast(listed))
        .select("*", excuse.alias("excuse"), until.alias("excused_until"))
        .drop("our_gaps")
    )
    state = F.when(F.col("excuse").isNotNull(), UNKNOWN).otherwise(F.col("judgement.state"))
    return with_excuse.withColumn("judgement", F.col("judgement").withField("state", state))


def _is_open(gap: Column) -> Column:
    as_of = F.col("as_of")
    return (gap["started_at"] <= as_of) & (gap["ended_at"].isNull() | (gap["ended_at"] > as_of))


def _is_behind(gap: Column) -> Column:
    is_after = F.col("judgement.bad_since") >= gap["started_at"]
    return (gap["kind"] == PIPELINE) & _is_open(gap) & is_after


def _ended_at(gap: Column) -> Column:
    as_of = F.col("as_of")
    return F.least(F.coalesce(gap["ended_at"], as_of), as_of)


def _excuses_until(gap: Column) -> Column:
    return _first_due_after(F.col("judgement"), _ended_at(gap))


def _swallowed(gap: Column) -> Column:
    as_of, judged = F.col("as_of"), F.col("judgement")
    ended_at = _ended_at(gap)
    overlaps = (gap["started_at"] <= judged["bad_since"]) & (ended_at >= judged["due_from"])
    is_swallowed = as_of < _first_due_after(judged, ended_at)
    return (gap["kind"] == INGESTION) & (gap["started_at"] <= as_of) & overlaps & is_swallowed


def _first_due_after(judged: Column, ended_at: Column) -> Column:
    """Return when the first cycle is due whose write comes after the gap at the earliest."""
    cycle = F.greatest(seconds_column(judged["bad_since"], judged["next_cycle_at"]), F.lit(1.0))
    swallowed = F.floor(seconds_column(judged["due_from"], ended_at) / cycle) + 1
    return plus_seconds(judged["bad_since"], cycle * F.greatest(swallowed, F.lit(1)))

"""M2 freshness: was each dataset written within its limit?"""

from functools import cache

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lineage.sli_limits import STREAM_LIMIT_SECONDS
from lineage.states import BAD, FRESHNESS, GOOD, LEARNING, UNKNOWN
from slis.cadence.profile import FAILED_CADENCE, PERIODIC
from slis.cadence.wide_limits import FEW
from slis.evaluation.facts_as_of import plus_seconds, seconds_column
from slis.evaluation.sli_schemas import NEVER_WRITTEN, OVERDUE, judgement

DECLARED, STREAMING, LEARNED = "declared", "streaming", "learned"
# A write comes no earlier than half a cadence after the one before: what was lost in a gap of ours
# before that was another cycle's.
_EARLIEST_CYCLE = 0.5


def is_stream() -> Column:
    """Return whether it is a stream by the policy or by its newest write."""
    return F.col("is_streaming") | F.coalesce("write.is_streaming", F.lit(False))


def limit_failed() -> Column:
    """Return whether Lineward failed on the dataset's writes, so that no limit was learned."""
    return F.coalesce(F.col("cadence_class") == FAILED_CADENCE, F.lit(False))


def with_inputs(known: DataFrame, edges: DataFrame | None) -> DataFrame:
    """Return `known` and `inputs_written_at`: the newest write of a stream's inputs.

    Null where a dataset is no stream, has no inputs, or has one whose writes nobody reports: a
    stream out of an unwatched topic is never called idle: its input may well have newer data.
    `edges` is None where `known` has no stream: nothing is joined then.
    """
    if edges is None:
        return known.withColumn("inputs_written_at", F.lit(None).cast("timestamp"))
    inputs = edges.where("upstream_key != downstream_key").distinct()
    count = inputs.groupBy("downstream_key").agg(F.count("*").alias("inputs"))
    streams = known.where(is_stream()).select("as_of", F.col("dataset_key").alias("downstream_key"))
    # Streams and their inputs are few beside all datasets: those stay where they are.
    wanted = streams.join(F.broadcast(inputs), "downstream_key").join(
        F.broadcast(count), "downstream_key"
    )
    written = known.select(
        "as_of", F.col("dataset_key").alias("upstream_key"), F.col("write.written_at").alias("at")
    )
    is_known = F.count("at") == F.first("inputs")
    newest = (
        written.join(F.broadcast(wanted), ["as_of", "upstream_key"])
        .groupBy("as_of", F.col("downstream_key").alias("dataset_key"))
        .agg(F.when(is_known, F.max("at")).alias("inputs_written_at"))
    )
    return known.join(F.broadcast(newest), ["as_of", "dataset_key"], "left")


def with_pauses(known: DataFrame, pauses: DataFrame | None) -> DataFrame:
    """Return `known` and `pauses`: the time that does not count for each dataset, else null.

    No such column where there are no pauses at all.
    """
    if pauses is None:
        return known
    return known.join(F.broadcast(pauses), "plan", "left")


@cache
def freshness_judgement(*, has_pauses: bool = False) -> Column:
    """Return M2 of a row of `with_inputs` or, if there are pauses, `with_pauses`: a JUDGEMENT."""
    since = F.coalesce("write.written_at", "first_seen_at")
    deadline, limit, origin = _deadline(since, has_pauses=has_pauses)
    is_over = F.col("as_of") > deadline
    is_idle = is_stream() & is_over & (F.col("inputs_written_at") <= F.col("write.written_at"))
    is_idle = F.coalesce(is_idle, F.lit(False))
    state = (
        F.when(limit.isNull() & limit_failed(), UNKNOWN)
        .when(limit.isNull(), LEARNING)
        .when(is_over & ~is_idle, BAD)
        # Nothing was due yet: neither good nor bad.
        .when(F.col("write").isNull(), LEARNING)
        # A feed that ends while it is learned is bad once its wide limit is over; no sooner good.
        .when((F.col("cadence_class") == FEW) & (origin == LEARNED), LEARNING)
        .otherwise(GOOD)
    )
    earliest = F.coalesce(_EARLIEST_CYCLE * F.col("cadence_seconds"), F.lit(0.0))
    return judgement(
        sli=F.lit(FRESHNESS.id),
        state=state,
        defect=F.when(
            state == BAD, F.when(F.col("write").isNull(), NEVER_WRITTEN).otherwise(OVERDUE)
        ),
        due_from=F.greatest(plus_seconds(since, earliest), _slot_from(deadline, origin)),
        bad_since=deadline,
        next_cycle_at=plus_seconds(deadline, F.coalesce(F.col("cadence_seconds"), limit)),
        is_idle=is_idle,
        # A clock that runs ahead must not give a negative age.
        age_seconds=F.when(
            F.col("write").isNotNull(),
            F.greatest(F.lit(0.0), seconds_column(F.col("write.written_at"), F.col("as_of"))),
        ),
        limit_seconds=limit,
        limit_origin=origin,
    )


def _deadline(since: Column, *, has_pauses: bool) -> tuple[Column, Column, Column]:
    """Return when its next write is due, in how many seconds, and the origin of the limit."""
    limit, origin = _limit()
    deadline = plus_seconds(since, limit)
    # A fold over an array keeps Spark from compiling the whole stage: two seconds of 100,000
    # datasets, which no estate without pauses shall pay.
    if not has_pauses:
        return deadline, limit, origin
    # A learned limit has them in it already: it is of the gap that the newest write began.
    is_paused = F.col("pauses").isNotNull() & (origin != LEARNED)
    deadline = F.when(is_paused, _after_pauses(since, limit)).otherwise(deadline)
    return deadline, F.when(is_paused, seconds_column(since, deadline)).otherwise(limit), origin


def _slot_from(deadline: Column, origin: Column) -> Column:
    """Return from when on a schedule's next write may come: days off leave it no time to lose.

    Half a cadence before its slot, of which a deadline is rarely more than a cadence later.
    """
    has_slots = (F.col("cadence_class") == PERIODIC) & (origin == LEARNED)
    cadence = F.when(has_slots, F.col("cadence_seconds"))
    return plus_seconds(deadline, -(1 + _EARLIEST_CYCLE) * cadence)


def _after_pauses(since: Column, limit: Column) -> Column:
    """Return the instant by which `limit` seconds that count have gone."""
    begun = F.unix_micros(since)

    def moved(due: Column, pause: Column) -> Column:
        is_between = (pause["started"] < due) & (pause["ended"] > begun)
        lasts = pause["ended"] - F.greatest(pause["started"], begun)
        return F.when(is_between, due + lasts).otherwise(due)

    due = begun + (limit * 1e6).cast("bigint")
    return F.timestamp_micros(F.aggregate("pauses", due, moved))


def _limit() -> tuple[Column, Column]:
    """Return the limit in force and its origin: declared before streaming before learned."""
    streaming = F.when(is_stream(), STREAM_LIMIT_SECONDS)
    limit = F.coalesce(F.col("declared_limit_seconds"), streaming, F.col("learned_limit_seconds"))
    origin = (
        F.when(F.col("declared_limit_seconds").isNotNull(), DECLARED)
        .when(streaming.isNotNull(), STREAMING)
        .when(F.col("learned_limit_seconds").isNotNull(), LEARNED)
    )
    return limit, origin

"""Reason why a dataset is not good: the first reason that holds, with its evidence."""

from collections.abc import Sequence
from functools import cache

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lineage.states import BAD, FRESHNESS, LOST_AFTER_DURATIONS, UNKNOWN
from slis.evaluation import reason_words
from slis.evaluation.facts_as_of import is_after_write, is_running, plus_seconds
from slis.evaluation.ingestion_gaps import INGESTION_GAP, PIPELINE_LAG
from slis.evaluation.sli_schemas import (
    NEVER_WRITTEN,
    NO_INPUTS,
    NO_WRITE,
    OVERDUE,
    UNREPORTED_WRITE,
)
from slis.evaluation.twins import find_twins
from slis.indicators.freshness import limit_failed

LIMIT_FAILED = "limit_failed"
_KEYS = ["as_of", "dataset_key"]


def add_reasons(judged: DataFrame, edges: DataFrame, also: Sequence[str] = ()) -> DataFrame:
    """Return each judgement with its reason.

    Args:
        judged: `sli_schemas.JUDGED`, of both per-dataset SLIs: late upstreams are looked up in it.
        edges: `sli_schemas.EDGES`, expected ones.
        also: columns of `judged` to keep.

    Returns:
        `sli_schemas.STATES` and the columns of `also`, one row per row of `judged`.
    """
    explained = explain_not_good(judged, edges, also)
    return explained.unionByName(add_notes(judged.where(~is_not_good()), also))


def is_not_good() -> Column:
    """Return whether a judgement needs a reason."""
    return F.col("judgement.state").isin(BAD, UNKNOWN)


def add_notes(judged: DataFrame, also: Sequence[str] = ()) -> DataFrame:
    """Return each judgement that needs no reason with its note, as `add_reasons` does."""
    return judged.select(*_columns(F.lit(None).cast("string"), reason_words.note()), *also)


def explain_not_good(judged: DataFrame, edges: DataFrame, also: Sequence[str] = ()) -> DataFrame:
    """Return the rows of `add_reasons` that have a reason."""
    not_good = judged.where(is_not_good())
    # Few datasets are bad or unknown: the other ones stay where they are.
    explained = not_good.join(F.broadcast(_late_upstreams(judged, edges)), _KEYS, "left").join(
        F.broadcast(find_twins(judged, not_good)), _KEYS, "left"
    )
    return explained.select("*", _first_that_holds().alias("found")).select(
        *_columns(F.col("found.reason"), F.col("found.evidence")), *also
    )


def reason_changes() -> list[Column]:
    """Return the times at which the reason of a judgement may change without a fact."""
    lost_after = LOST_AFTER_DURATIONS * F.col("duration_seconds")
    return [plus_seconds(F.col("started_at"), lost_after)]


def _columns(reason: Column, evidence: Column) -> list[Column]:
    fields = ("sli", "state")
    figures = ("age_seconds", "limit_seconds", "limit_origin")
    return [
        *(F.col(name) for name in _KEYS),
        *(F.col(f"judgement.{name}").alias(name) for name in fields),
        reason.alias("reason"),
        evidence.alias("evidence"),
        *(F.col(f"judgement.{name}").alias(name) for name in figures),
    ]


def _late_upstreams(judged: DataFrame, edges: DataFrame) -> DataFrame:
    """Return for each dataset the overdue upstream whose writes stopped first."""
    is_late = (F.col("judgement.sli") == FRESHNESS.id) & (F.col("judgement.state") == BAD)
    since = F.col("judgement.bad_since")
    late = judged.where(is_late).select(
        "as_of",
        F.col("dataset_key").alias("upstream_key"),
        F.struct(
            F.coalesce("write.written_at", since).alias("stopped_at"),
            since.alias("since"),
            "namespace",
            "name",
        ).alias("late"),
    )
    into = edges.where("upstream_key != downstream_key").withColumnRenamed(
        "downstream_key", "dataset_key"
    )
    return (
        into.join(F.broadcast(late), "upstream_key")
        .groupBy(*_KEYS)
        .agg(F.min("late").alias("late_upstream"))
    )


@cache
def _first_that_holds() -> Column:
    """Build a struct of reason and evidence, in the order of `docs/slis.md`."""
    found = _reason("late", reason_words.late())
    for holds, reason, evidence in reversed(_reasons()):
        found = F.when(holds, _reason(reason, evidence)).otherwise(found)
    return found


def _reasons() -> list[tuple[Column, str, Column]]:
    """Return (holds, reason, evidence), the first that holds first."""
    is_absent = F.col("judgement.defect").isin(NEVER_WRITTEN, NO_WRITE, OVERDUE)
    is_quiet = is_absent & ~is_running()
    defect = F.col("judgement.defect")
    written_at = F.col("write.written_at")
    return [
        (F.col("excuse") == PIPELINE_LAG, PIPELINE_LAG, reason_words.pipeline_lag()),
        (F.col("excuse") == INGESTION_GAP, INGESTION_GAP, reason_words.ingestion_gap()),
        (_has_no_limit(), LIMIT_FAILED, reason_words.limit_failed_evidence()),
        (is_absent & is_after_write("failed.failed_at"), "job_failed", reason_words.job_failed()),
        (is_absent & F.col("twin").isNotNull(), "naming_mismatch", reason_words.naming_mismatch()),
        (is_absent & _is_lost(), "lost_run", reason_words.lost_run()),
        (is_absent & _is_made_late(), "upstream_late", reason_words.upstream_late()),
        (defect == UNREPORTED_WRITE, "lineage_missing", reason_words.lineage_missing()),
        (is_quiet & _ran_unlistened(), "lineage_missing", reason_words.describe_missing_listener()),
        (is_quiet & _is_missing_from_logs(), "job_missing", reason_words.job_missing()),
        (is_quiet & _is_not_submitted(), "job_missing", reason_words.not_submitted()),
        (is_quiet & written_at.isNotNull(), "silent", reason_words.silent()),
        (is_quiet & written_at.isNull(), "never_reported", reason_words.never_reported()),
        (defect == NO_INPUTS, "no_inputs", reason_words.no_inputs()),
    ]


def _reason(reason: str, evidence: Column) -> Column:
    return F.struct(F.lit(reason).alias("reason"), evidence.alias("evidence"))


def _has_no_limit() -> Column:
    is_fresh = F.col("judgement.sli") == FRESHNESS.id
    return is_fresh & F.col("judgement.limit_seconds").isNull() & limit_failed()


def _is_missing_from_logs() -> Column:
    """Return whether logs, read after the deadline, lack a job that left logs before.

    Logs that were last read before it passed say nothing of a job that was not due yet.
    """
    was_read_since = F.col("logs_read_at") > F.col("judgement.bad_since")
    return was_read_since & (F.col("job_seen_at") <= F.col("write.written_at"))


def _ran_unlistened() -> Column:
    """Return whether the job ran without the listener since the write: its events cannot come."""
    return F.col("app_lacks_listener") & (F.col("app_seen_at") > F.col("write.written_at"))


def _is_not_submitted() -> Column:
    """Return whether Kubernetes ran the job before, and was watched without a gap since."""
    written_at = F.col("write.written_at")
    is_seen = F.coalesce(F.col("job_seen_at") > written_at, F.lit(False))
    was_checked_since = F.col("app_checked_at") > F.col("judgement.bad_since")
    return was_checked_since & (F.col("app_seen_at") <= written_at) & ~is_seen


def _is_made_late() -> Column:
    """Return whether an upstream is overdue and was not written after this dataset was late."""
    stopped_at, since = F.col("late_upstream.stopped_at"), F.col("judgement.bad_since")
    return stopped_at.isNotNull() & F.coalesce(stopped_at <= since, F.lit(True))


def _is_lost() -> Column:
    [lost_at] = reason_changes()
    return is_running() & F.coalesce(F.col("as_of") > lost_at, F.lit(False))

"""Evidence of each reason in words: times, runs and names that on-call engineers can look up."""

from functools import cache

from pyspark.sql import Column
from pyspark.sql import functions as F

from lineage.process.error_lines import ERROR_CHARACTERS, FIRST, RAISED, TRACEBACK
from lineage.states import COVERAGE, FAILED_RUN, FRESHNESS, LEARNING, SUBMITTED
from slis.cadence.training import MIN_GAPS
from slis.evaluation.wording import BY_EVENT_LOG, duration_text, instant_column, join_words


@cache
def note() -> Column:
    """Return the note about a dataset that is not bad."""
    idle = join_words(
        "idle: its inputs have nothing newer than ", instant_column(F.col("inputs_written_at"))
    )
    due = instant_column(F.col("judgement.bad_since"))
    first_due = join_words("no write yet; the first is due by ", due)
    learning = join_words(
        "learning its cadence: ",
        F.coalesce("gaps", F.lit(0)).cast("string"),
        f" of {MIN_GAPS} gaps between writes",
    )
    created = join_words("created ", instant_column(F.col("created_at")), ", not written yet")
    started = join_words("its first run began ", instant_column(F.col("started_at")))
    begun = F.when(F.col("created_at").isNotNull(), created).otherwise(started)
    is_learning = F.col("judgement.state") == LEARNING
    has_limit = F.col("judgement.limit_seconds").isNotNull()
    is_begun = is_learning & (F.col("judgement.sli") == COVERAGE.id)
    is_of_freshness = F.col("judgement.sli") == FRESHNESS.id
    has_failed = F.coalesce(
        F.col("failed.failed_at") > F.col("write.written_at"), F.col("failed").isNotNull()
    )
    return (
        F.when(has_failed & is_of_freshness, join_words(_failure(), "; not late yet"))
        # M1 does not know whether the dataset is late.
        .when(has_failed, _failure())
        .when(F.col("judgement.is_idle"), idle)
        .when(is_begun, begun)
        .when(is_learning & has_limit & F.col("write").isNull(), first_due)
        .when(is_learning & has_limit, join_words(learning, "; due by ", due))
        .when(is_learning, learning)
    )


def _full_name(prefix: str) -> Column:
    return join_words(F.col(f"{prefix}.namespace"), " ", F.col(f"{prefix}.name"))


def _last_write() -> Column:
    at = join_words("last written ", instant_column(F.col("write.written_at")), " by run ")
    return F.when(F.col("write").isNull(), F.lit("never written")).otherwise(
        join_words(at, F.col("write.root_run_id"), " of ", F.col("write.job_name"))
    )


def _overdue() -> Column:
    limit = duration_text(F.col("judgement.limit_seconds"))
    known = join_words("; limit ", limit, " (", F.col("judgement.limit_origin"), ")")
    return F.when(F.col("judgement.limit_seconds").isNull(), F.lit("")).otherwise(known)


def pipeline_lag() -> Column:
    """Return the evidence of `pipeline_lag`."""
    return join_words(
        "events have landed late since before ", instant_column(F.col("judgement.bad_since"))
    )


def ingestion_gap() -> Column:
    """Return the evidence of `ingestion_gap`."""
    due = instant_column(F.col("judgement.bad_since"))
    return join_words("due ", due, ", while no heartbeat of a collector arrived; ", _last_write())


def limit_failed_evidence() -> Column:
    """Return the evidence of `limit_failed`."""
    problem = "its limit could not be learned from its writes: an error of Lineward; "
    return join_words(problem, _last_write())


def naming_mismatch() -> Column:
    """Return the evidence of `naming_mismatch`."""
    written_at = instant_column(F.col("twin.written_at"))
    return join_words(_last_write(), "; ", _full_name("twin"), " was written ", written_at)


def job_failed() -> Column:
    """Return the evidence of `job_failed`."""
    return join_words(_failure(), "; ", _last_write(), _overdue())


def _failure() -> Column:
    """Return the failed run, its time, and one line of its error, as `error_line` finds it."""
    failed_at = instant_column(F.col("failed.failed_at"))
    first = F.rtrim(F.regexp_extract("failed.message", FIRST, 0))
    raised = F.rtrim(F.regexp_extract("failed.message", RAISED, 1))
    is_logged = first.startswith(BY_EVENT_LOG)
    of_traceback = F.concat(F.when(is_logged, BY_EVENT_LOG).otherwise(F.lit("")), raised)
    is_traceback = first.endswith(TRACEBACK) & (F.length(raised) > 0)
    error = F.when(is_traceback, of_traceback).otherwise(first)
    before = F.when(is_logged, ", ").otherwise(": ")
    shown = F.concat(before, F.substring(error, 1, ERROR_CHARACTERS))
    return join_words(
        *(FAILED_RUN, F.col("failed.run_id"), " failed ", failed_at),
        F.when(F.length(error) > 0, shown).otherwise(F.lit("")),
    )


def lost_run() -> Column:
    """Return the evidence of `lost_run`."""
    started_at, usual = (
        instant_column(F.col("started_at")),
        duration_text(F.col("duration_seconds")),
    )
    return join_words(
        "a run started ", started_at, " and never ended; it usually takes ", usual, _overdue()
    )


def upstream_late() -> Column:
    """Return the evidence of `upstream_late`."""
    since = instant_column(F.col("late_upstream.since"))
    return join_words(
        "upstream ",
        _full_name("late_upstream"),
        " has been late since ",
        since,
        "; ",
        _last_write(),
    )


def lineage_missing() -> Column:
    """Return the evidence of `lineage_missing`."""
    return join_words(_last_write(), ", known from evidence only: no events reported it")


def describe_missing_listener() -> Column:
    """Return the evidence of `lineage_missing` where the job ran without the listener."""
    return join_words(
        *(_last_write(), _submitted(), ": no events were received from it"), _overdue()
    )


def _submitted() -> Column:
    return join_words("; its job", SUBMITTED, F.col("app_summary"))


def silent() -> Column:
    """Return the evidence of `silent`."""
    ran = join_words(
        "; its job ran ", instant_column(F.col("job_seen_at")), " and did not write it"
    )
    written_at = F.col("write.written_at")
    since = (
        F.when(F.col("job_seen_at") > written_at, ran)
        .when(
            F.col("app_seen_at") > written_at, join_words(_submitted(), "; no write was reported")
        )
        .otherwise(F.lit("; no events of its job since"))
    )
    return join_words(_last_write(), since, _overdue())


def job_missing() -> Column:
    """Return the evidence of `job_missing`."""
    return join_words(
        *(_last_write(), "; event logs read after the deadline contain no run since"),
        _overdue(),
    )


def not_submitted() -> Column:
    """Return the evidence of `job_missing` where Kubernetes has no newer SparkApplication."""
    none_since = "; Kubernetes, watched since then, has no newer SparkApplication of its job"
    return join_words(_last_write(), none_since, _overdue())


def never_reported() -> Column:
    """Return the evidence of `never_reported`."""
    read_at = join_words(", last read ", instant_column(F.col("read_at")))
    read = F.when(F.col("read_at").isNull(), F.lit("")).otherwise(read_at)
    created_at = join_words(", created ", instant_column(F.col("created_at")))
    created = F.when(F.col("created_at").isNull(), F.lit("")).otherwise(created_at)
    job = join_words("; the job that should write it", SUBMITTED, F.col("app_summary"))
    submitted = F.when(F.col("app_summary").isNull(), F.lit("")).otherwise(job)
    return join_words("no write was ever reported", read, created, submitted, _overdue())


def no_inputs() -> Column:
    """Return the evidence of `no_inputs`."""
    return join_words(_last_write(), ", which has no inputs, or too many to store as edges")


def late() -> Column:
    """Return the evidence of `late`."""
    started_at = instant_column(F.col("started_at"))
    return join_words(
        "a run started ", started_at, " and has not ended; ", _last_write(), _overdue()
    )

"""M3b completeness of edges: is each expected edge reported, within its own limit?"""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from lineage.policy.tiers import MIN_RUNS
from lineage.states import BAD, EDGE_COMPLETENESS, REGULATED
from slis.evaluation.facts_as_of import plus_seconds, seconds_column
from slis.evaluation.wording import duration_text, instant_column, join_words
from slis.indicators.coverage import ACTIVE_SECONDS

# Why an expected edge is bad.
NEVER_REPORTED = "never_reported"  # declared, or known from evidence alone
UNREPORTED_SINCE = "unreported_since"  # evidence has a run since that read it
AGED = "aged"  # not reported for longer than its limit

_NAMED = ("namespace", "name", "job_name")  # of an upstream, in the order that is shown
OFTEN = 2  # in at least every second run: most of them
_FORGOTTEN_AFTER_CYCLES = 8  # a job that reads something else by now
_DECLARED_LIMIT_SECONDS = 86_400.0
# An outer and an inner run of one write end within this of each other.
_SAME_WRITE_SECONDS = 60.0


def judge_edges(expected: DataFrame, instants: DataFrame, gaps: DataFrame) -> DataFrame:
    """Judge the edges that must exist at each instant.

    Expected is what the policy or a JobEvent declares, what evidence shows, and what was in most
    of a job's last runs; that ends when the job has read something else for eight cycles, and for
    7 days.

    Args:
        expected: `completeness.schemas.EXPECTED_EDGES`.
        instants: `sli_schemas.INSTANTS`.
        gaps: `sli_schemas.GAPS`; an edge that fell due in one of ours is unknown.

    Returns:
        `completeness.schemas.EDGES_JUDGED`; `missed` is null for an edge that is good.
    """
    at = expected.crossJoin(F.broadcast(instants)).where("first_seen_at <= as_of")
    judged = at.select("*", _own_limit().alias("own_limit")).where(_is_expected())
    return _excused(judged.select("*", _missed().alias("missed")), gaps).select(
        *("as_of", "upstream_key", "downstream_key", "job_name"),
        F.when(F.col("is_regulated"), REGULATED).otherwise(F.col("tier")).alias("tier"),
        F.when(F.col("is_regulated"), "declared")
        .otherwise(F.col("tier_origin"))
        .alias("tier_origin"),
        *(
            "missed",
            "is_unknown",
            "last_reported_at",
            "last_seen_at",
            "runs",
            F.col("own_limit").alias("limit_seconds"),
        ),
    )


def _own_cadence() -> Column:
    """Return seconds from one run that has the edge to the next."""
    span = seconds_column(F.col("first_seen_at"), F.col("last_seen_at"))
    return F.when(F.col("runs") >= MIN_RUNS, span / (F.col("runs") - 1))


def _own_limit() -> Column:
    """Return the limit of the dataset's writes, longer by as much as the edge is rarer."""
    rarer = F.greatest(F.lit(1.0), _own_cadence() / F.col("cadence_seconds"))
    learned = F.col("limit_seconds") * F.coalesce(rarer, F.lit(1.0))
    return F.when(
        F.col("is_declared"), F.coalesce("limit_seconds", F.lit(_DECLARED_LIMIT_SECONDS))
    ).otherwise(learned)


def _is_expected() -> Column:
    unseen_seconds = seconds_column(F.col("last_seen_at"), F.col("as_of"))
    by_cadence = _own_cadence() <= OFTEN * F.col("cadence_seconds")
    is_often = F.coalesce(by_cadence, OFTEN * F.col("runs") >= F.col("writes"), F.lit(False))
    patience = F.greatest(F.lit(ACTIVE_SECONDS), _FORGOTTEN_AFTER_CYCLES * _own_cadence())
    is_learned = (F.col("runs") >= MIN_RUNS) & is_often & (unseen_seconds <= patience)
    is_unreported = F.coalesce(F.col("last_reported_at") < F.col("last_seen_at"), F.lit(True))
    is_shown = is_unreported & (F.col("runs") > 0)
    is_recent = unseen_seconds <= F.greatest(F.lit(ACTIVE_SECONDS), 2 * F.col("cadence_seconds"))
    return F.col("is_declared") | is_learned | (is_shown & is_recent)


def _missed() -> Column:
    """Return the first defect that holds; null for an edge that is reported as expected."""
    reported = F.col("last_reported_at")
    age = seconds_column(F.coalesce(reported, "first_seen_at"), F.col("as_of"))
    is_waited_for = F.col("is_declared") & (F.col("runs") == 0) & (age <= F.col("own_limit"))
    # Without a limit, the newest write must have it.
    behind = seconds_column(reported, F.col("written_at")) > _SAME_WRITE_SECONDS
    is_aged = F.when(F.col("own_limit").isNull(), behind).otherwise(age > F.col("own_limit"))
    return (
        F.when(is_waited_for, F.lit(None))
        .when(reported.isNull(), NEVER_REPORTED)
        .when(F.col("last_seen_at") > reported, UNREPORTED_SINCE)
        .when(F.coalesce(is_aged, F.lit(False)), AGED)
    )


def _excused(judged: DataFrame, gaps: DataFrame) -> DataFrame:
    """Add `is_unknown`: what it lacks may be among events that Lineward lost or has not landed.

    Its limit passed meanwhile, or the run that evidence has of it ended then.
    """
    spans = gaps.agg(F.collect_list(F.struct("started_at", "ended_at")).alias("our_gaps"))
    is_unknown = F.when(F.col("missed") == AGED, F.exists("our_gaps", _swallowed)).when(
        F.col("missed").isNotNull() & (F.col("runs") > 0), F.exists("our_gaps", _ended_in)
    )
    return (
        judged.crossJoin(F.broadcast(spans))
        .select("*", F.coalesce(is_unknown, F.lit(False)).alias("is_unknown"))
        .drop("our_gaps")
    )


def _swallowed(gap: Column) -> Column:
    """Return whether it may have been reported in the gap: in the second half of its limit."""
    due_at = plus_seconds(F.col("last_reported_at"), F.col("own_limit"))
    from_at = plus_seconds(F.col("last_reported_at"), F.col("own_limit") / 2)
    return (gap["started_at"] <= due_at) & (gap["ended_at"].isNull() | (gap["ended_at"] >= from_at))


def _ended_in(gap: Column) -> Column:
    seen_at = F.col("last_seen_at")
    return (gap["started_at"] <= seen_at) & (
        gap["ended_at"].isNull() | (gap["ended_at"] >= seen_at)
    )


def edge_tally(judged: DataFrame) -> DataFrame:
    """Count the edges that were reported, of those expected, at each instant.

    Args:
        judged: `completeness.schemas.EDGES_JUDGED`.

    Returns:
        `sli_schemas.TALLIES`; nothing expected, no row.
    """
    zero = F.lit(0).cast("bigint")
    return (
        judged.groupBy("as_of", "tier", "tier_origin")
        .agg(
            F.count_if(F.col("missed").isNull()).alias("good"),
            F.count_if(~F.col("is_unknown")).alias("total"),
            F.count_if(F.col("is_unknown")).alias("unknown"),
        )
        .select(
            *("as_of", F.lit(EDGE_COMPLETENESS.id).alias("sli"), "tier", "tier_origin"),
            *("good", "total", "unknown"),
            *(zero.alias(name) for name in ("learning", "excepted")),
        )
    )


def edge_states(judged: DataFrame, names: DataFrame) -> DataFrame:
    """Return bad for datasets without an expected edge; others have no state of this SLI.

    Args:
        judged: `completeness.schemas.EDGES_JUDGED`.
        names: `completeness.schemas.NAMES`, of the upstream datasets.

    Returns:
        `sli_schemas.STATES`, one row for each such dataset: its first missing edge by name, stale
        ones last, and how many more there are.
    """
    missing = judged.where("missed IS NOT NULL AND NOT is_unknown").join(
        names.withColumnRenamed("dataset_key", "upstream_key"), "upstream_key"
    )
    of_dataset = Window.partitionBy("as_of", "downstream_key")
    is_stale = F.col("missed") == AGED
    first = missing.select(
        "*",
        F.row_number().over(of_dataset.orderBy(is_stale, *_NAMED)).alias("place"),
        F.count("*").over(of_dataset).alias("missing"),
    ).where("place = 1")
    null = F.lit(None)
    return first.select(
        *("as_of", F.col("downstream_key").alias("dataset_key")),
        *(F.lit(EDGE_COMPLETENESS.id).alias("sli"), F.lit(BAD).alias("state")),
        F.when(is_stale, "edge_stale").otherwise("edge_missing").alias("reason"),
        _evidence().alias("evidence"),
        *(null.cast("double").alias("age_seconds"), "limit_seconds"),
        null.cast("string").alias("limit_origin"),
    )


def _evidence() -> Column:
    edge = join_words("the edge from ", F.col("namespace"), " ", F.col("name"))
    by_job = F.when(F.col("job_name").isNull(), F.lit("")).otherwise(
        join_words(" by job ", F.col("job_name"))
    )
    reported = join_words("was last reported ", instant_column(F.col("last_reported_at")))
    limit = F.when(F.col("limit_seconds").isNull(), F.lit("")).otherwise(
        join_words("; its limit is ", duration_text(F.col("limit_seconds")))
    )
    since = join_words(reported, "; evidence has it ", instant_column(F.col("last_seen_at")))
    never = F.when(F.col("runs") == 0, F.lit("is declared, and was never reported")).otherwise(
        join_words("is known from evidence alone, last of ", instant_column(F.col("last_seen_at")))
    )
    how = (
        F.when(F.col("missed") == NEVER_REPORTED, never)
        .when(F.col("missed") == UNREPORTED_SINCE, since)
        .otherwise(join_words(reported, limit))
    )
    more = F.when(
        F.col("missing") > 1,
        join_words("; so are ", (F.col("missing") - 1).cast("string"), " more"),
    ).otherwise(F.lit(""))
    return join_words(edge, by_job, " ", how, more)

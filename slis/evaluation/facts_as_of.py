"""Knowledge of each dataset at each instant: a fold of facts in the order that they landed."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

# The fields of ACTIVITY that a larger fact replaces. `max` of a struct compares field by field, the
# time first: a tie is decided by the run id, the same in every order of arrival.
_FACTS = ("write", "read_at", "failed", "started_at")


def seconds_column(start: Column, end: Column) -> Column:
    """Return the seconds from one time to the other, to the microsecond."""
    return (F.unix_micros(end) - F.unix_micros(start)) / 1e6


def plus_seconds(instant: Column, seconds: Column) -> Column:
    """Return the instant that many seconds later."""
    return F.timestamp_micros(F.unix_micros(instant) + (seconds * 1e6).cast("bigint"))


def visible_at(time: Column, landed_at: Column) -> Column:
    """Return when a fact could first be known: neither before it landed nor before it was."""
    return F.greatest(time, landed_at)


def is_running() -> Column:
    """Return whether a run started after the newest write and has not reported since."""
    has_failed = F.coalesce(F.col("failed.failed_at") >= F.col("started_at"), F.lit(False))
    return is_after_write("started_at") & ~has_failed


def is_after_write(time: str) -> Column:
    """Return whether the fact of this time exists and is newer than the newest write."""
    is_after = F.col("write").isNull() | (F.col(time) > F.col("write.written_at"))
    return F.col(time).isNotNull() & is_after


def activity(writes: DataFrame, reads: DataFrame | None = None) -> DataFrame:
    """Return each write and read as a fact of its own, for instants in the past.

    Args:
        writes: `sli_schemas.WRITES`, without backfills, which make nothing fresh.
        reads: `sli_schemas.READS`.

    Returns:
        `sli_schemas.ACTIVITY`, one row per write and read. Writes of history loads are in it: they
        teach, and a dataset is as old as its newest write, whatever reported it.
    """
    fields = (
        "root_run_id",
        "job_namespace",
        "job_name",
        "names_input",
        "is_reported",
        "is_streaming",
    )
    written = writes.select(
        "dataset_key",
        visible_at(F.col("written_at"), F.col("landed_at")).alias("visible_at"),
        F.struct("written_at", *fields).alias("write"),
    )
    if reads is None:
        return written.select("*", *_absent("read_at", "failed", "started_at"))
    seen = reads.select(
        "dataset_key",
        visible_at(F.col("read_at"), F.col("landed_at")).alias("visible_at"),
        "read_at",
    )
    both = written.unionByName(seen, allowMissingColumns=True)
    return both.select("*", *_absent("failed", "started_at"))


def _absent(*names: str) -> list[Column]:
    kinds = {"failed": "struct<failed_at: timestamp, run_id: string, message: string>"}
    return [F.lit(None).cast(kinds.get(name, "timestamp")).alias(name) for name in names]


def facts_as_of(facts: DataFrame, datasets: DataFrame, instants: DataFrame) -> DataFrame:
    """Return one row per (instant, dataset first seen by then), with the newest facts known then.

    A window folds each dataset's facts into versions, each valid until the next: only versions that
    an instant falls into meet the instants, so that the work is datasets x instants, whatever the
    number of facts. Its fields go into the window too, as what is known from the
    day on that it was first seen: no join, and one shuffle for all.

    Args:
        facts: `sli_schemas.ACTIVITY`.
        datasets: `sli_schemas.DATASETS`.
        instants: `sli_schemas.INSTANTS`.

    Returns:
        `sli_schemas.KNOWN`. Facts of datasets that are not in `datasets` are left out.
    """
    fields = F.struct(*(name for name in datasets.columns if name != "dataset_key")).alias("fields")
    begun = datasets.select("dataset_key", F.col("first_seen_at").alias("visible_at"), fields)
    span = F.broadcast(instants.agg(F.min("as_of").alias("first"), F.max("as_of").alias("last")))
    superseded_at = F.col("superseded_at")
    versions = _versions(facts.unionByName(begun, allowMissingColumns=True)).join(
        span,
        (F.col("visible_at") <= F.col("last"))
        & (superseded_at.isNull() | (superseded_at > F.col("first"))),
    )
    is_current = (F.col("visible_at") <= F.col("as_of")) & (
        superseded_at.isNull() | (superseded_at > F.col("as_of"))
    )
    # A fact may be older than the first event of its dataset: until then it has no row.
    is_seen = F.col("fields.first_seen_at") <= F.col("as_of")
    at_instants = versions.join(F.broadcast(instants), is_current & is_seen)
    return at_instants.select("as_of", "dataset_key", "fields.*", *_FACTS)


def _versions(facts: DataFrame) -> DataFrame:
    """Return what was known from `visible_at` until `superseded_at`, one row per landing."""
    by_landing = Window.partitionBy("dataset_key").orderBy("visible_at")
    # RANGE, the default frame: facts that landed at one instant are known together.
    newest = [F.max(name).over(by_landing).alias(name) for name in _FACTS]
    whole = by_landing.rangeBetween(Window.unboundedPreceding, Window.unboundedFollowing)
    fields = F.first("fields", ignorenulls=True).over(whole).alias("fields")
    superseded = F.lead("visible_at").over(by_landing).alias("superseded_at")
    versions = facts.select("dataset_key", "visible_at", *newest, fields, superseded)
    # Of those known together all but the last are superseded at once.
    return versions.where(
        F.col("fields").isNotNull()
        & (F.col("superseded_at").isNull() | (F.col("superseded_at") > F.col("visible_at")))
    )

"""M5 missing provenance: was what a run read ever known to be written?"""

from datetime import datetime

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from lineage.states import BAD, GOOD, UNKNOWN
from slis.evaluation.facts_as_of import visible_at

# A read's own upstream may report its write a little later.
SETTLING_MINUTES = 15


def due_at(read_at: Column, landed_at: Column) -> Column:
    """Return when a read counts: 15 minutes after its event time, or when it landed if later."""
    return F.greatest(read_at + F.expr(f"INTERVAL {SETTLING_MINUTES} MINUTES"), landed_at)


def judge_reads(
    reads: DataFrame,
    writes: DataFrame,
    datasets: DataFrame,
    instants: DataFrame,
    *,
    horizon: datetime | None,
) -> DataFrame:
    """Judge each read that is due by an instant once: at the first instant that it is due by.

    Args:
        reads: `sli_schemas.READS`, those not counted before the first instant. Reads of history
            loads are left out: they teach and never count.
        writes: `sli_schemas.WRITES`, from any side; of each dataset the first would do.
        datasets: `sli_schemas.DATASETS`, or `DATASET_TIERS`. A read of another dataset has no row.
        instants: `sli_schemas.INSTANTS`.
        horizon: from when on lineage was watched, or was loaded as history: an earlier read is
            unknown. None: ever since.

    Returns:
        `sli_schemas.READ_OUTCOMES`.
    """
    described = datasets.select("dataset_key", "tier", "tier_origin", "is_source")
    judged = _with_first_write(_counted(reads, instants), writes).join(described, "dataset_key")
    is_early = F.lit(False) if horizon is None else F.col("read_at") < F.lit(horizon)
    has_origin = F.col("is_source") | F.coalesce(
        F.col("first_written_at") < F.col("read_at"),
        F.lit(False),
    )
    outcome = F.when(has_origin, GOOD).when(is_early, UNKNOWN).otherwise(BAD)
    return judged.select(
        *("as_of", "dataset_key", "root_run_id", "bucket", "read_at", "tier", "tier_origin"),
        outcome.alias("outcome"),
    )


def _counted(reads: DataFrame, instants: DataFrame) -> DataFrame:
    """Return `reads` with the instant that counts each, without those not due by the last one."""
    previous = F.lag("as_of").over(Window.orderBy("as_of")).alias("previous_as_of")
    intervals = F.broadcast(instants.select("as_of", previous))
    due = due_at(F.col("read_at"), F.col("landed_at"))
    is_first = F.col("previous_as_of").isNull() | (due > F.col("previous_as_of"))
    live = reads.where(~F.col("is_history"))
    return live.join(intervals, (due <= F.col("as_of")) & is_first).drop("previous_as_of")


def _with_first_write(counted: DataFrame, writes: DataFrame) -> DataFrame:
    """Return `counted` with `first_written_at`, as known when the read was counted.

    Reads and writes go in one sequence per dataset, by when they counted or were known: the first
    write known so far is a running minimum, and no read ever meets each write.
    """
    known = visible_at(F.col("written_at"), F.col("landed_at"))
    events = counted.select("*", F.col("as_of").alias("at")).unionByName(
        writes.select("dataset_key", "written_at", known.alias("at")), allowMissingColumns=True
    )
    so_far = Window.partitionBy("dataset_key").orderBy("at")
    first = events.select("*", F.min("written_at").over(so_far).alias("first_written_at"))
    return first.where(F.col("as_of").isNotNull()).drop("at", "written_at")

"""Frames of the SLIs, as declared schemas: what each function takes and gives.

Instants are `timestamp` (UTC). `as_of` is the instant that a row is judged at; a frame of instants
has one row in production and 1,440 for a simulated day.
"""

from pyspark.sql import Column
from pyspark.sql import functions as F

INSTANTS = "as_of timestamp"

# What was learned of a dataset's activity, a row per fact; only the columns that the fact speaks of
# are filled. The catalog's one row a dataset is such a row too, with all of them filled.
WRITE = """
    struct<written_at: timestamp, root_run_id: string, job_namespace: string, job_name: string,
        names_input: boolean, is_reported: boolean, is_streaming: boolean>
"""
ACTIVITY = f"""
    dataset_key bigint, visible_at timestamp, write {WRITE}, read_at timestamp,
    failed struct<failed_at: timestamp, run_id: string, message: string>,
    started_at timestamp
"""

# What the policy says of a dataset and what was learned of it; `limit_*` and durations in seconds.
# `job_seen_at`: the last start that evidence has of the job that wrote it; null: it has none.
# `logs_read_at`: up to when all event logs were read, of every job; null: they never were.
# `created_at`: when a run created what no run has read or written since; null of all else.
# `app_*`: of the last SparkApplication of the job that should write it, as Kubernetes has it.
# `app_checked_at`: up to when no newer one came; null: that is not known, or it is running.
DATASETS = """
    dataset_key bigint, namespace string, name string, first_seen_at timestamp,
    tier string, tier_origin string, is_source boolean, is_generated boolean, is_streaming boolean,
    is_declared boolean, is_expected boolean, declared_limit_seconds double,
    learned_limit_seconds double, cadence_seconds double, cadence_class string,
    duration_seconds double, gaps int, job_seen_at timestamp, logs_read_at timestamp, plan string,
    created_at timestamp,
    app_seen_at timestamp, app_summary string, app_lacks_listener boolean, app_checked_at timestamp
"""
# The columns of it that reads are judged by.
DATASET_TIERS = "dataset_key bigint, tier string, tier_origin string, is_source boolean"
# Time that does not count for datasets of a plan: in microseconds, apart and in order.
PAUSE_SPANS = "array<struct<started: bigint, ended: bigint>>"
PAUSES = f"plan string, pauses {PAUSE_SPANS}"

# One row per (instant, dataset that had been seen by then): both of the above, as known then.
KNOWN = f"""
    as_of timestamp, {DATASETS.strip()}, write {WRITE}, read_at timestamp,
    failed struct<failed_at: timestamp, run_id: string, message: string>,
    started_at timestamp
"""

# When facts may be missing through our own fault. `kind`: ingestion (the collector was silent) or
# pipeline (events received since `started_at` had not landed). `ended_at` null: it lasts.
GAPS = "kind string, started_at timestamp, ended_at timestamp"

EDGES = "upstream_key bigint, downstream_key bigint"

# `defect`: what a dataset lacks whose state is not good; the reason says why it lacks it. It holds
# since `bad_since`; a write since `due_from` would have averted it, and its next cycle ends at
# `next_cycle_at`. `limit_origin`: declared | streaming | learned.
_JUDGEMENT_FIELDS = {
    "sli": "string",
    "state": "string",
    "defect": "string",
    "due_from": "timestamp",
    "bad_since": "timestamp",
    "next_cycle_at": "timestamp",
    "is_idle": "boolean",
    "age_seconds": "double",
    "limit_seconds": "double",
    "limit_origin": "string",
}
JUDGEMENT = f"struct<{', '.join(f'{name}: {kind}' for name, kind in _JUDGEMENT_FIELDS.items())}>"
JUDGED = f"{KNOWN.strip()}, judgement {JUDGEMENT}, excuse string"
STATES = """
    as_of timestamp, dataset_key bigint, sli string, state string, reason string, evidence string,
    age_seconds double, limit_seconds double, limit_origin string
"""

# Reads without a known source, by dataset and job.
UNSOURCED_READS = """
    dataset_key bigint, job_namespace string, job_name string, reads bigint, last_read_at timestamp
"""

# One row per (instant, tier): dataset or event counts. `excepted`: sources, or history loads.
TALLIES = """
    as_of timestamp, sli string, tier string, tier_origin string, good bigint, total bigint,
    unknown bigint, learning bigint, excepted bigint
"""

WRITES = """
    dataset_key bigint, root_run_id string, job_namespace string, job_name string,
    written_at timestamp, landed_at timestamp, nominal_start_at timestamp, partition string,
    names_input boolean, is_reported boolean, is_streaming boolean, is_history boolean
"""
READS = """
    dataset_key bigint, root_run_id string, bucket bigint, read_at timestamp, landed_at timestamp,
    is_reported boolean, is_history boolean
"""
# When a run that was to write the dataset failed.
FAILURES = "dataset_key bigint, failed_at timestamp"
# A read, judged once: `as_of` is the instant that counts it, `outcome` good | bad | unknown.
READ_OUTCOMES = """
    as_of timestamp, dataset_key bigint, root_run_id string, bucket bigint, read_at timestamp,
    tier string, tier_origin string, outcome string
"""

EVENTS = """
    event_time timestamp, landed_at timestamp, is_streaming boolean, is_history boolean,
    is_skewed boolean
"""
# One row per (instant that counts the events, their hour, processing). `lags` holds, per bound of
# `lag.BOUNDS_SECONDS`, the events at or under it.
LAGS = """
    as_of timestamp, hour timestamp, processing string, good bigint, total bigint, history bigint,
    skewed bigint, lag_seconds double, lags array<bigint>
"""

# What a dataset lacks.
NEVER_WRITTEN = "never_written"
NO_WRITE = "no_write"
UNREPORTED_WRITE = "unreported_write"
NO_INPUTS = "no_inputs"
OVERDUE = "overdue"


def judgement(**values: Column) -> Column:
    """Return `sli_schemas.JUDGEMENT` from the fields that are given; the others are null."""
    return F.struct(
        *(
            values.get(name, F.lit(None)).cast(kind).alias(name)
            for name, kind in _JUDGEMENT_FIELDS.items()
        )
    )

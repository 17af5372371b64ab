"""What is wrong with an event that could not be read, or not whole."""

from functools import reduce
from operator import or_

from pyspark.sql import Column
from pyspark.sql import functions as F

from lineage.clock import EVENT_TIMES

CORE_UNREADABLE = "core_unreadable"
PARTLY_UNREADABLE = "partly_unreadable"
NOMINAL_TIME = "run.facets.nominalTime.nominalStartTime"
_SHOWN_CHARACTERS = 80


def _faults() -> dict[str, Column]:
    """What makes an event of no use, by the path that is at fault."""
    kind, run, job, dataset = (
        F.col(name) for name in ("kind", "event.run", "event.job", "event.dataset")
    )
    return {
        "eventTime": F.col("reported_time").isNull(),
        "run.runId": (kind == "run") & run["runId"].isNull(),
        "job": (kind != "dataset") & (job["name"].isNull() | job["namespace"].isNull()),
        "dataset": (kind == "dataset") & (dataset["name"].isNull() | dataset["namespace"].isNull()),
    }


def _ignored() -> dict[str, Column]:
    """Parts of an event that are left out, by their path, and why; null where they are not."""
    nominal = F.col(f"event.{NOMINAL_TIME}")
    is_ignored = F.col("nominal_time").isNotNull() & F.col("nominal_start_at").isNull()
    outside = F.concat(F.lit(f"{NOMINAL_TIME}: {EVENT_TIMES}, got "), _shown(nominal))
    return {NOMINAL_TIME: F.when(is_ignored, outside)}


def _shown(text: Column) -> Column:
    return F.coalesce(F.substring(text, 1, _SHOWN_CHARACTERS), F.lit("nothing"))


def problem() -> Column:
    """Whether all of the event is of no use, or a part of it; null where all could be read."""
    # A loop of `|` over the faults, so that a new one cannot be forgotten here.
    unreadable = reduce(or_, _faults().values())
    partly = F.coalesce("event._corrupt_record", *_ignored().values()).isNotNull()
    return F.when(unreadable, F.lit(CORE_UNREADABLE)).when(partly, F.lit(PARTLY_UNREADABLE))


def detail() -> Column:
    """What is wrong, and where in the event."""
    faults = _faults()
    expected = F.lit(f"eventTime: {EVENT_TIMES} in ISO 8601, got ")
    told = F.when(faults.pop("eventTime"), F.concat(expected, _shown(F.col("event.eventTime"))))
    for path, holds in faults.items():
        told = told.when(
            holds, F.lit(f"{path}: missing, or not of the type that the specification says")
        )
    told = told.when(
        F.col("event._corrupt_record").isNotNull(),
        F.lit(
            "a field has another type than the specification says; the rest of the event was taken"
        ),
    )
    return told.otherwise(F.coalesce(*_ignored().values()))

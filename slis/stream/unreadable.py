"""What is wrong with an event that could not be read, or not whole."""

from functools import reduce
from operator import or_

from pyspark.sql import Column
from pyspark.sql import functions as F

CORE_UNREADABLE = "core_unreadable"
PARTLY_UNREADABLE = "partly_unreadable"
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


def problem() -> Column:
    """Whether all of the event is of no use, or a part of it; null where all could be read."""
    # A loop of `|` over the faults, so that a new one cannot be forgotten here.
    unreadable = reduce(or_, _faults().values())
    return F.when(unreadable, F.lit(CORE_UNREADABLE)).when(
        F.col("event._corrupt_record").isNotNull(), F.lit(PARTLY_UNREADABLE)
    )


def detail() -> Column:
    """What is wrong, and where in the event."""
    shown = F.coalesce(
        F.substring(F.col("event.eventTime"), 1, _SHOWN_CHARACTERS), F.lit("nothing")
    )
    faults = _faults()
    told = F.when(
        faults.pop("eventTime"),
        F.concat(F.lit("eventTime: expected an ISO 8601 instant, got "), shown),
    )
    for path, holds in faults.items():
        told = told.when(
            holds, F.lit(f"{path}: missing, or not of the type that the specification says")
        )
    return told.when(
        F.col("event._corrupt_record").isNotNull(),
        F.lit(
            "a field has another type than the specification says; the rest of the event was taken"
        ),
    )

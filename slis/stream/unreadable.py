"""What is wrong with an event that could not be read, or not whole."""

from functools import reduce
from operator import or_

from pyspark.sql import Column
from pyspark.sql import functions as F

from lineage.clock import EVENT_TIMES
from slis.stream.event_times import instant
from slis.stream.wide import MOST_EDGES, is_wide, sizes

CORE_UNREADABLE = "core_unreadable"
PARTLY_UNREADABLE = "partly_unreadable"
_NOMINAL_TIME = "run.facets.nominalTime"
NOMINAL_START, NOMINAL_END = (f"{_NOMINAL_TIME}.nominal{end}Time" for end in ("Start", "End"))
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
    return {
        **{path: _no_instant(path) for path in (NOMINAL_START, NOMINAL_END)},
        "outputs": F.when(is_wide(*sizes()), _too_wide()),
    }


def _no_instant(path: str) -> Column:
    given = F.col(f"event.{path}")
    is_ignored = (F.trim(given) != "") & instant(given).isNull()
    return F.when(is_ignored, F.concat(F.lit(f"{path}: {EVENT_TIMES}, got "), _shown(given)))


def _too_wide() -> Column:
    inputs, outputs = sizes()
    return F.concat(
        *(F.lit("outputs: "), outputs, F.lit(" of "), inputs, F.lit(" inputs would be more than ")),
        F.lit(f"{MOST_EDGES} edges: reads and writes were taken, no edge was"),
    )


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

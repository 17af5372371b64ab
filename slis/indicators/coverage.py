"""M1 coverage: is the origin of each dataset known, from its own events?"""

from functools import cache

from pyspark.sql import Column
from pyspark.sql import functions as F

from lineage.states import BAD, COVERAGE, GOOD, LEARNING
from slis.evaluation.facts_as_of import is_running, plus_seconds
from slis.evaluation.sli_schemas import (
    NEVER_WRITTEN,
    NO_INPUTS,
    NO_WRITE,
    UNREPORTED_WRITE,
    judgement,
)

ACTIVE_SECONDS = 7 * 86_400.0
_CADENCES = 2
_DAY_SECONDS = 86_400.0
_ACTIVITY = ("write.written_at", "read_at", "failed.failed_at", "started_at", "created_at")


@cache
def coverage_judgement() -> Column:
    """Return M1 of a row of `sli_schemas.KNOWN`: a JUDGEMENT, null when it is not in the total."""
    defect = _defect()
    written_at = F.col("write.written_at")
    bad_since = (
        F.when(defect == NEVER_WRITTEN, F.col("first_seen_at"))
        .when(defect == NO_WRITE, plus_seconds(written_at, window_seconds()))
        .otherwise(written_at)
    )
    judged = judgement(
        sli=F.lit(COVERAGE.id),
        state=F.when(_is_begun(), LEARNING).when(defect.isNull(), GOOD).otherwise(BAD),
        defect=defect,
        due_from=F.when(defect.isNotNull(), bad_since),
        bad_since=F.when(defect.isNotNull(), bad_since),
        next_cycle_at=F.when(
            defect.isNotNull(),
            plus_seconds(bad_since, F.coalesce("cadence_seconds", F.lit(_DAY_SECONDS))),
        ),
    )
    return F.when(_is_in_total(), judged)


def coverage_changes() -> list[Column]:
    """Return the times at which M1 of a row of `sli_schemas.KNOWN` may change without a fact."""
    return [
        plus_seconds(F.greatest(*_ACTIVITY), window_seconds()),
        plus_seconds(F.col("write.written_at"), window_seconds()),
        plus_seconds(F.col("first_seen_at"), F.lit(_DAY_SECONDS)),
    ]


def window_seconds() -> Column:
    """Return how far back a dataset counts as active: 7 days, or two cadences if longer."""
    return F.greatest(F.lit(ACTIVE_SECONDS), _CADENCES * F.col("cadence_seconds"))


def _window_start() -> Column:
    return plus_seconds(F.col("as_of"), -window_seconds())


def _is_in_total() -> Column:
    last_active_at = F.greatest(*_ACTIVITY)
    # What the policy declares by name is expected for as long as the policy says so.
    is_active = F.col("is_declared") | F.coalesce(last_active_at >= _window_start(), F.lit(False))
    return F.col("is_expected") & ~F.col("is_source") & is_active


def _is_begun() -> Column:
    """Return whether the first run goes on or only created the dataset, for less than a day."""
    is_new = F.col("first_seen_at") > plus_seconds(F.col("as_of"), F.lit(-_DAY_SECONDS))
    is_created = F.col("created_at").isNotNull() & F.col("failed").isNull()
    return F.col("write").isNull() & is_new & (is_running() | is_created)


def _defect() -> Column:
    """Return the first defect that holds; null for a dataset without one, or that may have it."""
    return (
        F.when(_is_begun(), F.lit(None))
        .when(F.col("write").isNull(), NEVER_WRITTEN)
        .when(F.col("write.written_at") < _window_start(), NO_WRITE)
        .when(~F.col("write.is_reported"), UNREPORTED_WRITE)
        .when(~F.col("write.names_input") & ~F.col("is_generated"), NO_INPUTS)
    )

"""Next change of a judgement: when its state or reason may be another without a new fact."""

from functools import cache

from pyspark.sql import Column
from pyspark.sql import functions as F

from slis.evaluation.reasons import reason_changes
from slis.indicators.coverage import coverage_changes


@cache
def next_change() -> Column:
    """Return the earliest such time of a row of `datasets_judged`, at or after its `as_of`.

    A time equal to `as_of` counts: a limit that ends now is passed a moment later. Null where
    only facts change the judgement.
    """
    as_of = F.col("as_of")
    newest = F.greatest("write.written_at", "read_at", "started_at")
    times = (
        *coverage_changes(),
        *reason_changes(),
        F.col("judgement.bad_since"),  # of M2 the deadline, also while it is good
        F.col("excused_until"),
        F.when(newest >= as_of, as_of),  # a clock ahead: it is of now until now has passed it
    )
    return F.least(*(F.when(time >= as_of, time) for time in times))

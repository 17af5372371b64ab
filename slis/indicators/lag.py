"""M6 ingestion lag: how long after it happened did an event stand in the catalog?"""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from slis.evaluation.facts_as_of import seconds_column

_STREAMING_GOOD_SECONDS = 30.0
_BATCH_GOOD_SECONDS = 300.0
# Both limits are bounds, so that a histogram counts exactly what is good.
BOUNDS_SECONDS = (0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 900.0, 3_600.0, 86_400.0)
STREAMING, BATCH = "streaming", "batch"


def count_lag(events: DataFrame, instants: DataFrame) -> DataFrame:
    """Count events that had landed by an instant, each at the first such instant.

    Args:
        events: `sli_schemas.EVENTS`, those not counted before the first instant. A clock over
            5 minutes ahead was clamped when the event was parsed: how late it came is unknown.
        instants: `sli_schemas.INSTANTS`.

    Returns:
        `sli_schemas.LAGS`, per hour of event time. History loads are counted apart: in `history`,
        and in nothing else. So are events of a skewed clock, in `skewed`.
    """
    previous = F.lag("as_of").over(Window.orderBy("as_of")).alias("previous_as_of")
    intervals = F.broadcast(instants.select("as_of", previous))
    is_first = F.col("previous_as_of").isNull() | (F.col("landed_at") > F.col("previous_as_of"))
    counted = events.join(intervals, (F.col("landed_at") <= F.col("as_of")) & is_first)
    # A clock that runs ahead by less than what is clamped gives no negative lag either.
    seconds = F.greatest(F.lit(0.0), seconds_column(F.col("event_time"), F.col("landed_at")))
    measured = counted.select(
        *("as_of", "is_history", "is_skewed"),
        F.date_trunc("hour", "event_time").alias("hour"),
        F.when(F.col("is_streaming"), STREAMING).otherwise(BATCH).alias("processing"),
        seconds.alias("seconds"),
    )
    return measured.groupBy("as_of", "hour", "processing").agg(*_figures())


def _figures() -> list[Column]:
    is_live, is_skewed = ~F.col("is_history"), F.col("is_skewed")
    is_measured = is_live & ~is_skewed
    seconds = F.col("seconds")
    limit = F.when(F.col("processing") == STREAMING, _STREAMING_GOOD_SECONDS).otherwise(
        _BATCH_GOOD_SECONDS
    )
    lags = F.array(*(F.count_if(is_measured & (seconds <= bound)) for bound in BOUNDS_SECONDS))
    return [
        F.count_if(is_measured & (seconds <= limit)).alias("good"),
        F.count_if(is_measured).alias("total"),
        F.count_if("is_history").alias("history"),
        F.count_if(is_live & is_skewed).alias("skewed"),
        F.coalesce(F.sum(F.when(is_measured, seconds)), F.lit(0.0)).alias("lag_seconds"),
        lags.alias("lags"),
    ]

"""M6: delay until facts are in the catalog."""

from datetime import timedelta

from slis.indicators.lag import BOUNDS_SECONDS, count_lag
from tests.slis.sli_frames import day, events, instants, naive


def test_each_event_counts_once_against_the_limit_of_its_kind(spark):
    """Allow 30 s for streams and 5 min for batch.

    History counts apart. The lag of an event of a clock ahead is unknown.
    """

    def arrived(seconds, hour=9, **row):  # noqa: ANN003
        happened = day(1, hour)
        return {"event_time": happened, "landed_at": happened + timedelta(seconds=seconds), **row}

    frame = events(
        spark,
        arrived(20),
        arrived(300),
        arrived(301),
        arrived(-2, is_skewed=True),
        arrived(9_000, is_history=True),
        arrived(30, is_streaming=True),
        arrived(31, is_streaming=True),
        arrived(3_600, hour=8),
        arrived(7_200, hour=9),
    )

    counted = count_lag(frame, instants(spark, day(1, 10), day(1, 11, 30)))

    names = ("as_of", "hour", "processing", "good", "total", "history", "skewed", "lag_seconds")
    assert {tuple(row) for row in counted.select(*names).collect()} == {
        (naive(day(1, 10)), naive(day(1, 9)), "batch", 2, 3, 0, 1, 621.0),
        (naive(day(1, 10)), naive(day(1, 9)), "streaming", 1, 2, 0, 0, 61.0),
        (naive(day(1, 10)), naive(day(1, 8)), "batch", 0, 1, 0, 0, 3_600.0),
        (naive(day(1, 11, 30)), naive(day(1, 9)), "batch", 0, 1, 1, 0, 7_200.0),
    }
    [streaming] = counted.where("processing = 'streaming'").collect()
    assert dict(zip(BOUNDS_SECONDS, streaming.lags, strict=True)) == {
        **dict.fromkeys((0.5, 1.0, 2.5, 5.0, 10.0), 0),
        30.0: 1,
        **dict.fromkeys((60.0, 120.0, 300.0, 900.0, 3_600.0, 86_400.0), 2),
    }


def test_no_events_give_no_sample(spark):
    """Return no row: neither 100 % nor 0 %."""
    assert count_lag(events(spark), instants(spark, day(1))).collect() == []

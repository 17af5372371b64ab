"""Events that the driver holds are written without a job of Spark, as Spark would write them."""

from datetime import timedelta

import pyarrow as pa

from slis.lake.batches import select_raw, with_times
from slis.lake.files import cast_table
from slis.stream import facts
from slis.stream.parse import parse
from slis.stream.source import SPOOL_COLUMNS
from tests.slis.stream.spools import batch_rows, run_event


def test_the_driver_writes_what_spark_would(spark, at):
    """Compare every column: other days, an unreadable time, a clock ahead, no JSON at all."""
    events = [
        run_event("COMPLETE", at(8), run="r1", outputs=["t"]),
        run_event("COMPLETE", at(8) - timedelta(days=400), run="r2", outputs=["t"]),
        run_event("COMPLETE", at(8) + timedelta(days=9), run="r3", outputs=["t"]),
        run_event("COMPLETE", at(8), run="r4") | {"eventTime": "yesterday"},
        b"{",
    ]
    rows = batch_rows(events, at(12), after_seq=7, origin="http")
    held = pa.table([list(column) for column in zip(*rows, strict=True)], schema=SPOOL_COLUMNS)
    parsed = parse(spark.createDataFrame(held))

    by_spark = cast_table(select_raw(parsed).toArrow()).sort_by("seq")
    by_driver = with_times(held, facts.events(parsed).toArrow()).sort_by("seq")

    assert by_driver.to_pylist() == by_spark.to_pylist()
    assert by_driver.schema == by_spark.schema
    assert len(set(by_driver["event_date"].to_pylist())) == 2

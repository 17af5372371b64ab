"""Days under which the lake stores the events of a batch."""

from datetime import timedelta

from lineage.lake.reading import event_schema
from lineage.process.clock import from_micros
from slis.lake.batches import with_times
from slis.stream.facts import extract_from_table, times_of
from tests.slis.stream.spools import run_event, table


def test_each_event_is_under_the_day_of_its_time(at):
    """Take the day of arrival where its time is unreadable or ahead."""
    events = table(
        [
            run_event("COMPLETE", at(8), run="r1", outputs=["t"]),
            run_event("COMPLETE", at(8) - timedelta(days=400), run="r2", outputs=["t"]),
            run_event("COMPLETE", at(8) + timedelta(days=9), run="r3", outputs=["t"]),
            run_event("COMPLETE", at(8), run="r4") | {"eventTime": "yesterday"},
            b"{",
        ],
        at(12),
        after_seq=7,
    )

    found = with_times(events, times_of(extract_from_table(events)))

    today, long_ago = "2026-11-21", "2025-10-17"
    assert found.schema == event_schema()
    assert found["event_date"].to_pylist() == [today, long_ago, today, today, today]
    assert [each and each.hour for each in found["event_time"].to_pylist()] == [
        8,
        8,
        12,
        None,
        None,
    ]
    assert found["body"].to_pylist() == events["body"].to_pylist()
    assert found["seq"].to_pylist() == [8, 9, 10, 11, 12]
    received = from_micros(events["received_at"][0].as_py()).replace(tzinfo=None)
    assert {each.to_pydatetime() for each in found["received_at"].to_pylist()} == {received}

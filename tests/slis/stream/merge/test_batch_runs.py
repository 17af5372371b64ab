"""Lookup of the runs and events of a batch: once, before the merge."""

from datetime import timedelta

import pytest
from sqlalchemy import text
from sqlalchemy.event import listens_for

from lineage.catalog.engine import write_transaction
from lineage.process.clock import to_micros
from slis.stream.facts.facts import EventRow
from slis.stream.merge.merge import LogRange, merge
from tests.slis.stream.spools import rows
from tests.slis.stream.staged import merge_staged, staged_run

_EDGES = """
    SELECT u.name, d.name, e.runs FROM edge e
    JOIN dataset u ON u.dataset_key = e.upstream_key
    JOIN dataset d ON d.dataset_key = e.downstream_key ORDER BY 1, 2
"""


def test_a_known_run_has_what_its_earlier_events_name(catalog, at):
    """Name the input in the START alone, and the output in the COMPLETE alone, beside a new run."""
    merge_staged(
        catalog,
        [staged_run(at(8), kind="START", inputs=["in"])],
        [
            staged_run(at(9), outputs={"out": []}),
            staged_run(at(9), run="new", inputs=["a"], outputs={"b": []}),
        ],
    )

    assert rows(catalog, _EDGES) == [("a", "b", 1), ("in", "out", 1)]


def test_a_known_run_has_the_sources_that_its_output_names(catalog, at):
    """Name no input in the START, and the source of the output in the COMPLETE."""
    merge_staged(
        catalog,
        [staged_run(at(8), kind="START")],
        [staged_run(at(9), outputs={"out": ["source"]})],
    )

    assert rows(catalog, _EDGES) == [("source", "out", 1)]


_DATED = "019a0000-0000-7000-8000-000000000000"


@pytest.mark.parametrize("run", ["r1", _DATED])
@pytest.mark.parametrize("left", ["run", "run_io"])
def test_an_event_may_follow_deleted_rows(catalog, at, left, run):
    """Merge an event of a run of which one table has rows, and the other has none any more."""
    event = staged_run(at(8), run=run, inputs=["in"], outputs={"out": []})
    merge_staged(catalog, [event])
    with write_transaction(catalog) as connection:
        connection.execute(text(f"DELETE FROM {'run' if left == 'run_io' else 'run_io'}"))  # noqa: S608
    merge_staged(catalog, [event], merged=1)

    assert rows(catalog, "SELECT count(*) FROM run") == [(1,)]
    assert rows(catalog, "SELECT direction FROM run_io ORDER BY 1") == [("read",), ("write",)]
    assert rows(catalog, _EDGES) == [("in", "out", 1)]


@pytest.fixture
def merge_events(catalog, at):
    """Merge batches of events at these seconds; return the duplicates of each."""

    def merged(*batches: list[int]) -> list[int]:
        found = []
        for number, seconds in enumerate(batches):
            times = [to_micros(at(8) + timedelta(seconds=second)) for second in seconds]
            events = [
                EventRow(seq, "run", time, time, 0, 0, 0, None, None)
                for seq, time in enumerate(times)
            ]
            log_range = LogRange("spool", number, number, number + 1)
            staged = {"s_event": (EventRow._fields, events)}
            found.append(merge(catalog, log_range, staged, lambda: at(12)))
        return [landed.duplicates for landed in found]

    return merged


@pytest.mark.parametrize(
    ("second", "duplicates"),
    [
        ([4, 5], 0),
        ([3, 4, 5], 1),
        ([1, 3], 2),  # fewer than are stored of its time
        ([0, 9], 0),
        ([2, 2, 7, 8, 9], 2),
        ([7, 7, 8], 1),
    ],
)
def test_an_event_is_stored_once(catalog, merge_events, second, duplicates):
    """Find the stored events among those of the time of the batch, however many these are."""
    first = [1, 2, 3]

    assert merge_events(first, second) == [0, duplicates]
    assert rows(catalog, "SELECT count(*) FROM event") == [(len({*first, *second}),)]


@pytest.mark.parametrize("catalogs", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    ("second", "staged"), [([4, 5], 0), ([3, 4, 5], 0), ([1, 3], 1), ([7, 7, 8], 1)]
)
def test_events_of_a_batch_that_follows_are_not_staged(catalog, merge_events, second, staged):
    """Stage those that are folded into stored ones, or into each other."""
    inserted = []

    @listens_for(catalog, "before_cursor_execute")
    def _note(_connection, _cursor, statement, *_):  # noqa: ANN002
        inserted.append(statement.startswith("INSERT INTO s_event"))

    merge_events([1, 2, 3], second)

    assert inserted.count(True) == staged

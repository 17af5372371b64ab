"""Root runs that the catalog knew before a batch: their reads, writes and edges are stored."""

from datetime import datetime

import pytest
from sqlalchemy import text
from structlog.testing import capture_logs

from tests.slis.stream.staged import merge_staged, staged_run

_AT = datetime.fromisoformat("2026-11-21T11:00:00+00:00")
_FACTS = "dataset_read", "dataset_write", "edge_run"


def _id(day: str, number: int = 1) -> str:
    """Return a run id of version 7 that was made on this day."""
    made = int(datetime.fromisoformat(f"{day}T10:00:00+00:00").timestamp() * 1_000)
    return f"{made >> 16:08x}-{made & 0xFFFF:04x}-7000-8000-{number:012x}"


def _event(run: str, root: str) -> dict[str, object]:
    return staged_run(_AT, run=run, root=root, inputs=["in"], outputs={"out": ["in"]})


def _counts(catalog) -> dict[str, int]:
    with catalog.connect() as connection:
        counts = {
            table: connection.scalar(text(f"SELECT count(*) FROM {table}"))  # noqa: S608
            for table in _FACTS
        }
        counts["runs of the edge"] = connection.scalar(text("SELECT sum(runs) FROM edge"))
        counts["writes"] = connection.scalar(text("SELECT sum(writes) FROM dataset_activity"))
    return counts


_ONE = dict.fromkeys((*_FACTS, "runs of the edge", "writes"), 1)


@pytest.mark.parametrize(
    ("runs", "root"),
    [
        (("first", "second"), "root"),
        ((_id("2026-11-21"), _id("2026-11-21", 2)), _id("2026-11-21", 3)),
        ((_id("2026-09-15"), _id("2026-11-21")), _id("2026-09-15", 2)),
    ],
    ids=["without a time", "of one day", "of an old root run"],
)
def test_runs_of_one_root_run_in_two_batches_are_one_read_write_and_edge(catalog, runs, root):
    """Find by one look at the root run that these are stored."""
    with capture_logs() as logs:
        merge_staged(catalog, *([_event(run, root)] for run in runs))

    assert _counts(catalog) == _ONE
    assert [each for each in logs if each["event"] == "merge_repeated"] == []


@pytest.mark.parametrize("catalogs", ["postgresql"], indirect=True)
def test_a_root_run_with_runs_of_far_days_is_found_in_a_second_merge(catalog):
    """Look in the partitions of the batch first, and in all of them where that was wrong."""
    far = [[_event(_id(day), "root")] for day in ("2026-09-15", "2026-11-21")]
    with capture_logs() as logs:
        merge_staged(catalog, *far)

    assert _counts(catalog) == _ONE
    assert [each["event"] for each in logs] == ["merge_repeated"]


def test_writes_of_deleted_runs_of_a_root_run_are_found_in_a_second_merge(catalog):
    """Fold an event that comes after retention has deleted the runs, and kept a first write."""
    merge_staged(catalog, [_event("first", "root")])
    with catalog.begin() as connection:
        for table in ("run", "run_io"):
            connection.execute(text(f"DELETE FROM {table}"))  # noqa: S608
    with capture_logs() as logs:
        merge_staged(catalog, [_event("second", "root")], merged=1)

    assert _counts(catalog) == _ONE
    assert [each["event"] for each in logs] == ["merge_repeated"]


def test_a_root_that_only_an_earlier_event_of_the_run_names_is_known(catalog):
    """Count no read twice whose run names its parent in its START alone."""
    start = staged_run(_AT, run="r", root="root", parent="root", inputs=["in"], kind="START")
    end = staged_run(_AT, run="r", root="r", inputs=["in"], outputs={"out": ["in"]})
    merge_staged(catalog, [start], [end])

    assert _counts(catalog) == _ONE

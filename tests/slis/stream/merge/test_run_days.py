"""Days under which merges store runs: those of their ids, or 0 for a run that was stored so."""

import uuid

import pytest
from sqlalchemy import text

from lineage.catalog.engine import exclusive_transaction, write_transaction
from lineage.catalog.run_days import partition_runs
from lineage.process.clock import DAY_MICROS, to_micros
from tests.faults.comparing import contents, digests
from tests.lineage.catalog.partitioned import counts, undo_partitions_of_runs
from tests.slis.stream.spools import WRITES, rows
from tests.slis.stream.staged import merge_staged, staged_run

_RUNS = "SELECT run_id, day, completed_at FROM run ORDER BY 1"
_IO = """
    SELECT r.run_id, io.day, io.direction FROM run_io io JOIN run r ON r.run_key = io.run_key
    ORDER BY 1, 3
"""
_FAILURES = """
    SELECT d.name, a.last_failed_run_id FROM dataset_activity a
    JOIN dataset d ON d.dataset_key = a.dataset_key ORDER BY 1
"""
_EDGES = "SELECT root_run_id FROM edge_run ORDER BY 1"


def _id(at, number=0):
    """Return a UUID of version 7, made then."""
    milliseconds = to_micros(at) // 1_000
    return str(uuid.UUID(int=milliseconds << 80 | 7 << 76 | 0b10 << 62 | number))


def _day(at):
    return to_micros(at) // DAY_MICROS * DAY_MICROS


def _started(at, run):
    return staged_run(at, run=run, kind="START", inputs=["in"])


def _completed(at, run):
    return staged_run(at, run=run, outputs={"out": []})


def test_a_run_is_stored_under_the_day_of_its_id(catalog, at):
    """Store what it read and wrote under that day too; day 0 for an id without a time."""
    dated, late = _id(at(1)), at(60)
    merge_staged(catalog, [_started(at(2), dated), _started(at(2), "nightly")])
    merge_staged(catalog, [_completed(late, dated), _completed(late, "nightly")], merged=1)

    ended, day = to_micros(late), _day(at(1))
    assert rows(catalog, _RUNS) == [(dated, day, ended), ("nightly", 0, ended)]
    both = [(dated, day), ("nightly", 0)]
    assert rows(catalog, _IO) == [(*run, way) for run in both for way in ("read", "write")]
    assert rows(catalog, WRITES) == [("out", dated), ("out", "nightly")]
    assert rows(catalog, _EDGES) == [(dated,), ("nightly",)]


def test_a_replay_in_another_order_gives_the_same_rows(catalogs, at):
    """Compare catalogs: the day is a function of the id alone."""
    one, other = catalogs(), catalogs()
    events = [
        event
        for number, run in enumerate((_id(at(1)), _id(at(-700), 1), _id(at(24 * 60), 2), "old"))
        for event in (_started(at(number), run), _completed(at(9 + number), run))
    ]
    merge_staged(one, events)
    merge_staged(other, *([event] for event in reversed(events)))
    merge_staged(other, events, merged=len(events))

    assert contents(one) == contents(other)
    assert digests(one) == digests(other)
    assert [day for _, day, _ in rows(one, _RUNS)] != [0] * 4


def test_a_run_that_an_older_release_stored_goes_on_as_one_run(catalog, at):
    """Complete a run that has day 0, beside a new one: its input and output are its own."""
    old, new = _id(at(1)), _id(at(1), 1)
    merge_staged(catalog, [_started(at(2), old)])
    with write_transaction(catalog) as connection:
        for table in ("run", "run_io"):
            connection.execute(text(f"UPDATE {table} SET day = 0"))  # noqa: S608 - ours
    ends = [_completed(at(3), old), _started(at(3), new), _completed(at(4), new)]
    merge_staged(catalog, ends, merged=1)

    ended = to_micros(at(3)), to_micros(at(4))
    day = _day(at(1))
    assert rows(catalog, _RUNS) == [(old, 0, ended[0]), (new, day, ended[1])]
    both = [(old, 0), (new, day)]
    assert rows(catalog, _IO) == [(*run, way) for run in both for way in ("read", "write")]
    assert rows(catalog, _EDGES) == [(old,), (new,)]


def test_a_root_run_of_an_older_range_ends_what_is_below_it(catalog, at):
    """Find it by its id, also where only an earlier batch named it."""
    root, child = _id(at(-24 * 60)), _id(at(1), 1)
    below = {"run": child, "kind": "START"}
    merge_staged(
        catalog,
        [staged_run(at(2), run=root, kind="START"), staged_run(at(5), run=root)],
        [staged_run(at(3), root=root, outputs={"out": []}, **below)],
    )
    assert rows(catalog, _FAILURES) == [("out", child)]

    merge_staged(catalog, [staged_run(at(4), outputs={"more": []}, **below)], merged=2)
    assert rows(catalog, _FAILURES) == [("more", child), ("out", child)]


@pytest.mark.parametrize("left", ["run", "run_io"])
def test_rows_left_of_a_run_decide_its_day(catalog, at, left):
    """Merge an event of a run that retention has deleted in one of the tables."""
    run = _id(at(1))
    merge_staged(catalog, [_started(at(2), run)])
    with write_transaction(catalog) as connection:
        connection.execute(text(f"UPDATE {left} SET day = 0"))  # noqa: S608 - ours
        other = "run_io" if left == "run" else "run"
        connection.execute(text(f"DELETE FROM {other}"))  # noqa: S608 - likewise
    merge_staged(catalog, [_started(at(2), run), _completed(at(3), run)], merged=1)

    assert rows(catalog, _RUNS) == [(run, 0, to_micros(at(3)))]
    assert rows(catalog, _IO) == [(run, 0, "read"), (run, 0, "write")]


@pytest.mark.parametrize("catalogs", ["postgresql"], indirect=True)
def test_a_run_in_flight_during_the_exchange_is_one_run(catalog, at):
    """Start it in the plain tables, complete it in the partitioned ones; a later run is dated."""
    undo_partitions_of_runs(catalog)
    flying, new = _id(at(1)), _id(at(1), 1)
    merge_staged(catalog, [_started(at(2), flying)])
    assert rows(catalog, _RUNS) == [(flying, 0, None)]

    assert partition_runs(catalog, exclusive_transaction) != []
    ends = [_completed(at(3), flying), _started(at(3), new), _completed(at(3), new)]
    merge_staged(catalog, ends, ends, merged=1)

    ended = to_micros(at(3))
    assert rows(catalog, _RUNS) == [(flying, 0, ended), (new, _day(at(1)), ended)]
    assert counts(catalog, "run") == {"run_undated": 1, "run_default": 1}
    assert counts(catalog, "run_io") == {"run_io_undated": 2, "run_io_default": 2}
    assert rows(catalog, WRITES) == [("out", flying), ("out", new)]

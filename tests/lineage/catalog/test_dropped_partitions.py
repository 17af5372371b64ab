"""Retention by partitions: it drops expired ranges, and leaves the rows that deletes leave."""

import threading

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import insert, select, text

from lineage.catalog import dropped_partitions, partitions, tables
from lineage.catalog.deleting import delete_old, delete_old_rows
from lineage.catalog.engine import exclusive_transaction, write_transaction
from lineage.catalog.partitions import add_partitions
from lineage.catalog.upsert import fold_rows
from tests.lineage.catalog.partitioned import (
    NOW,
    ago,
    counts,
    dataset_row,
    event_row,
    events,
    io_row,
    make_partition,
    partition_names,
    put,
    put_datasets,
    remove,
    run_row,
    runs,
    write_row,
    writes,
)
from tests.suite.examples import is_long

_postgres = pytest.mark.parametrize("catalogs", ["postgresql"], indirect=True)
DAYS = {"event_days": 7, "write_days": 180, "audit_days": 400}
DAYS |= {"history_days": 400, "access_days": 400}
_SLOW = {"limit_seconds": 1, "cadence_class": "periodic", "cadence_seconds": 30 * 86_400}
_SLOW |= {"gaps": 9, "explanation": "", "learned_at": 0}
_DAY = 86_400_000_000
_OLD = 300  # days; such a write is deleted, unless a rule keeps it


def _clear(catalog):
    delete_old(catalog, "pipeline", NOW, DAYS, exclusive_transaction)


def _tables(catalog, like):
    found = text("SELECT relname FROM pg_class WHERE relkind = 'r' AND relname LIKE :like")
    with catalog.connect() as connection:
        return sorted(connection.scalars(found, {"like": like}))


def _fill(catalog):
    """Insert a dataset's first write, three later ones of one range, and one of yesterday."""
    put_datasets(catalog, 1)
    at = ago(_OLD)
    for each in (at, ago(1)):
        make_partition(catalog, "dataset_write", each)
    rows = [write_row(1, at + hour * 3_600_000_000, f"r{hour}") for hour in range(4)]
    put(catalog, tables.dataset_write, *rows, write_row(1, ago(1), "newest"))


def _rows_to_keep():
    return [_write(1, ago(1), "newest"), _write(1, ago(_OLD), "r0")]


def _write(key, at, root):
    row = write_row(key, at, root)
    return key, root, row["bucket"], at


def test_a_range_is_dropped_as_a_whole(catalog):
    """Keep eight days of events in both databases: seven, and the rest of the first."""
    if catalog.dialect.name == "postgresql":
        for days in range(10):
            make_partition(catalog, "event", ago(days))
    put(catalog, tables.event, *(event_row(ago(half / 2)) for half in range(20)))

    _clear(catalog)

    assert events(catalog) == sorted(ago(half / 2) for half in range(16))


@_postgres
def test_expired_days_are_dropped(catalog):
    """Drop their tables, and not only their rows."""
    for days in (9, 8, 7):
        make_partition(catalog, "event", ago(days))
    put(catalog, tables.event, *(event_row(ago(days)) for days in (9, 8, 7)))

    _clear(catalog)

    assert _tables(catalog, "event_2%") == ["event_20261118"]
    assert counts(catalog, "event") == {"event_20261118": 1}


@_postgres
def test_rows_that_a_rule_keeps_are_moved(catalog):
    """Move a dataset's first write, and all of a slow one, to the default partition."""
    _fill(catalog)
    put_datasets(catalog, 2)
    put(catalog, tables.dataset_limit, {"dataset_key": 2, **_SLOW})
    slow = [(ago(_OLD), "s0"), (ago(_OLD) + 1, "s1")]
    put(catalog, tables.dataset_write, *(write_row(2, *each) for each in slow))

    _clear(catalog)

    assert writes(catalog) == [*_rows_to_keep(), *(_write(2, *each) for each in slow)]
    in_parts = {"dataset_write_default": 3, "dataset_write_20261103": 1}
    assert counts(catalog, "dataset_write") == in_parts
    assert _tables(catalog, "dataset_write_2%") == ["dataset_write_20261103"]


@_postgres
def test_a_range_with_many_kept_rows_loses_the_others_one_by_one(catalog, monkeypatch):
    """Move none: that would lock the table for long."""
    monkeypatch.setattr(dropped_partitions, "_MOST_KEPT", 0)
    _fill(catalog)
    parts = partition_names(catalog)

    _clear(catalog)

    assert writes(catalog) == _rows_to_keep()
    assert partition_names(catalog) == parts


@_postgres
def test_a_write_that_lands_during_a_drop_is_kept(catalog, monkeypatch):
    """Load a history, whose first write lands between the look and the lock."""
    _fill(catalog)
    found = dropped_partitions.kept_rows
    earlier = ago(_OLD) - 3_600_000_000

    def look_then_land(*given):  # noqa: ANN002
        kept = found(*given)
        monkeypatch.setattr(dropped_partitions, "kept_rows", found)
        put(catalog, tables.dataset_write, write_row(1, earlier, "history"))
        return kept

    monkeypatch.setattr(dropped_partitions, "kept_rows", look_then_land)
    _clear(catalog)

    assert _write(1, earlier, "history") in writes(catalog)
    _clear(catalog)
    assert writes(catalog) == sorted([_write(1, earlier, "history"), _rows_to_keep()[0]])


@_postgres
def test_a_write_withdrawn_during_a_drop_stays_withdrawn(catalog, monkeypatch):
    """Let the run of the first write fail after all: the next write becomes the first."""
    _fill(catalog)
    found = dropped_partitions.kept_rows

    def look_then_land(*given):  # noqa: ANN002
        kept = found(*given)
        monkeypatch.setattr(dropped_partitions, "kept_rows", found)
        with exclusive_transaction(catalog) as connection:
            connection.execute(text("DELETE FROM dataset_write WHERE root_run_id = 'r0'"))
        return kept

    monkeypatch.setattr(dropped_partitions, "kept_rows", look_then_land)
    _clear(catalog)

    first = _write(1, ago(_OLD) + 3_600_000_000, "r1")
    assert writes(catalog) == [_rows_to_keep()[0], first]


@_postgres
@pytest.mark.parametrize("step", ["move_rows", "_drop"])
def test_a_turn_that_is_killed_is_completed_by_the_next(catalog, monkeypatch, step):
    """Show the first write once at each step; batches may write to the range again."""
    _fill(catalog)
    put(catalog, tables.event, event_row(ago(20)))
    with monkeypatch.context() as killed:
        killed.setattr(dropped_partitions, step, _die)
        with pytest.raises(KeyboardInterrupt):
            _clear(catalog)
    assert _rows_to_keep()[1] in writes(catalog)
    late = write_row(1, ago(_OLD) + 60, "late")
    for _ in range(2):
        with exclusive_transaction(catalog) as connection:
            fold_rows(connection, tables.dataset_write, [late])
    assert writes(catalog).count(_write(1, ago(_OLD) + 60, "late")) == 1

    _clear(catalog)

    assert writes(catalog) == _rows_to_keep()
    assert _tables(catalog, "%expired%") == []
    assert _tables(catalog, "dataset_write_2%") == ["dataset_write_20261103"]


def _die(*_given):  # noqa: ANN002
    raise KeyboardInterrupt


@_postgres
def test_a_detached_range_is_left_alone(catalog):
    """Leave the table in which an operator keeps a day."""
    make_partition(catalog, "event", ago(9))
    with write_transaction(catalog) as connection:
        connection.exec_driver_sql("ALTER TABLE event DETACH PARTITION event_20261116")

    _clear(catalog)

    assert _tables(catalog, "event_2%") == ["event_20261116"]


@_postgres
def test_a_reader_of_hours_delays_no_batch(catalog, monkeypatch):
    """Let a backup lock each table: batches land meanwhile, and the range goes later."""
    monkeypatch.setattr(partitions, "_TRIES", 2)
    monkeypatch.setattr(partitions, "_LOCK_MILLISECONDS", 50)
    _fill(catalog)
    before = writes(catalog)
    with catalog.connect() as backup:
        backup.execute(select(tables.dataset_write)).all()
        _clear_partitions(catalog)
        put(catalog, tables.dataset_write, write_row(1, ago(0), "meanwhile"))

    assert writes(catalog) == sorted([*before, _write(1, ago(0), "meanwhile")])
    _clear(catalog)
    assert writes(catalog) == sorted([*_rows_to_keep(), _write(1, ago(0), "meanwhile")])


def _clear_partitions(catalog):
    times = {"before": ago(180) // 2_592_000_000_000 * 2_592_000_000_000, "ahead": ago(-1)}
    dropped_partitions.drop_partitions(catalog, "dataset_write", times, exclusive_transaction)


@_postgres
def test_a_drop_waits_for_a_batch_in_flight(catalog):
    """Let it write to the range that is about to go: the turn of the batch comes first."""
    _fill(catalog)
    earlier = ago(_OLD) - 60
    with exclusive_transaction(catalog) as batch:
        batch.execute(insert(tables.dataset_write), write_row(1, earlier, "in flight"))
        thread = threading.Thread(target=_clear, args=(catalog,))
        thread.start()
        thread.join(timeout=0.5)
        assert thread.is_alive()
    thread.join()

    assert writes(catalog) == sorted([_rows_to_keep()[0], _write(1, earlier, "in flight")])


@_postgres
def test_batches_land_while_ranges_are_dropped(catalog):
    """Drop forty days: each batch lands, and none of its rows is lost."""
    for days in range(8, 48):
        make_partition(catalog, "event", ago(days))
    put(catalog, tables.event, *(event_row(ago(days)) for days in range(8, 48)))
    landed, failures, is_over = [], [], threading.Event()

    def land():
        try:
            while not is_over.is_set():
                rows = [event_row(ago(days), len(landed) + 1) for days in (1, 20, 40)]
                with exclusive_transaction(catalog) as connection:
                    fold_rows(connection, tables.event, rows)
                landed.append(rows)
        except BaseException as error:  # noqa: BLE001 - whatever it is, the test shows it
            failures.append(error)

    thread = threading.Thread(target=land)
    thread.start()
    _clear(catalog)
    is_over.set()
    thread.join()
    _clear(catalog)

    assert failures == []
    assert len(landed) > 1
    assert events(catalog) == [ago(1)] * len(landed)
    assert _tables(catalog, "event_2%") == []


_EXAMPLES = 100 if is_long() else 25
# Times around the limits of retention and of ranges.
_AGES = st.sampled_from([-9, -2, 0, 7, 8, 9, 180, 201, 202, 203, 204, 210, 300, 301, 560, 700])
_WRITES = st.lists(st.tuples(st.integers(1, 4), _AGES, st.sampled_from("ab")), max_size=15)


@pytest.mark.postgres
@settings(max_examples=_EXAMPLES, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(_WRITES, st.lists(_AGES, max_size=5), st.sets(st.integers(1, 3)), st.sets(st.integers(1, 4)))
def test_partitions_leave_the_rows_that_deleting_leaves(both, written, arrived, known, slow):
    """Generate rows of datasets that are gone, slow or neither: both databases keep the same."""
    for engine in both:
        for table in (tables.event, tables.dataset_write, tables.dataset, tables.dataset_limit):
            remove(engine, table)
        rows = {(key, ago(age), root): write_row(key, ago(age), root) for key, age, root in written}
        unique = {(r["dataset_key"], r["root_run_id"], r["bucket"]): r for r in rows.values()}
        limits = [{"dataset_key": key, **_SLOW} for key in slow]
        for table, given_ in (
            (tables.dataset, [dataset_row(key) for key in known]),
            (tables.dataset_limit, limits),
            (tables.dataset_write, list(unique.values())),
            (tables.event, [event_row(ago(age)) for age in set(arrived)]),
        ):
            if given_:
                put(engine, table, *given_)
        if engine.dialect.name == "postgresql":
            for age in (0, 7, 8, *(age for _, age, _ in written), *arrived):
                for table in ("event", "dataset_write"):
                    make_partition(engine, table, ago(age))
        for table in ("event", "dataset_write"):
            delete_old_rows(engine, table, NOW, DAYS, exclusive_transaction)
    one, other = both
    assert (events(one), writes(one)) == (events(other), writes(other))


# Days in ids: none, of ranges that are over or not, and of a clock that is ahead.
_DAYS = st.sampled_from([None, 700, 301, 211, 203, 180, 0, -2, -60])


@pytest.mark.postgres
@settings(max_examples=_EXAMPLES, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(st.integers(1, 6), _AGES), max_size=10, unique_by=lambda one: one[0]),
    st.lists(st.tuples(st.integers(1, 6), _AGES), max_size=10, unique_by=lambda one: one[0]),
    st.lists(_DAYS, min_size=6, max_size=6),
    st.sets(_DAYS),
)
def test_partitions_of_runs_leave_the_rows_that_deleting_leaves(both, ran, touched, days, made):
    """Generate runs of each day: both databases keep the same, whatever partitions there are."""
    starts = [0 if age is None else ago(age) // _DAY * _DAY for age in days]
    for engine in both:
        for table in (tables.run, tables.run_io):
            remove(engine, table)
        if engine.dialect.name == "postgresql":
            for age in made - {None}:
                for table in ("run", "run_io"):
                    make_partition(engine, table, ago(age))
        for table, row, given_ in (
            (tables.run, run_row, ran),
            (tables.run_io, io_row, touched),
        ):
            if given_:
                put(engine, table, *(row(key, ago(age), starts[key - 1]) for key, age in given_))
        for table in ("run", "run_io"):
            delete_old_rows(engine, table, NOW, DAYS, exclusive_transaction)
    one, other = both
    assert runs(one) == runs(other)
    kept = {key for key, _, at in runs(one)[0] if at >= ago(180)}
    assert kept == {key for key, age in ran if age <= 180}


@_postgres
def test_an_expired_range_of_runs_is_dropped_but_for_runs_that_go_on(catalog):
    """Keep a stream that runs for 300 days; drop what else its month has."""
    day = ago(_OLD) // _DAY * _DAY
    for table in ("run", "run_io"):
        make_partition(catalog, table, day)
    put(catalog, tables.run, *(run_row(key, ago(_OLD), day) for key in (1, 2)))
    put(catalog, tables.run, run_row(3, ago(1), day))
    put(catalog, tables.run_io, io_row(1, ago(_OLD), day), io_row(3, ago(1), day))

    _clear(catalog)

    assert runs(catalog) == ([(3, day, ago(1))], [(3, 1, "write", day, ago(1))])
    assert _tables(catalog, "run%2%") == []
    assert counts(catalog, "run") == {"run_default": 1}


def test_runs_of_a_clock_that_is_ahead_are_deleted_by_their_events(catalog):
    """Delete a run whose id is of next year, 180 days after its last event; keep one of today."""
    ahead = ago(-400) // _DAY * _DAY
    put(catalog, tables.run, run_row(1, ago(181), ahead), run_row(2, ago(179), ahead))
    put(catalog, tables.run_io, io_row(1, ago(181), ahead), io_row(2, ago(179), ahead))

    _clear(catalog)

    assert runs(catalog) == ([(2, ahead, ago(179))], [(2, 1, "write", ahead, ago(179))])


@_postgres
def test_the_partition_of_runs_without_a_day_is_never_dropped(catalog):
    """Delete its old runs one by one: each new partition reads the rows of the default one."""
    put(catalog, tables.run, run_row(1, ago(181)), run_row(2, ago(179)))

    _clear(catalog)

    assert counts(catalog, "run") == {"run_undated": 1}
    put(catalog, tables.run, run_row(3, ago(0)))
    assert counts(catalog, "run") == {"run_undated": 2}


@pytest.fixture
def both(embedded, databases):
    """Return an empty catalog on SQLite, and one on PostgreSQL."""
    engine = databases.take()
    add_partitions(engine, NOW, exclusive_transaction)
    yield embedded, engine
    databases.give_back(engine)

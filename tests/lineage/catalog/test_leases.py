"""Leases in the catalog: one process leads, and writes of a former leader are undone."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import insert, select, text, update
from sqlalchemy.exc import DBAPIError

from lineage import lease_rules
from lineage.catalog import leases
from lineage.catalog.engine import open_catalog, write_transaction
from lineage.catalog.leases import (
    LeadershipFence,
    fence_of,
    leading,
    release,
    renew,
    require_lead,
    try_take,
)
from lineage.catalog.tables import lease, meta
from lineage.lease_rules import LeaseLostError
from tests.lineage.catalog.database_clock import DatabaseClock

NAME = "service"


def _take(engine, who, *, is_start=False):
    row = try_take(engine, NAME, who, 10, is_start=is_start)
    return None if row is None else row.epoch


def _lead(engine, epoch):
    return leading(engine, LeadershipFence(NAME, epoch, lambda: None))


def _expire(engine):
    with write_transaction(engine) as connection:
        connection.execute(update(lease).values(expires_at=1))


def _impatient(catalog, lock_timeout):
    url = catalog.url.update_query_dict({"options": f"-c lock_timeout={lock_timeout}"})
    return open_catalog(url.render_as_string(hide_password=False))


def _write(engine, name):
    with write_transaction(engine) as connection:
        connection.execute(insert(meta), {"name": name, "value": ""})


def _list_written(engine):
    with engine.connect() as connection:
        return list(connection.scalars(select(meta.c.name).order_by(meta.c.name)))


def test_one_of_many_takes_the_lease(catalog):
    """Take it all at once, when there is no row yet."""
    with ThreadPoolExecutor(4) as threads:
        epochs = list(threads.map(lambda who: _take(catalog, who), "abcd"))

    assert sorted(epoch for epoch in epochs if epoch) == [1]


def test_the_next_leader_begins_a_new_epoch(catalog):
    """Take the lease after it expired, or was given up."""
    assert (_take(catalog, "a"), _take(catalog, "b")) == (1, None)
    _expire(catalog)
    assert (_take(catalog, "b"), _take(catalog, "a")) == (2, None)
    release(catalog, NAME, 2)

    assert _take(catalog, "a") == 3
    assert renew(catalog, NAME, 2, 10) is None
    assert renew(catalog, NAME, 3, 10) is not None


def test_a_former_leader_writes_nothing(catalog):
    """Undo its transactions at any wake-up; those of the leader stay."""
    former = _lead(catalog, _take(catalog, "a"))
    _write(former, "as the leader")
    _expire(catalog)
    _write(former, "after its lease expired, and before another took it")
    leader = _lead(catalog, _take(catalog, "b"))

    with pytest.raises(LeaseLostError, match="epoch 1 of 'service' is over: it is 2 now"):
        _write(former, "too late")
    _write(leader, "as the next leader")

    assert "too late" not in _list_written(catalog)
    assert len(_list_written(catalog)) == 3


@pytest.mark.parametrize("catalogs", ["postgresql"], indirect=True)
def test_nobody_takes_the_lease_between_the_check_and_the_commit(catalog):
    """Pause a leader there: it would otherwise commit in the epoch of another."""
    epoch = _take(catalog, "a")
    _expire(catalog)
    other = _impatient(catalog, "100ms")
    with write_transaction(catalog) as connection:
        LeadershipFence(NAME, epoch, lambda: None).check(connection)
        with pytest.raises(DBAPIError, match="lock timeout"):
            _take(other, "b")

    assert _take(other, "b") == 2
    other.dispose()


@pytest.mark.parametrize("catalogs", ["postgresql"], indirect=True)
def test_the_server_ends_an_idle_transaction_of_a_leader(catalog):
    """Free its locks, for which the next leader would wait as long as it is paused."""
    with write_transaction(_lead(catalog, _take(catalog, "a"))) as connection:
        shown = connection.scalar(text("SHOW idle_in_transaction_session_timeout"))
    with write_transaction(catalog) as connection:
        others = connection.scalar(text("SHOW idle_in_transaction_session_timeout"))

    assert (shown, others) == ("10s", "1min")


@pytest.mark.parametrize("catalogs", ["postgresql"], indirect=True)
def test_the_server_ends_an_idle_renewal(catalog, monkeypatch):
    """Pause a leader that holds the row of the lease: nobody could take it."""
    monkeypatch.setattr(leases, "PAUSED_SECONDS", 1)
    other = _impatient(catalog, "20s")
    _take(catalog, "a")
    _expire(catalog)

    def pause(row, *_given: object):
        assert _take(other, "b") == 2  # once the server has ended the transaction of the renewal
        return row

    monkeypatch.setattr(lease_rules, "renew_row", pause)

    with pytest.raises(DBAPIError, match="idle-in-transaction"):
        renew(catalog, NAME, 1, 10)
    with catalog.connect() as connection:
        assert connection.scalar(select(lease.c.holder)) == "b"
    other.dispose()


def test_the_clock_of_the_database_decides(embedded):
    """Set a clock years behind that of this process, and let it go on in seconds."""
    clock = DatabaseClock(embedded)
    taken = try_take(embedded, NAME, "a", 10)
    assert taken is not None
    # SQLite counts in days, as a float: 40 µs.
    assert taken.since == pytest.approx(clock.micros, abs=100)
    clock.pass_(9)
    assert _take(embedded, "b") is None
    clock.pass_(2)

    assert _take(embedded, "b") == 2


def test_an_engine_without_a_fence_writes_for_any_replica(embedded):
    """Write without a lease: the API needs none."""
    require_lead(embedded)
    _write(embedded, "by an answer")

    assert fence_of(embedded) is None
    assert _list_written(embedded) == ["by an answer"]

"""Repair of a spool that is damaged or lacks acknowledged events, with counts and logs."""

import random
import sqlite3
import uuid
from contextlib import closing
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import httpx
import pytest
from sqlalchemy import insert

from collector import cursor_worker, cursors
from collector.cursors import NOT_READ, Cursors
from collector.damage import StoredEvent
from collector.high_water import high_water_of
from collector.opening import make_whole
from collector.repair import _Holes
from collector.settings import CollectorLocation, Limits
from collector.spool import Spool
from collector.spool_file import spool_losses
from lineage.catalog.engine import catalog_url, migrate, open_catalog
from lineage.catalog.tables import reader_cursor
from lineage.process.clock import from_micros, to_micros
from tests.collector.bodies import body, new_body, run_event
from tests.collector.spools import NOON, Outcomes, events, wait_for_groups
from tests.suite.http_client import CLIENT
from tests.suite.waiting import until

LATER = NOON + timedelta(minutes=5)
PAGE = 4_096
_FAULTS = Path(__file__).parents[1] / "faults"
UNCHECKED = (str(_FAULTS / "mutant.py"), str(_FAULTS / "unchecked_worker.py"))


def _events(count):
    return [
        body(run_event(run={"runId": str(uuid.UUID(int=n))}, padding=f"{n} " + "x" * 700))
        for n in range(1, count + 1)
    ]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "spool.db"


@pytest.fixture
def stored(path, clock):
    """Return the bodies of 200 events in a spool that was stopped."""
    bodies = _events(200)
    outcomes = Outcomes()
    spool = Spool(path, Limits(), clock, outcomes)
    spool.start()
    for start in range(0, 200, 20):
        spool.submit(events(spool, *bodies[start : start + 20]))
    wait_for_groups(outcomes, 10)
    spool.stop()
    return bodies


def _open(path, cursors=NOT_READ, *, is_suspect=False):
    make_whole(path, Limits(), lambda: cursors, LATER, is_suspect=is_suspect)
    with closing(sqlite3.connect(path)) as spool:
        rows = dict(spool.execute("SELECT seq, body FROM event").fetchall())
        (last,) = spool.execute("SELECT seq FROM sqlite_sequence WHERE name = 'event'").fetchone()
        return rows, last, spool_losses(spool)


def _flip(path, page, start=0, count=200):
    raw = bytearray(path.read_bytes())
    at = page * PAGE + start
    raw[at : at + count] = random.Random(page).randbytes(count)  # noqa: S311 - rubbish
    path.write_bytes(raw)


def _leaf_of_events(path):
    """Return the index of a page that holds a row of the table `event`."""
    raw = path.read_bytes()
    return next(n for n in range(10, len(raw) // PAGE) if raw[n * PAGE] == 13)


def _cut(path, share):
    raw = path.read_bytes()
    path.write_bytes(raw[: int(len(raw) * share)])


_DAMAGES = {
    "a page of events": lambda path: _flip(path, _leaf_of_events(path), count=PAGE),
    "bytes of a body": lambda path: _flip(path, _leaf_of_events(path), start=3_000, count=5),
    "the header": lambda path: _flip(path, 0, count=100),
    "the first page": lambda path: _flip(path, 0, count=PAGE),
    "the root of the events": lambda path: _flip(path, 1, count=PAGE),
    "the index of hashes": lambda path: _flip(path, 2, count=PAGE),
    "cut in the middle": lambda path: _cut(path, 0.5),
    "cut to two pages": lambda path: _cut(path, 0.03),
    "rubbish": lambda path: path.write_bytes(random.Random(1).randbytes(20_000)),  # noqa: S311
    "text": lambda path: path.write_text("please read me\n" * 500),
    "nothing": lambda path: path.write_bytes(b""),
}
# Of a root that is gone nothing leads to the rows; a file that is gone has none.
_TOTAL = {"the root of the events", "cut to two pages", "rubbish", "text", "nothing"}


@pytest.mark.parametrize("damage", _DAMAGES)
def test_readable_events_of_a_damaged_spool_are_saved(path, stored, damage):
    """Keep their numbers, count the others, and use no number twice."""
    _DAMAGES[damage](path)
    damaged = path.read_bytes()

    rows, last, found = _open(path)

    numbered = dict(enumerate(stored, 1))
    assert all(numbered[seq] == raw for seq, raw in rows.items())
    assert bool(rows) == (damage not in _TOTAL)
    assert last == 200
    assert (found.times, found.lost_events) == (1, 200 - len(rows))
    if damage != "nothing":  # an empty file is a new one to SQLite: there is nothing to set aside
        assert [one.read_bytes() for one in path.parent.glob("spool.db.damaged-*Z")] == [damaged]


@pytest.mark.usefixtures("stored")
def test_most_of_a_spool_survives_one_bad_page(path):
    """Keep the rows of all other pages."""
    _flip(path, _leaf_of_events(path), count=PAGE)

    rows, _, _ = _open(path)

    assert 190 <= len(rows) < 200


@pytest.mark.usefixtures("stored")
def test_an_undamaged_spool_is_left_alone(path):
    """Set nothing aside, and log and count nothing."""
    rows, last, found = _open(path)

    assert (len(rows), last, found) == (200, 200, None)
    assert [one.name for one in path.parent.glob("spool.db*")] == ["spool.db"]


@pytest.mark.usefixtures("stored")
def test_the_time_of_lost_events_is_a_gap(path):
    """Store a gap, so that what was due in it is unknown."""
    path.write_bytes(b"x" * 9_000)

    _open(path)

    with closing(sqlite3.connect(path)) as spool:
        ((start, end),) = spool.execute("SELECT started_at, ended_at FROM gap").fetchall()
    assert (start, end) == (to_micros(LATER) - 3_600_000_000, to_micros(LATER))


@pytest.mark.usefixtures("stored")
def test_events_that_readers_had_read_are_not_lost(path):
    """Count only events that the pipeline had not read."""
    path.write_bytes(b"y" * 50_000)

    _, last, found = _open(path, Cursors(150, 150, 150))

    assert (last, found.lost_events) == (200, 50)


@pytest.mark.usefixtures("stored")
@pytest.mark.parametrize("highest", [201, 5_000])
def test_numbers_begin_behind_every_reader(path, highest):
    """Continue behind the highest, as readers would skip lower numbers."""
    path.unlink()
    high_water_of(path).path.unlink()

    rows, last, _ = _open(path, Cursors(7, 7, highest), is_suspect=True)

    assert (rows, last) == ({}, highest)


def test_a_restored_spool_is_numbered_behind_its_readers(path, stored):
    """Number its events behind all readers, which would skip them otherwise."""
    high_water_of(path).path.unlink()

    rows, last, _ = _open(path, Cursors(900, 900, 900), is_suspect=True)

    assert min(rows) == 901
    assert last == 1_100
    assert list(rows.values()) == stored


@pytest.mark.usefixtures("stored")
def test_a_repair_interrupted_before_its_end_begins_again(path):
    """Build an incomplete file again."""
    rows, _, _ = _open(path)
    other = path.with_name("spool.db.repairing")
    other.write_bytes(path.read_bytes()[:5_000])

    again, _, found = _open(path)

    assert (again, found) == (rows, None)
    assert not other.exists()


@pytest.mark.usefixtures("stored")
def test_a_repair_interrupted_at_its_end_is_finished(path):
    """Use the complete file, and give the damaged one the name in the record of the loss."""
    _flip(path, _leaf_of_events(path), count=PAGE)
    rows, _, lost = _open(path)
    [damaged] = path.parent.glob("spool.db.damaged-*Z")
    path.rename(path.with_name("spool.db.repaired"))
    damaged.rename(path)

    again, _, found = _open(path)

    assert (again, found) == (rows, lost)
    assert not path.with_name("spool.db.repaired").exists()
    assert damaged in path.parent.iterdir()


@pytest.mark.parametrize(
    ("saved", "top", "expected"),
    [
        ([(101, 200)], 200, (-3_000, 101)),
        ([(101, 200), (301, 400)], 400, (-3_000, 301)),
        ([(101, 200)], 300, (-3_000, 600)),
        ([(1, 100), (201, 300), (401, 500)], 500, (100, 401)),
        ([(1, 100)], 300, (100, 600)),
    ],
)
def test_the_gap_covers_all_holes(saved, top, expected):
    """Begin an hour ago if the first hole has no event before it, also if others follow."""
    holes, second = _Holes(0), 1_000_000
    for seq in (seq for first, last in saved for seq in range(first, last + 1)):
        holes.see(StoredEvent(seq, b"", seq * second, "http", "run", 0, b""))

    assert holes.lost_through(top) == top - 100 * len(saved)
    assert holes.span(from_micros(600 * second), 3_600) == tuple(at * second for at in expected)


def _alive(collector):
    return CLIENT.get(f"{collector.url}/livez").status_code


def _takes(collector):
    """Return whether it accepts an event; a worker that ends may close the connection."""
    try:
        return collector.post(new_body()).status_code == 201
    except httpx.TransportError:
        return False


def _counter_value(collector, name):
    text = CLIENT.get(f"{collector.url}/metrics").text
    found = [float(row.split()[-1]) for row in text.splitlines() if row.startswith(name)]
    return found[0] if found else None


def test_a_collector_repairs_its_spool_at_its_start(start, tmp_path):
    """Serve, be ready, and report the repair in its log and metrics."""
    collector = start().ready()
    raws = [new_body() for _ in range(30)]
    assert {collector.post(raw).status_code for raw in raws} == {201}
    collector.stop()
    (tmp_path / "data" / "spool.db").write_bytes(b"rubbish" * 3_000)
    (tmp_path / "data" / "spool.db-wal").unlink(missing_ok=True)

    again = start(port=collector.port).ready()

    assert again.post(new_body()).status_code == 201
    assert again.rows("SELECT seq FROM event") == [(31,)]
    assert _alive(again) == 200
    assert _counter_value(again, "lineage_collector_spool_lost_events_total") == 30
    assert _counter_value(again, "lineage_collector_spool_damaged_timestamp_seconds") > 0
    assert "spool_repaired" in again.log()


@pytest.mark.parametrize("lost", [1, 4, 60])
def test_acknowledged_events_of_a_deleted_log_are_counted(path, clock, lost):
    """Report the deletion of `spool.db-wal`, a part of the spool, and store a gap."""
    outcomes, bodies = Outcomes(), _events(20 + lost)
    spool = Spool(path, Limits(), clock, outcomes)
    spool.start()
    spool.submit(events(spool, *bodies[:20]))
    wait_for_groups(outcomes, 1)
    with closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    spool.submit(events(spool, *bodies[20:]))
    wait_for_groups(outcomes, 2)
    killed = path.parent / "killed"
    killed.mkdir()
    for name in ("spool.db", "spool.seq"):
        (killed / name).write_bytes((path.parent / name).read_bytes())
    spool.stop()

    rows, last, found = _open(killed / "spool.db")

    assert (len(rows), last) == (20, 20 + lost)
    assert (found.times, found.lost_events) == (1, lost)
    with closing(sqlite3.connect(killed / "spool.db")) as again:
        assert again.execute("SELECT * FROM gap").fetchall() == [
            (to_micros(NOON), to_micros(LATER))
        ]


@pytest.mark.usefixtures("stored")
def test_without_the_high_water_mark_the_loss_is_not_found(path):
    """Run the mutant: remove the mark beside the spool."""
    high_water_of(path).path.unlink()
    with closing(sqlite3.connect(path)) as spool, spool:
        spool.execute("DELETE FROM event WHERE seq > 150")
        spool.execute("UPDATE sqlite_sequence SET seq = 150 WHERE name = 'event'")

    _, last, found = _open(path)

    assert (last, found) == (150, None)


@pytest.mark.parametrize("page", [1, 2], ids=["the events", "the index of hashes"])
def test_a_write_to_a_bad_page_starts_a_repair(start, tmp_path, page):
    """Repair after the first failed write, as a large spool is not checked at each start."""
    collector = start().ready()
    raws = _events(300)
    assert {collector.post(raw).status_code for raw in raws} == {201}
    collector.stop()
    path = tmp_path / "data" / "spool.db"
    with closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    _flip(path, page, count=PAGE)

    again = start(program=UNCHECKED, port=collector.port)
    until(lambda: _takes(again), seconds=60)

    assert "spool_repaired" in again.log()
    kept = {row[0] for row in again.rows("SELECT body FROM event")}
    lost = _counter_value(again, "lineage_collector_spool_lost_events_total")
    assert len(kept & set(raws)) == 300 - lost
    assert (lost == 0) == (page == 2)


@pytest.fixture
def waiting(tmp_path, path, stored, clock, outcomes):
    """Return a running spool whose reader stands at 10, with its catalog in the folder."""
    assert len(stored) == 200
    engine = open_catalog(catalog_url(tmp_path))
    migrate(engine)
    with engine.begin() as connection:
        connection.execute(insert(reader_cursor), [{"reader": "pipeline", "seq": 10}])
    engine.dispose()
    spool = Spool(path, Limits(), clock, outcomes)
    spool.start()
    until(lambda: spool.retention.room is not None)
    yield spool, CollectorLocation(data_dir=tmp_path)
    spool.stop()


def _rounds(waiting, cursors):
    spool, place = waiting
    for before, now in pairwise(cursors):
        cursor_worker.look_ahead(spool, place, before, now)
    return spool.damaged.is_set()


def test_a_reader_that_stands_still_starts_a_check(path, waiting):
    """Check the rows, which the collector itself never reads again."""
    stands = Cursors(10, 10, 10)
    assert not _rounds(waiting, [stands, stands])
    with closing(sqlite3.connect(path)) as other:
        other.execute("UPDATE event SET body = x'00' WHERE seq = 12")
        other.commit()

    assert _rounds(waiting, [stands, stands])


def test_a_reader_that_advances_starts_no_check(path, waiting):
    """Check only for a reader that stands still."""
    with closing(sqlite3.connect(path)) as other:
        other.execute("UPDATE event SET body = x'00' WHERE seq = 12")
        other.commit()

    assert not _rounds(waiting, [Cursors(9, 9, 9), Cursors(10, 10, 10)])


def test_a_reader_ahead_of_the_spool_starts_a_check(waiting):
    """Find an older spool that was restored: its new events would count as read."""
    assert _rounds(waiting, [NOT_READ, Cursors(201, 201, 201)])


def test_cursors_are_read_from_the_catalog(waiting):
    """Read them as for `look_ahead` and the repair."""
    _, place = waiting

    assert cursors.read_or_nothing(place) == Cursors(10, 10, 10)
    assert (
        cursors.read_or_nothing(CollectorLocation(catalog_url="postgresql+psycopg://127.0.0.1:1/x"))
        == NOT_READ
    )

"""A spool that is damaged, or short of what was acknowledged: repaired, counted and said."""

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

from collector import prune
from collector.high_water import NOT_READ, Cursors, beside
from collector.opening import make_whole
from collector.settings import Limits, Place
from collector.spool import Spool
from collector.spool_file import losses
from lineage.catalog.engine import catalog_url, migrate, open_catalog
from lineage.catalog.tables import reader_cursor
from lineage.process.clock import to_micros
from tests.collector.bodies import body, new_body, run_event
from tests.collector.spools import NOON, Outcomes, events, wait_for_groups
from tests.service.waiting import until
from tests.suite.http_client import CLIENT

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
    """A spool with 200 events that was stopped; the bodies."""
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
        return rows, last, losses(spool)


def _flip(path, page, start=0, count=200):
    raw = bytearray(path.read_bytes())
    at = page * PAGE + start
    raw[at : at + count] = random.Random(page).randbytes(count)  # noqa: S311 - rubbish
    path.write_bytes(raw)


def _leaf_of_events(path):
    """Index of a page that holds a row of the table `event`."""
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
def test_what_can_be_read_of_a_damaged_spool_is_saved(path, stored, damage):
    """With the numbers that it had; the rest is counted, and no number is given out twice."""
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
    """Rows of other pages have nothing to do with it."""
    _flip(path, _leaf_of_events(path), count=PAGE)

    rows, _, _ = _open(path)

    assert 190 <= len(rows) < 200


@pytest.mark.usefixtures("stored")
def test_a_whole_spool_is_left_alone(path):
    """Nothing is set aside, said or counted."""
    rows, last, found = _open(path)

    assert (len(rows), last, found) == (200, 200, None)
    assert [one.name for one in path.parent.glob("spool.db*")] == ["spool.db"]


@pytest.mark.usefixtures("stored")
def test_the_time_of_what_was_lost_is_a_gap(path):
    """What fell due in it is unknown, and nobody's fault."""
    path.write_bytes(b"x" * 9_000)

    _open(path)

    with closing(sqlite3.connect(path)) as spool:
        ((start, end),) = spool.execute("SELECT started_at, ended_at FROM gap").fetchall()
    assert (start, end) == (to_micros(LATER) - 3_600_000_000, to_micros(LATER))


@pytest.mark.usefixtures("stored")
def test_what_readers_had_read_is_not_lost(path):
    """The pipeline has it: only what it had not read is counted."""
    path.write_bytes(b"y" * 50_000)

    _, last, found = _open(path, Cursors(150, 150, 150))

    assert (last, found.lost_events) == (200, 50)


@pytest.mark.usefixtures("stored")
@pytest.mark.parametrize("highest", [201, 5_000])
def test_numbers_begin_behind_every_reader(path, highest):
    """Else readers would take new events for what they have read."""
    path.unlink()
    beside(path).path.unlink()

    rows, last, _ = _open(path, Cursors(7, 7, highest), is_suspect=True)

    assert (rows, last) == ({}, highest)


def test_a_spool_that_was_put_back_is_numbered_behind_its_readers(path, stored):
    """They have passed what it does not have yet: its events would never be read."""
    beside(path).path.unlink()

    rows, last, _ = _open(path, Cursors(900, 900, 900), is_suspect=True)

    assert min(rows) == 901
    assert last == 1_100
    assert list(rows.values()) == stored


@pytest.mark.usefixtures("stored")
@pytest.mark.parametrize("when", ["repairing", "repaired"])
def test_a_repair_that_was_interrupted_is_brought_to_its_end(path, when):
    """A half-built file is built anew; a complete one takes its place."""
    rows, _, _ = _open(path)
    other = path.with_name(f"spool.db.{when}")
    if when == "repaired":
        path.rename(other)
        path.write_bytes(b"damaged")
    else:
        other.write_bytes(path.read_bytes()[:5_000])

    again, _, found = _open(path)

    assert (again, found) == (rows, None)
    assert not other.exists()


def _alive(collector):
    return CLIENT.get(f"{collector.url}/livez").status_code


def _takes(collector):
    """Whether it takes an event; a worker that ends may cut the connection."""
    try:
        return collector.post(new_body()).status_code == 201
    except httpx.TransportError:
        return False


def _counted(collector, name):
    text = CLIENT.get(f"{collector.url}/metrics").text
    found = [float(row.split()[-1]) for row in text.splitlines() if row.startswith(name)]
    return found[0] if found else None


def test_a_collector_repairs_its_spool_at_its_start(start, tmp_path):
    """It serves, is ready, and tells in its log and its metrics what happened."""
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
    assert _counted(again, "lineage_collector_spool_lost_events_total") == 30
    assert _counted(again, "lineage_collector_spool_damaged_timestamp_seconds") > 0
    assert "spool_repaired" in again.log()


@pytest.mark.parametrize("lost", [1, 4, 60])
def test_acknowledged_events_that_went_with_the_log_are_counted(path, clock, lost):
    """`spool.db-wal` is a part of the spool: its deletion is said, and is a gap."""
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
def test_without_the_high_water_mark_it_would_go_without_a_word(path):
    """Mutant: the same with no mark beside the spool."""
    beside(path).path.unlink()
    with closing(sqlite3.connect(path)) as spool, spool:
        spool.execute("DELETE FROM event WHERE seq > 150")
        spool.execute("UPDATE sqlite_sequence SET seq = 150 WHERE name = 'event'")

    _, last, found = _open(path)

    assert (last, found) == (150, None)


@pytest.mark.parametrize("page", [1, 2], ids=["the events", "the index of hashes"])
def test_a_write_that_meets_a_bad_page_has_the_spool_repaired(start, tmp_path, page):
    """A large spool is not looked through at each start: who finds the damage has it done."""
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
    lost = _counted(again, "lineage_collector_spool_lost_events_total")
    assert len(kept & set(raws)) == 300 - lost
    assert (lost == 0) == (page == 2)


@pytest.fixture
def waiting(tmp_path, path, stored, clock, outcomes):
    """A running spool whose reader stands at 10, with its catalog in the folder."""
    assert len(stored) == 200
    engine = open_catalog(catalog_url(tmp_path))
    migrate(engine)
    with engine.begin() as connection:
        connection.execute(insert(reader_cursor), [{"reader": "pipeline", "seq": 10}])
    engine.dispose()
    spool = Spool(path, Limits(), clock, outcomes)
    spool.start()
    until(lambda: spool.passed.room is not None)
    yield spool, Place(data_dir=tmp_path)
    spool.stop()


def _rounds(waiting, cursors):
    spool, place = waiting
    for before, now in pairwise(cursors):
        prune.look_ahead(spool, place, before, now)
    return spool.damaged.is_set()


def test_a_reader_that_cannot_go_on_has_the_spool_looked_through(path, waiting):
    """It would stand there for ever: the collector itself never reads those rows again."""
    stands = Cursors(10, 10, 10)
    assert not _rounds(waiting, [stands, stands])
    with closing(sqlite3.connect(path)) as other:
        other.execute("UPDATE event SET body = x'00' WHERE seq = 12")
        other.commit()

    assert _rounds(waiting, [stands, stands])


def test_a_reader_that_goes_on_costs_no_look(path, waiting):
    """Only who stands is helped."""
    with closing(sqlite3.connect(path)) as other:
        other.execute("UPDATE event SET body = x'00' WHERE seq = 12")
        other.commit()

    assert not _rounds(waiting, [Cursors(9, 9, 9), Cursors(10, 10, 10)])


def test_a_reader_that_is_ahead_of_the_spool_has_it_looked_through(waiting):
    """An older spool was put back: what comes now would be taken for read."""
    assert _rounds(waiting, [NOT_READ, Cursors(201, 201, 201)])


def test_a_reader_that_is_quicker_than_the_writers_look_is_not_ahead(waiting):
    """The writer notes its last number once a second; a reader may have passed newer ones."""
    spool, place = waiting
    spool.passed.room = spool.passed.room._replace(last_seq=150)

    prune.look_ahead(spool, place, NOT_READ, Cursors(200, 200, 200))

    assert not spool.damaged.is_set()


def test_cursors_are_read_from_the_catalog(waiting):
    """As `look_ahead` and the repair are given them."""
    _, place = waiting

    assert prune.read_or_nothing(place) == Cursors(10, 10, 10)
    assert (
        prune.read_or_nothing(Place(catalog_url="postgresql+psycopg://127.0.0.1:1/x")) == NOT_READ
    )

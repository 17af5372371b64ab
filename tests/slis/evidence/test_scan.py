"""A pass over event logs: one that is broken stops no other, and how much is read is bounded."""

import os
from datetime import UTC, datetime, timedelta

import pytest
from pyspark.errors import PySparkException
from sqlalchemy import insert

from lineage.catalog import tables
from lineage.catalog.engine import catalog_url, migrate, open_catalog, writing
from lineage.catalog.noted import EVIDENCE_LISTED_AT, EVIDENCE_READ_AT
from lineage.clock import from_micros
from slis.evidence import frames, scan, taken
from slis.noted import noted_number
from tests.slis.evidence.made_logs import log, pack, rolling_log
from tests.slis.stream.spools import rows

_WRITTEN = """
    SELECT d.name FROM dataset d JOIN execution_io io ON io.dataset_key = d.dataset_key ORDER BY 1
"""


class Estate:
    """A catalog, and the folder of logs that it is told of."""

    def __init__(self, spark, folder) -> None:
        self.spark = spark
        self.catalog = open_catalog(catalog_url(folder))
        migrate(self.catalog)
        self.logs = folder / "event logs"
        self.logs.mkdir()
        self.scratch = folder / "unpacked"
        self.began = self.now = datetime.now(UTC)

    def scan(self, *others: str):
        """A pass, a minute after the one before, over the folder and others."""
        self.now += timedelta(minutes=1)
        folders = [*others, f"file:{self.logs}"]
        given = {"settle": timedelta(minutes=5), "scratch": self.scratch}
        return scan.scan(self.spark, self.catalog, folders, self.now, **given)

    def written(self):
        """Names of the datasets that the logs told of."""
        return [name for (name,) in rows(self.catalog, _WRITTEN)]

    def last(self, name):
        """The number of the last pass that noted this; null: none did."""
        with self.catalog.connect() as connection:
            at = noted_number(connection, name)
        return None if at is None else (from_micros(at) - self.began) // timedelta(minutes=1)

    def unread(self):
        """Names of the files and logs that the catalog holds as not read."""
        unread = "SELECT path FROM evidence_file WHERE bytes < 0 AND problem IS NOT NULL"
        return [path.rsplit("/", 1)[1] for (path,) in rows(self.catalog, unread)]


@pytest.fixture
def estate(spark, tmp_path):
    made = Estate(spark, tmp_path)
    yield made
    made.catalog.dispose()


def test_a_log_that_cannot_be_listed_stops_no_other_and_is_tried_again(estate):
    """A file that somebody put into its folder has no number, and Spark's reader gives up."""
    log(estate.logs / "app-1", "orders")
    odd = rolling_log(estate.logs, "app-2", "rates") / "events_copy_app-2"
    odd.touch()

    first = estate.scan()

    assert estate.written() == ["orders"]
    assert (first.files, len(first.problems)) == (1, 1)
    assert estate.unread() == ["eventlog_v2_app-2"]
    assert (estate.last(EVIDENCE_LISTED_AT), estate.last(EVIDENCE_READ_AT)) == (1, None)

    odd.unlink()
    second = estate.scan()

    assert estate.written() == ["orders", "rates"]
    assert (second.files, second.problems, estate.unread()) == (1, {}, [])
    assert (estate.last(EVIDENCE_LISTED_AT), estate.last(EVIDENCE_READ_AT)) == (2, 2)


@pytest.mark.parametrize(
    "when", ["before it is opened", "before it is unpacked", "after it was opened"]
)
def test_a_file_that_goes_while_it_is_read_is_noted_and_the_others_are_read(
    estate, monkeypatch, when
):
    """Renamed as its application ended, or deleted by the history server's cleaner."""
    gone = log(estate.logs / "app-2", "rates")
    if when == "before it is unpacked":
        plain, gone = gone, pack(estate.spark, gone)
        plain.unlink()
    for number, name in ((1, "orders"), (3, "stock")):
        log(estate.logs / f"app-{number}", name)

    def look(*given: object):
        found = real_look(*given)
        gone.unlink(missing_ok=True)
        return found

    def take(*given: object):
        found = real_take(*given)
        gone.unlink(missing_ok=True)
        return found

    real_look, real_take = scan._look, scan.take  # noqa: SLF001 - the moments in between
    if when.startswith("before"):
        monkeypatch.setattr(scan, "_look", look)
    else:
        monkeypatch.setattr(scan, "take", take)
    first = estate.scan()

    assert estate.written() == ["orders", "stock"]
    assert (first.files, estate.unread()) == (2, [gone.name])
    assert (estate.last(EVIDENCE_LISTED_AT), estate.last(EVIDENCE_READ_AT)) == (1, None)

    second = estate.scan()

    assert (second.files, second.problems, estate.unread()) == (0, {}, [])
    assert estate.last(EVIDENCE_READ_AT) == 2


def test_what_is_wrong_with_spark_is_not_taken_for_a_broken_file(estate, monkeypatch):
    """A pass that was cut short has read nothing: it is no file's fault, and the pass fails."""
    log(estate.logs / "app-1", "orders")

    def cancelled(*_given: object) -> None:
        raise PySparkException(errorClass="CONTEXT_UNAVAILABLE_FOR_REMOTE_CLIENT")

    monkeypatch.setattr(frames, "_frames", cancelled)

    with pytest.raises(PySparkException):
        estate.scan()
    assert estate.unread() == []


@pytest.mark.parametrize("folder", ["file:/there/is/none", "nosuchscheme://bucket/logs"])
def test_a_folder_that_cannot_be_listed_stops_no_other_and_is_told(estate, folder):
    """Its key expired: the others are read, but that they hold no run tells of no job."""
    log(estate.logs / "app-1", "orders")
    estate.scan()
    log(estate.logs / "app-2", "rates")

    found = estate.scan(folder)

    assert estate.written() == ["orders", "rates"]
    assert [problem.startswith(folder) for problem in found.unlisted] == [True]
    assert (estate.last(EVIDENCE_LISTED_AT), estate.last(EVIDENCE_READ_AT)) == (1, 1)
    unlisted = "SELECT value FROM meta WHERE name = 'evidence_unlisted_folders'"
    assert rows(estate.catalog, unlisted) == [("1",)]
    estate.scan()
    assert rows(estate.catalog, unlisted) == [("0",)]


def test_a_log_that_has_grown_by_nothing_is_not_read_again(estate):
    """Its time alone is another."""
    path = log(estate.logs / "app-1.inprogress", "orders")
    assert estate.scan().files == 1

    os.utime(path, (path.stat().st_atime, path.stat().st_mtime + 60))
    assert estate.scan().files == 0

    log(path, "orders", "rates")
    assert estate.scan().files == 1
    assert estate.written() == ["orders", "rates"]


def test_what_a_pass_unpacks_is_bounded_and_the_rest_is_the_next_one_s(estate, monkeypatch):
    """The oldest first, and nothing is left behind: not by a pass that was killed, either."""
    for number, name in ((1, "orders"), (2, "rates")):
        path = log(estate.logs / f"app-{number}", name)
        packed = pack(estate.spark, path)
        os.utime(packed, (0, estate.began.timestamp() + number))
        size = path.stat().st_size
        path.unlink()
    estate.scratch.mkdir()
    (estate.scratch / "left").touch()
    monkeypatch.setattr(taken, "MOST_UNPACKED_BYTES", size + 100)

    first = estate.scan()

    assert (first.files, first.is_partial, estate.written()) == (1, True, ["orders"])
    assert (estate.last(EVIDENCE_LISTED_AT), estate.last(EVIDENCE_READ_AT)) == (1, None)
    assert not estate.scratch.exists()

    second = estate.scan()

    assert (second.files, second.is_partial, second.problems) == (1, False, {})
    assert (estate.written(), estate.last(EVIDENCE_READ_AT)) == (["orders", "rates"], 2)


def test_of_a_file_that_alone_unpacks_to_too_much_the_first_part_is_read(estate, monkeypatch):
    """It says so, and is not unpacked again and again."""
    path = log(estate.logs / "app-1", *(f"t{number}" for number in range(20)))
    pack(estate.spark, path)
    path.unlink()
    monkeypatch.setattr(taken, "MOST_UNPACKED_BYTES", 5_000)

    found = estate.scan()

    (problem,) = found.problems.values()
    assert "more than 5000 bytes" in problem
    assert 0 < len(estate.written()) < 20
    assert estate.scan().files == 0


def test_the_scratch_folder_is_gone_after_an_error_too(estate, monkeypatch):
    """What was unpacked is gigabytes."""
    log(estate.logs / "app-1", "orders")

    def failing(*_given: object) -> None:
        assert estate.scratch.exists()
        raise RuntimeError

    monkeypatch.setattr(scan, "_read", failing)

    with pytest.raises(RuntimeError):
        estate.scan()
    assert not estate.scratch.exists()


@pytest.fixture
def joins(estate, monkeypatch):
    """The passes that joined evidence and events, each by its minute."""
    made: list[int] = []

    def join(connection, given) -> int:
        made.append((estate.now - estate.began) // timedelta(minutes=1))
        return real(connection, given)

    real = scan.join
    monkeypatch.setattr(scan, "join", join)
    return made


def test_without_news_nothing_is_joined_and_no_lock_is_taken_for_it(estate, joins):
    """News are lines of a log, and events."""
    log(estate.logs / "app-1", "orders")
    estate.scan()
    estate.scan()
    assert joins == [1]

    with writing(estate.catalog) as connection:
        connection.execute(insert(tables.reader_cursor), {"reader": "pipeline", "seq": 7})
    estate.scan()
    estate.scan()
    assert joins == [1, 3]

    log(estate.logs / "app-2", "rates")
    estate.scan()
    estate.scan()
    assert joins == [1, 3, 5]


def test_time_alone_makes_what_no_event_told_known(estate, joins):
    """Its events may still come for five minutes; then it is a run of its own."""
    log(estate.logs / "app-1", "orders", ago_millis=0)
    for _ in range(8):
        estate.scan()

    assert joins == [1, 6]
    assert rows(estate.catalog, "SELECT evidence, is_history FROM run") == [("alone", 0)]


def test_a_join_that_was_cut_short_is_made_up_for(estate, joins, monkeypatch):
    """What was read is kept, and is not due yet; that it was not joined yet is known."""
    estate.scan()
    log(estate.logs / "app-1", "orders", ago_millis=0)

    def cut(*_given: object) -> int:
        raise RuntimeError

    with monkeypatch.context() as patched:
        patched.setattr(scan, "join", cut)
        with pytest.raises(RuntimeError):
            estate.scan()
    estate.scan()
    estate.scan()

    assert joins == [1, 3]

"""Restored catalog on a topic: the lake provides what the topic has deleted."""

import itertools
import shutil
import sqlite3
from contextlib import closing

import pytest
from structlog.testing import capture_logs

from collector.shipper.shipper import Shipper
from collector.spool_file import open_spool
from lineage.catalog.engine import catalog_url, open_catalog
from lineage.input_log.records import HEARTBEAT, Record, headers_of
from lineage.input_log.settings import KafkaLog
from lineage.lake.reading import read_events
from lineage.process.clock import to_micros
from slis.lake.compaction import compact
from slis.lake.retention import delete_hidden
from slis.settings import SharedPaths
from slis.stream.kafka.log import TopicLog
from slis.stream.landing import BatchLanding, WaitError
from slis.stream.log.from_lake import LakeReplay
from slis.stream.log.spool_reader import BatchLimits
from tests.fakes.topic import Topic
from tests.slis.lake.lakes import visible, writer_of
from tests.slis.stream.merge.test_exactly_once import contents
from tests.slis.stream.spools import rows, run_event, spool

ROUND, ROWS = 6, 2  # events that are sent at once, and of a batch
_ROUNDS = 4
POSITIONS = "SELECT partition, next_offset, windows FROM log_position ORDER BY 1"
# Events from the lake count in no SLI, so that `event` differs in one flag. Numbers depend on how
# records without an event were cut into batches.
BUT = ("batch", "event", "log_collector", "reader_cursor")


class Estate:
    """Collector, topic, lake, and catalogs of several moments."""

    def __init__(self, folder, empty_catalog, at) -> None:
        self.folder, self.at, self.topic = folder, at, Topic()
        self._empty, self._sent, self._made = empty_catalog, 0, []
        (folder / "c").mkdir()
        open_spool(folder / "c" / "spool.db", 1 << 30).close()
        self.catalog = self.new()

    def new(self):
        """Return an empty catalog."""
        return self._open(self._empty)

    def copy(self):
        """Return a copy of the catalog as it is now."""
        path = self.folder / "copy.db"
        source, target = sqlite3.connect(self.catalog.url.database), sqlite3.connect(path)
        with closing(source), closing(target):
            source.backup(target)
        return self._open(path)

    def send(self):
        """Let the collector ship a round of events."""
        numbers = range(self._sent, self._sent + ROUND)
        self._sent += ROUND
        events = [
            run_event("COMPLETE", self.at(1, one), run=f"r{one:02}", outputs=[f"t{one:02}"])
            for one in numbers
        ]
        spool(self.folder / "c" / "spool.db", events, received_at=self.at(12))
        given = {"topic": "t", "collector": "c", "clock": lambda: self.at(12)}
        shipper = Shipper(self.folder / "c", self.topic, **given)
        while shipper.step():
            continue

    def heartbeat(self):
        """Add a record without an event to each partition."""
        record = Record(kind=HEARTBEAT, collector="c", received_at=to_micros(self.at(12)))
        for records in self.topic.partitions:
            records.append((headers_of(record), b""))

    def land(self, engine):
        """Land the content of the topic, as a pipeline that starts."""
        settings = KafkaLog(bootstrap="b", topic="t")
        given = {"offsets": self.topic, "read": self.topic.read_plan, "most_bytes": 1 << 20}
        source = TopicLog(settings, lambda: self.at(12), **given)
        own = {"limits": BatchLimits(ROWS, 1 << 20), "clock": lambda: self.at(12), "source": source}
        BatchLanding(engine, SharedPaths(data_dir=self.folder), **own).work_off()

    def expire(self):
        """Delete all records of the topic."""
        self.topic.first = [len(records) for records in self.topic.partitions]

    def compact(self):
        """Join all folders, and delete the joined ones."""
        writer = writer_of(self.catalog, self.folder)
        assert compact(writer, to_micros(self.at(12)))
        assert delete_hidden(writer, self.at(13)) > 1

    def bodies(self, engine):
        """Return the bodies that readers of the lake see, sorted."""
        writer = writer_of(engine, self.folder)
        found = read_events(writer.lake, visible(writer)).to_table(columns=["body"])
        return sorted(found["body"].to_pylist())

    def sent(self):
        """Return the bodies of all events that were sent, sorted."""
        return sorted(one.body for one in self.topic.records() if one.is_event)

    def close(self):
        """Close the catalogs."""
        for engine in self._made:
            engine.dispose()

    def _open(self, path):
        folder = self.folder / f"catalog-{len(self._made)}"
        folder.mkdir()
        shutil.copy(path, folder / "catalog.db")
        self._made.append(open_catalog(catalog_url(folder)))
        return self._made[-1]


@pytest.fixture
def estate(tmp_path, empty_catalog, at):
    """Make one without an event."""
    made = Estate(tmp_path, empty_catalog, at)
    yield made
    made.close()


def check(estate, again):
    """Compare a restored catalog with the one that was lost."""
    assert contents(again, but=BUT) == contents(estate.catalog, but=BUT)
    assert rows(again, POSITIONS) == rows(estate.catalog, POSITIONS)
    assert rows(again, "SELECT count(*) FROM event") == [(estate._sent,)]  # noqa: SLF001
    assert estate.bodies(again) == estate.sent()


_SHORT = (
    "tests/slis/stream/kafka/test_topic_restored.py::test_a_restored_catalog_gets_each_event_once"
)
# Each value of each parameter, and each pair of the first two; the other half are repetitions.
_IN_SHORT = {(2, False, 1), (2, True, 2), (4, False, 3), (4, True, 0)}


def _restores():
    for one in itertools.product([2, _ROUNDS], [False, True], range(_ROUNDS)):
        expires_after, is_compacted, rounds = one
        name = f"{expires_after}-{'compacted' if is_compacted else 'batches'}-{rounds}"
        marks = [] if one in _IN_SHORT else [pytest.mark.nightly(short=_SHORT)]
        yield pytest.param(*one, id=name, marks=marks)


@pytest.mark.parametrize(("expires_after", "is_compacted", "rounds"), _restores())
def test_a_restored_catalog_gets_each_event_once(estate, rounds, is_compacted, expires_after):
    """Restore a copy of each moment, behind which the topic has deleted some events or all."""
    copy = estate.new()
    for number in range(1, _ROUNDS + 1):
        estate.send()
        estate.heartbeat()
        estate.land(estate.catalog)
        if number == rounds:
            copy = estate.copy()
        if number == expires_after:
            estate.expire()
    if is_compacted:
        estate.compact()
    estate.send()
    estate.land(estate.catalog)
    with capture_logs() as logged:
        estate.land(copy)

    check(estate, copy)
    assert not [one for one in logged if one["event"] in {"events_missing", "events_not_restored"}]


def test_an_interrupted_restore_continues(estate, monkeypatch):
    """Fail in the middle of a compacted folder, of which a part has landed."""
    estate.send()
    estate.land(estate.catalog)
    copy = estate.copy()
    for _ in range(2):
        estate.send()
        estate.land(estate.catalog)
    estate.compact()
    estate.expire()
    works, left = LakeReplay._land_events, [True, True]  # noqa: SLF001 - as `setattr` below

    def dying(*given: object, **named: object):
        if not left:
            raise OSError(5, "Input/output error")
        left.pop()
        works(*given, **named)

    with monkeypatch.context() as patch:
        patch.setattr(LakeReplay, "_land_events", dying)
        with pytest.raises(WaitError, match="Input/output"):
            estate.land(copy)
    assert rows(copy, "SELECT count(*) FROM event") == [(ROUND + 2 * ROWS,)]
    estate.land(copy)

    check(estate, copy)


def test_a_window_that_is_sent_again_after_a_restore_lands_once(estate):
    """Recognize its records by the lake: the topic has deleted the first ones."""
    estate.send()
    estate.land(estate.catalog)
    estate.expire()
    again = estate.new()
    estate.land(again)
    for records in estate.topic.partitions:
        records.extend(list(records))
    estate.land(again)
    estate.land(estate.catalog)

    assert rows(again, "SELECT sum(events), sum(duplicates) FROM batch") == [(ROUND, 0)]
    assert rows(again, POSITIONS) == rows(estate.catalog, POSITIONS)
    assert len(estate.bodies(again)) == ROUND


@pytest.mark.parametrize("lost", ["folder", "position"])
def test_a_folder_that_does_not_follow_is_not_landed(estate, lost):
    """Log that folders behind it are left out, and count what the topic has deleted as missing."""
    for _ in range(2):
        estate.send()
        estate.land(estate.catalog)
    writer = writer_of(estate.catalog, estate.folder)
    first = visible(writer)[0].batch
    if lost == "folder":
        writer.lake.delete(first)
    else:
        writer.lake.filesystem.delete_file(f"{first}/_position.json")
    estate.expire()
    again = estate.new()
    with capture_logs() as logged:
        estate.land(again)

    assert [one["next_seq"] for one in logged if one["event"] == "events_not_restored"] == [1]
    assert rows(again, "SELECT count(*) FROM event") == [(0,)]


def test_another_topic_of_the_same_name_takes_nothing_from_the_lake(estate):
    """Land what the new topic has, from its beginning."""
    estate.send()
    estate.land(estate.catalog)
    estate.topic.topic_id = "b2"
    estate.topic.first = [1] * len(estate.topic.partitions)
    again = estate.new()
    estate.land(again)

    left = sum(max(0, len(records) - 1) for records in estate.topic.partitions)
    assert rows(again, "SELECT count(*) FROM event") == [(left,)]

"""Topic as the log: the same facts as from a spool, each batch with its position."""

import json
from contextlib import closing, suppress
from unittest.mock import Mock

import pytest
from sqlalchemy import text

from collector.shipper.shipper import Shipper
from collector.spool_file import open_spool
from lineage.catalog.engine import exclusive_transaction, write_transaction
from lineage.input_log.records import GOODBYE, HEARTBEAT, Record, headers_of
from lineage.input_log.settings import KafkaLog
from lineage.process.clock import to_micros
from slis.settings import SharedPaths
from slis.stream.kafka import portion as portions
from slis.stream.kafka.log import TopicLog
from slis.stream.kafka.plan import PartitionPosition
from slis.stream.kafka.range_reader import RangeResult
from slis.stream.kafka.store import move_position, read_positions, store_reports
from slis.stream.landing import BatchLanding, WaitError
from slis.stream.log.input_log import LogMismatchError, Portion
from slis.stream.log.spool_log import SpoolLog
from slis.stream.log.spool_reader import BatchLimits
from slis.stream.merge import merge as merging
from slis.stream.merge.merge import LogRange, MergeResult, RangeMismatchError
from tests.fakes.topic import Topic
from tests.slis.stream.merge.test_exactly_once import contents
from tests.slis.stream.spools import rows, run_event, spool, work_off

EVENTS = 8
POSITIONS = "SELECT partition, next_offset FROM log_position ORDER BY 1"
COUNTED = "SELECT count(*) FROM batch UNION ALL SELECT count(*) FROM log_position"
SECOND = 1_000_000


def run_events(at):
    """Return eight runs, of which each wrote a dataset."""
    return [
        run_event("COMPLETE", at(1, number), run=f"r{number:02}", outputs=[f"t{number:02}"])
        for number in range(1, EVENTS + 1)
    ]


@pytest.fixture
def topic(tmp_path, at):
    """Fill a topic by two shippers: eight events, and a heartbeat each."""
    topic = Topic()
    for place, name in enumerate(("c-0", "c-1")):
        folder = tmp_path / name
        folder.mkdir()
        open_spool(folder / "spool.db", 1 << 30).close()
        events = run_events(at)[place::2]
        with closing(open_spool(folder / "spool.db", 1 << 30)) as connection:
            now = to_micros(at(12))
            connection.execute("INSERT INTO heartbeat VALUES (1, ?)", (now,))
        spool(folder / "spool.db", events, received_at=at(12))
        given = {"topic": "t", "collector": name, "clock": lambda: at(12)}
        shipper = Shipper(folder, topic, **given)
        while shipper.step():
            continue
    return topic


@pytest.fixture
def source(topic, at):
    """Return the topic as the pipeline's log."""
    settings = KafkaLog(bootstrap="b", topic="t")
    given = {"offsets": topic, "read": topic.read_plan, "most_bytes": 1 << 20}
    return TopicLog(settings, lambda: at(12), **given)


@pytest.fixture
def landing(embedded, tmp_path, at, source):
    """Land the topic in a catalog on SQLite."""
    given = {"limits": BatchLimits(100, 1 << 20), "clock": lambda: at(12), "source": source}
    return BatchLanding(embedded, SharedPaths(data_dir=tmp_path), **given)


def ends(topic):
    return [(number, len(records)) for number, records in enumerate(topic.partitions)]


def test_a_topic_has_the_facts_of_a_spool(landing, embedded, other, at, topic):
    """Compare all tables but those of the log itself."""
    landing.work_off()
    engine, folder = other
    spool(folder / "spool.db", run_events(at), received_at=at(12))
    work_off(engine, folder, at(12))

    of_log = ("batch", "reader_cursor", "log_position", "log_collector")
    assert contents(embedded, but=of_log) == contents(engine, but=of_log)
    assert rows(embedded, POSITIONS) == ends(topic)
    assert rows(embedded, "SELECT collector FROM log_collector ORDER BY 1") == [("c-0",), ("c-1",)]
    assert not landing.step()


@pytest.fixture
def other(empty_catalog, tmp_path):
    """Make another catalog on SQLite, in a folder of its own."""
    import shutil  # noqa: PLC0415 - for this one test

    from lineage.catalog.engine import catalog_url, open_catalog  # noqa: PLC0415 - as above

    folder = tmp_path / "other"
    folder.mkdir()
    shutil.copy(empty_catalog, folder)
    engine = open_catalog(catalog_url(folder))
    yield engine, folder
    engine.dispose()


@pytest.mark.parametrize("place", [merging, portions], ids=["batch", "position"])
def test_a_batch_and_its_position_are_there_together_or_not(
    landing, embedded, monkeypatch, topic, place
):
    """Fail in one of the two: the batch is repeated, and its events are there once."""
    name = {merging: "record_batch", portions: "move_position"}[place]
    works, failures = getattr(place, name), [OSError(5, "Input/output error")]

    def dying(*given: object, **named: object):
        works(*given, **named)
        if failures:
            raise failures.pop()

    monkeypatch.setattr(place, name, dying)
    with pytest.raises(WaitError, match="Input/output"):
        landing.step()
    after_failure = rows(embedded, COUNTED)
    landing.work_off()

    assert after_failure == [(0,), (0,)]
    assert rows(embedded, POSITIONS) == ends(topic)
    assert rows(embedded, "SELECT sum(events), sum(duplicates) FROM batch") == [(EVENTS, 0)]


def test_a_second_pipeline_is_stopped_by_the_position(landing, embedded):
    """Stop the second one: both have read the same records, and would double them."""
    portion = landing._next()  # noqa: SLF001 - between reading and landing
    portion.table()
    with exclusive_transaction(embedded) as connection:
        portion.store(connection)

    with (
        pytest.raises(RangeMismatchError, match="another pipeline landed"),
        exclusive_transaction(embedded) as connection,
    ):
        portion.store(connection)


class Plain(BatchLanding):
    """Landing without Spark, which fails for a batch with one of these runs."""

    bad: frozenset[str] = frozenset()

    def _land(self, portion: Portion) -> MergeResult | None:
        events = portion.table().to_pylist()
        runs = {json.loads(event["body"])["run"]["runId"] for event in events}
        if hit := self.bad & runs:
            raise ValueError(f"{min(hit)} fails")
        log_range = LogRange("spool", portion.last_seq, portion.after_seq, portion.last_seq)
        with exclusive_transaction(self._engine) as connection:
            portion.store(connection)
            merging.record_batch(connection, log_range, events=len(events), landed_at=1)
            merging.advance_cursor(connection, portion.last_seq)
        return MergeResult(events=len(events))


def test_the_position_moves_from_what_was_read_and_no_other_place(catalog):
    """Compare and set, on both databases."""
    taken = RangeResult(1, 7, 1, 2, 0, None, {"c": ("0-0", ["run:1:ab"])})

    def move_from(before):
        with exclusive_transaction(catalog) as connection:
            move_position(connection, "t", taken, before=before, end=5)

    with pytest.raises(RangeMismatchError):
        move_from(3)
    move_from(None)
    for wrong in (None, 6):
        with pytest.raises(RangeMismatchError):
            move_from(wrong)
    move_from(7)
    with catalog.connect() as connection:
        found = read_positions(connection, "t")
    assert found == {1: PartitionPosition(7, taken.windows)}
    assert rows(catalog, "SELECT end_offset FROM log_position") == [(7,)]


@pytest.mark.parametrize("bad", [["r01"], ["r03", "r04"], ["r02", "r05", "r08"]], ids=str)
def test_events_that_fail_are_set_aside_while_others_come(  # noqa: PLR0913, PLR0917 - fixtures
    embedded, tmp_path, source, topic, at, bad
):
    """Halve by offsets: each good event lands once, and so do those that came meanwhile."""
    given = {"limits": BatchLimits(100, 1 << 20), "clock": lambda: at(12), "source": source}
    landing = Plain(embedded, SharedPaths(data_dir=tmp_path), **given)
    landing.bad, landing._batches = frozenset(bad), Mock()  # noqa: SLF001 - the control event
    later = [Record(kind=HEARTBEAT, collector="c-9", received_at=1) for _ in range(40)]
    tries = 0
    while later or not is_read(embedded, topic):
        tries += 1
        assert tries < 300
        if later:  # records that come while a range is halved
            topic.partitions[0].append((headers_of(later.pop()), b""))
        with suppress(ValueError):
            landing.step()

    assert rows(embedded, "SELECT run_id FROM event_set_aside ORDER BY 1") == [(b,) for b in bad]
    assert rows(embedded, "SELECT sum(events) FROM batch") == [(EVENTS,)]


def is_read(embedded, topic):
    """Return whether the position is at the end of each partition."""
    return rows(embedded, POSITIONS) == ends(topic)


def test_records_that_the_topic_deleted_unread_are_counted(landing, embedded, topic, at):
    """Count them as failed events, and make their time a gap: nothing is silent."""
    landing.work_off()
    [(_, position), *_] = rows(embedded, POSITIONS)
    late = Record(kind=HEARTBEAT, collector="c-0", received_at=to_micros(at(13)))
    topic.partitions[0] += [(headers_of(late), b"")] * 5
    topic.first[0] = position + 4
    landing.work_off()

    causes = "SELECT stage, cause, events FROM error_count"
    assert rows(embedded, causes) == [("pipeline", "log_expired", 4)]
    gaps = rows(embedded, "SELECT started_at, ended_at FROM ingestion_gap")
    assert gaps == [(to_micros(at(12)), to_micros(at(13)))]
    assert rows(embedded, POSITIONS)[0] == (0, position + 5)


def test_a_topic_that_was_created_again_stops_the_pipeline(landing, embedded, topic, source):
    """Name the problem, also where the new topic has as many records: they would be skipped."""
    landing.work_off()
    topic.topic_id = "b2"

    assert "name a new topic in LINEWARD_LOG" in source.find_mismatch(embedded)
    with pytest.raises(LogMismatchError, match="with the id a1, but the topic now has the id b2"):
        landing.step()
    topic.topic_id = ""  # of a broker that is older than ids
    topic.partitions[1].clear()
    with pytest.raises(LogMismatchError, match="partition 1 of b/t up to offset"):
        landing.step()


def test_a_catalog_of_a_spool_needs_consent_for_a_topic(embedded, source, tmp_path):
    """Name the setting by which the operator agrees, in both directions."""
    spool_log = SpoolLog(SharedPaths(data_dir=tmp_path), "kafka")
    with write_transaction(embedded) as connection:
        merging.advance_cursor(connection, 7)
    of_older_release = source.find_mismatch(embedded)
    source.adopt(embedded)
    (tmp_path / "shipped.json").touch()

    assert "LINEWARD_LOG_REPLACES=spool" in of_older_release
    assert source.find_mismatch(embedded) is None
    unasked = SpoolLog(SharedPaths(data_dir=tmp_path)).find_mismatch(embedded)
    assert "LINEWARD_LOG_REPLACES=kafka" in unasked
    assert "shipped.json says that a shipper has read" in spool_log.find_mismatch(embedded)


def test_records_without_an_event_move_the_position_alone(landing, embedded, topic, at):
    """Start no batch and no Spark job for each heartbeat."""
    landing.work_off()
    batches = rows(embedded, "SELECT count(*) FROM batch")
    record = Record(kind=HEARTBEAT, collector="c-0", received_at=to_micros(at(12, 1)))
    topic.partitions[2].append((headers_of(record), b""))

    assert landing.step()
    assert rows(embedded, POSITIONS) == ends(topic)
    assert rows(embedded, "SELECT count(*) FROM batch") == batches


def test_rejected_bodies_are_counted_once_with_their_batch(landing, embedded, topic, at):
    """Count a record that was sent again once, and one of another producer by its own cause."""
    rejected = Record(
        kind="rejected",
        collector="c-0",
        received_at=to_micros(at(12)),
        origin="http",
        seq=4,
        window="w",
        reason="invalid",
        count=3,
    )
    topic.partitions[0] += [(headers_of(rejected), b"x")] * 2 + [([], b"{}")]
    landing.work_off()

    causes = "SELECT stage, cause, origin, events FROM error_count ORDER BY 2"
    assert rows(embedded, causes) == [
        ("collector", "foreign", "live", 1),
        ("collector", "invalid", "live", 3),
    ]


def test_the_backlog_is_that_of_the_oldest_partition(landing, embedded, source, at):
    """Return None once all is landed."""
    before = source.backlog_since(embedded)
    landing.work_off()

    assert (before, source.backlog_since(embedded)) == (at(12), None)


def test_events_may_wait_in_the_spool_of_a_late_shipper(landing, embedded, source, at):
    """Return its heartbeat as the backlog until a gap covers the time since then."""
    landing.work_off()
    late = to_micros(at(11))
    with write_transaction(embedded) as connection:
        report = Record(kind=HEARTBEAT, collector="c-2", received_at=late)
        store_reports(connection, [report], late)
    before = source.backlog_since(embedded)
    source.copy_gaps(embedded, to_micros(at(12)))

    assert (before, source.backlog_since(embedded)) == (at(11), None)
    assert rows(embedded, "SELECT * FROM ingestion_gap") == [(late, None)]


def test_evaluations_go_on_while_kafka_does_not_answer(landing, embedded, source, topic, at):
    """Take Kafka's last answer for the time since which events may wait there."""
    landing.work_off()
    heartbeats(embedded, heartbeat("a", 0))
    topic.is_away = True

    assert source.backlog_since(embedded) == at(12)
    assert not source.copy_gaps(embedded, to_micros(at(12)))
    assert source.find_mismatch(embedded) is None
    with pytest.raises(WaitError, match="does not answer"):
        landing.step()


def heartbeats(embedded, *records: Record):
    with write_transaction(embedded) as connection:
        store_reports(connection, records, records[0].received_at)


def heartbeat(collector, at, kind=HEARTBEAT):
    return Record(kind=kind, collector=collector, received_at=at * SECOND)


def test_the_silence_of_each_collector_is_a_gap_of_its_own(embedded, source, topic):
    """Keep one open while another ends; a goodbye is no silence."""
    for records in topic.partitions:
        records.clear()
    gaps = "SELECT started_at / 1000000, ended_at FROM ingestion_gap ORDER BY 1"
    heartbeats(
        embedded,
        heartbeat("a", 100),
        heartbeat("b", 110),
        heartbeat("c", 120),
        heartbeat("c", 121, GOODBYE),
    )

    assert source.copy_gaps(embedded, 145 * SECOND)
    assert rows(embedded, gaps) == [(100, None), (110, None)]
    heartbeats(embedded, heartbeat("b", 150))
    assert source.copy_gaps(embedded, 155 * SECOND)
    assert rows(embedded, gaps) == [(100, None)]
    assert not source.copy_gaps(embedded, 160 * SECOND)


@pytest.mark.parametrize("name", ["b", "c"])
def test_the_goodbye_of_the_last_collector_opens_a_gap(embedded, source, topic, name):
    """Open a gap at it, and end the gap where that collector or another one begins."""
    for records in topic.partitions:
        records.clear()
    gaps = "SELECT started_at / 1000000, ended_at / 1000000 FROM ingestion_gap ORDER BY 1"
    heartbeats(embedded, heartbeat("a", 100), heartbeat("b", 110), heartbeat("a", 120, GOODBYE))
    heartbeats(embedded, heartbeat("b", 130, GOODBYE))
    source.copy_gaps(embedded, 200 * SECOND)
    while_none_runs = rows(embedded, gaps)
    heartbeats(embedded, heartbeat(name, 3_000))
    source.copy_gaps(embedded, 3_005 * SECOND)

    assert while_none_runs == [(130, None)]
    assert rows(embedded, gaps) == [(130, 3_000)]
    assert rows(embedded, "SELECT collector FROM log_collector") == [(name,)]


def test_the_ends_of_partitions_are_noted_while_nothing_lands(landing, embedded, source, topic, at):
    """Note them for the service: it shows what waits behind a pipeline that stands still."""
    landing.work_off()
    topic.partitions[1] += [([], b"")] * 4
    source.copy_gaps(embedded, to_micros(at(12)))

    left = "SELECT sum(end_offset - next_offset) FROM log_position"
    assert rows(embedded, left) == [(4,)]


def test_a_gap_that_a_collector_reports_ends_the_open_one(embedded):
    """Find it by its beginning, which is the last heartbeat."""
    with write_transaction(embedded) as connection:
        connection.execute(text("INSERT INTO ingestion_gap VALUES (5, NULL)"))
        gap = Record(kind="gap", collector="a", received_at=5, ended_at=9)
        store_reports(connection, [gap], None)

    assert rows(embedded, "SELECT * FROM ingestion_gap") == [(5, 9)]


def test_bytes_bound_a_batch_by_the_size_of_the_events_before(source, topic, embedded):
    """Plan no more records than the bytes have room for."""
    for records in topic.partitions:
        records.clear()
    for number in range(20):
        body = json.dumps({"x": "a" * 10_000}).encode()
        large = Record(kind="run", collector="c", received_at=1, seq=number, body=body)
        topic.partitions[1].append((headers_of(large), body))

    planned = []
    for _ in range(2):
        portion = source.read_next(embedded, lambda _: BatchLimits(100, 30_000))
        portion.table()
        planned.append((portion.count, portion.events))

    assert planned == [(7, 2), (2, 2)]

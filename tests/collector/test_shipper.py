"""Path from a spool to Kafka: the position follows acknowledgements, and nothing is lost."""

import hashlib
import os
import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from collector.cursors import read_cursors
from collector.settings import CollectorLocation, read_collector_settings
from collector.shipper import __main__ as roles
from collector.shipper import metrics
from collector.shipper import shipper as shippers
from collector.shipper import window as windows
from collector.shipper.__main__ import ShipperRole
from collector.shipper.position import ShippedPosition, read_position
from collector.shipper.producing import NotShippedError, ProducerFailedError, kafka_key
from collector.shipper.shipper import Shipper
from collector.spool_file import open_spool
from lineage.input_log.records import Record, headers_of, read_record
from lineage.input_log.settings import read_log
from lineage.process.clock import from_micros, to_micros
from lineage.process.environment import InvalidSettingError
from tests.fakes.topic import Topic
from tests.service.commandline import lineward
from tests.service.ingest.ship.written import event

SECOND = 1_000_000
EVENTS = 9
KAFKA = {"LINEWARD_LOG": "kafka://a:9092,b:9092/lineage"}


@pytest.fixture
def spool(tmp_path):
    """Make the tables of a collector's spool, with nine events and a heartbeat."""
    with closing(open_spool(tmp_path / "spool.db", 1 << 30)) as connection:
        for number in range(EVENTS):
            body = event(number)
            row = (hashlib.sha256(body).digest(), number * SECOND, "http", "run", body)
            connection.execute(
                "INSERT INTO event (body_hash, received_at, origin, kind, body)"
                " VALUES (?, ?, ?, ?, ?)",
                row,
            )
        connection.execute("INSERT INTO heartbeat VALUES (1, ?)", (60 * SECOND,))
        yield connection


@pytest.fixture
def topic():
    """Make an empty topic of three partitions."""
    return Topic()


@pytest.fixture
def shipper(tmp_path, spool, topic, at, monkeypatch):
    """Make shippers of windows of four events."""
    del spool
    monkeypatch.setattr(windows, "MOST_RECORDS", 4)

    def start():
        return Shipper(tmp_path, topic, topic="t", collector="c-0", clock=lambda: at(12))

    return start


def ship(shipper):
    """Ship until nothing waits; return how many windows failed."""
    failures = 0
    while True:
        try:
            if not shipper.step():
                return failures
        except NotShippedError:
            failures += 1


def bodies(topic):
    return sorted(one.body for one in topic.records() if one.is_event)


def test_every_event_is_moved_on_with_its_origin_time_and_number(shipper, topic):
    """Send the body to the byte as the value, and in headers what the pipeline needs beside it."""
    ship(shipper())

    found = sorted((one for one in topic.records() if one.is_event), key=lambda one: one.seq)
    assert [one.body for one in found] == [event(number) for number in range(EVENTS)]
    assert [one.received_at for one in found] == [number * SECOND for number in range(EVENTS)]
    assert {(one.collector, one.origin, one.kind) for one in found} == {("c-0", "http", "run")}


def test_the_position_moves_only_behind_what_kafka_acknowledged(shipper, topic, tmp_path):
    """Send a window without its reports again as a whole: Kafka may lack any part of it."""
    one = shipper()
    one.step()
    topic.dies_after = 2
    with pytest.raises(NotShippedError):
        one.step()
    at_failure = read_position(tmp_path)
    topic.dies_after = None
    ship(one)

    assert at_failure == ShippedPosition(seq=4)
    assert set(bodies(topic)) == {event(number) for number in range(EVENTS)}
    assert len(bodies(topic)) == EVENTS + 2  # which the pipeline drops: they are of one window
    assert {one.window for one in topic.records() if one.seq in {5, 6}} == {"4-0"}


def test_a_killed_shipper_continues_at_its_position(shipper, topic):
    """Send nothing again that was acknowledged."""
    shipper().step()
    ship(shipper())

    assert bodies(topic) == sorted(event(number) for number in range(EVENTS))


def test_the_spool_keeps_events_that_were_not_shipped(shipper, tmp_path):
    """Ask the file, not a catalog, for which a collector would need a password."""
    place = CollectorLocation(
        data_dir=tmp_path, log="kafka://a:9092/t", catalog_url="postgresql://nobody"
    )
    before = read_cursors(place)
    shipper().step()

    assert before is None
    assert read_cursors(place) == (4, 4, 4)


def test_rejected_bodies_gaps_and_heartbeats_travel_too(shipper, topic, spool):
    """Count by its number what was pruned before it was shipped."""
    shipper().step()
    rejected = "INSERT INTO rejected VALUES (?, 5, 'invalid', '$', 'no', X'00', 1, 'http')"
    for number in (3, 4):
        spool.execute(rejected, (number,))
    spool.execute("INSERT INTO gap VALUES (7, 9)")
    ship(shipper())

    sent = {(r.kind, r.reason, r.count, r.ended_at) for r in topic.records() if not r.is_event}
    assert sent == {
        ("rejected", "invalid", 1, 0),
        ("rejected", "pruned", 2, 0),
        ("gap", "", 1, 9),
        ("heartbeat", "", 1, 0),
    }


def test_rejected_bodies_of_another_spool_are_not_counted_again(shipper, topic, spool, tmp_path):
    """Begin at the spool's end without a position, and where the spool was recreated."""
    rejected = "INSERT INTO rejected VALUES (?, 5, 'invalid', '$', 'no', X'00', 1, 'http')"
    spool.execute(rejected, (5_000,))
    ship(shipper())
    of_lost_position = [one for one in topic.records() if one.kind == "rejected"]
    spool.execute("DELETE FROM rejected")
    spool.execute("UPDATE sqlite_sequence SET seq = 2 WHERE name = 'rejected'")
    ship(shipper())
    spool.execute(rejected, (3,))
    ship(shipper())

    assert of_lost_position == []
    assert [one.seq for one in topic.records() if one.kind == "rejected"] == [3]
    assert read_position(tmp_path).rejected == 3


def test_an_event_that_the_topic_does_not_take_holds_up_nothing(
    shipper, topic, tmp_path, monkeypatch
):
    """Keep it in a file, and count it as rejected."""
    monkeypatch.setattr(shippers, "_HEAD_BYTES", 10)
    topic.most_bytes = len(event(0)) - 1
    assert ship(shipper()) == 0
    kept = sorted(path.read_bytes() for path in (tmp_path / "unshipped").iterdir())

    assert kept == sorted(event(number) for number in range(EVENTS))
    assert [one.reason for one in topic.records() if one.seq] == ["too_large_for_log"] * EVENTS


def test_an_event_in_a_file_outlives_a_power_cut(shipper, topic, tmp_path, monkeypatch):
    """Sync file and folders before the position: the spool may delete the event behind it."""
    monkeypatch.setattr(shippers, "_HEAD_BYTES", 10)
    topic.most_bytes = len(event(0)) - 1
    synced, sync = [], os.fsync

    def note(fd):
        path = Path(f"/proc/self/fd/{fd}").readlink()
        synced.append(str(path.relative_to(tmp_path)))
        sync(fd)

    one = shipper()
    one.step()
    monkeypatch.setattr(os, "fsync", note)
    one.step()

    assert synced[:3] == [".", "unshipped/run-5.new", "unshipped"]
    assert synced.index("shipped.new") > synced.index("unshipped/run-8.new")


def test_a_client_that_failed_for_good_ends_the_role(shipper, topic, tmp_path):
    """Start again: the client fails at each record from then on."""
    topic.is_fatal = True
    role = ShipperRole(shipper())

    with pytest.raises(ProducerFailedError):
        role.run(threading.Event())
    assert read_position(tmp_path).seq == 0


def test_the_shipper_waits_for_a_spool_behind_its_position(shipper, spool):
    """Wait until the collector numbers it again, as its new events would be skipped."""
    ship(shipper())
    spool.execute("DELETE FROM event")
    spool.execute("UPDATE sqlite_sequence SET seq = 2 WHERE name = 'event'")

    assert not shipper().is_ready()


def test_a_collector_with_a_goodbye_reports_no_gap_at_its_return(shipper, topic, spool):
    """Send neither its old heartbeat nor the gap that begins there: others listened."""
    one = shipper()
    ship(one)
    one.say_goodbye()
    ship(shipper())
    before_return = [one.kind for one in topic.records() if not one.is_event]
    spool.execute("INSERT INTO gap VALUES (?, ?), (70, 80)", (60 * SECOND, 90 * SECOND))
    spool.execute("UPDATE heartbeat SET beat_at = ?", (90 * SECOND,))
    ship(shipper())

    assert sorted(before_return) == ["goodbye", "heartbeat"]
    gaps = [(one.received_at, one.ended_at) for one in topic.records() if one.kind == "gap"]
    assert gaps == [(70, 80)]
    heartbeats = [one.received_at // SECOND for one in topic.records() if one.kind == "heartbeat"]
    assert sorted(heartbeats) == [4, 90]


def test_a_heartbeat_is_not_ahead_of_the_events_that_wait(shipper, topic, monkeypatch, at):
    """Say up to when all events are in the topic: the collector goes on while Kafka is away."""
    one = shipper()
    for minute in range(3):
        monkeypatch.setattr(one, "_clock", lambda minute=minute: at(12, minute))
        one.step()
    heartbeats = [one.received_at // SECOND for one in topic.records() if one.kind == "heartbeat"]

    assert heartbeats == [
        4,
        8,
        60,
    ]  # windows of four events, one a second; the collector's is at 60


@pytest.mark.parametrize(
    ("kind", "body", "key"),
    [
        ("run", event(3), b"0195f1c2-7f8e-7000-8000-000000000003"),
        ("job", b'{"job": {"namespace": "n", "name": "j"}}', b"n:j"),
        ("run", b'{"run": 7}', b"c-0"),
        ("heartbeat", b"", b"c-0"),
    ],
)
def test_events_of_a_run_stay_together(kind, body, key):
    """Choose the key by the run's id, by the job, or by the collector."""
    assert kafka_key(Record(kind=kind, collector="c-0", received_at=1, body=body)) == key


@pytest.mark.parametrize(
    "headers",
    [
        None,
        [],
        [("kind", b"run")],
        [("kind", b"run"), ("collector", b"c"), ("received_at", b"soon")],
        [("kind", b"run"), ("collector", b"c\0"), ("received_at", b"1")],
        [("kind", b"run"), ("collector", b"c"), ("received_at", b"9" * 30)],
        [("kind", b"other"), ("collector", b"c"), ("received_at", b"1")],
    ],
)
def test_a_record_of_another_producer_is_no_event(headers):
    """Count it as rejected; it ends no batch."""
    assert read_record(headers, b"{}").kind == "foreign"


def test_a_record_is_read_as_it_was_written():
    """Read all fields; those without a value need no header."""
    full = Record(
        kind="gap",
        collector="c",
        received_at=1,
        seq=2,
        window="1-1",
        reason="r",
        count=3,
        ended_at=4,
        origin="file",
        body=b"x",
    )
    least = Record(kind="run", collector="c", received_at=1)

    assert [read_record(headers_of(one), one.body) for one in (full, least)] == [full, least]
    assert len(headers_of(least)) == 3


def test_the_clients_have_the_settings_of_the_guarantees(tmp_path):
    """Take TLS and SASL from the operator's file, and reject these settings in it."""
    file = tmp_path / "client.properties"
    file.write_text("security.protocol=SASL_SSL\n")
    log = read_log(KAFKA | {"LINEWARD_LOG_CONFIG_FILE": str(file)})
    given = log.producer_settings()
    file.write_text("acks=0\n")

    assert (given["acks"], given["enable.idempotence"]) == ("all", "true")
    assert given["security.protocol"] == "SASL_SSL"
    assert given["bootstrap.servers"] == "a:9092,b:9092"
    with pytest.raises(InvalidSettingError, match="acks is not yours to set"):
        log.producer_settings()


@pytest.mark.parametrize(
    "url",
    [
        "kafka",
        "kafka://a:9092",
        "kafka:///t",
        "http://a/t",
        "kafka://a/t/u",
        "kafka://u:p@a/t",
        "kafka://a/t?u:p",
    ],
)
def test_a_wrong_log_is_named_without_a_password(url):
    """Name the variable and what is expected."""
    with pytest.raises(InvalidSettingError, match="LINEWARD_LOG: ") as raised:
        read_log({"LINEWARD_LOG": url})

    assert "u:p" not in str(raised.value)


def test_a_forwarder_and_a_shipper_do_not_share_a_spool(monkeypatch):
    """Reject both: the shipper lets events go that the forwarder has not read."""
    monkeypatch.setenv("LINEWARD_LOG", "kafka://a:9092/t")
    monkeypatch.setenv("LINEWARD_MARQUEZ_URL", "http://127.0.0.1:5000")

    with pytest.raises(InvalidSettingError, match="LINEWARD_MARQUEZ_FORWARD=false"):
        read_collector_settings()


def test_a_stopped_shipper_ships_the_rest_and_a_goodbye(shipper, topic):
    """Send it once heartbeats have ended, as an event behind it would wait unseen."""
    stopping = threading.Event()
    stopping.set()
    ShipperRole(shipper()).run(stopping)

    assert bodies(topic) == sorted(event(number) for number in range(EVENTS))
    assert [one.kind for one in topic.records()].count("goodbye") == 1


def test_a_shipper_stopped_beside_a_running_collector_sends_no_goodbye(
    shipper, topic, spool, at, monkeypatch
):
    """Leave the collector's silence a gap until the shipper is back."""
    monkeypatch.setattr(roles, "_DRAIN_SECONDS", 1.0)
    spool.execute("UPDATE heartbeat SET beat_at = ?", (to_micros(at(12)) - SECOND,))
    stopping = threading.Event()
    stopping.set()
    ShipperRole(shipper()).run(stopping)

    assert len(bodies(topic)) == EVENTS
    assert "goodbye" not in [one.kind for one in topic.records()]


def test_the_shipper_reports_its_state_and_waiting_events(shipper, tmp_path):
    """Measure when asked: an attempt waits for Kafka for half a minute."""
    one = shipper()
    metrics.measure(one.backlog, lambda: from_micros(60 * SECOND))
    port = metrics.serve("127.0.0.1", 0, lambda: "the topic is gone")

    with pytest.raises(HTTPError) as raised:
        urlopen(f"http://127.0.0.1:{port}/readyz")
    assert (raised.value.code, raised.value.read()) == (503, b"the topic is gone\n")
    assert urlopen(f"http://127.0.0.1:{port}/livez").status == 200
    text = urlopen(f"http://127.0.0.1:{port}/metrics").read().decode()
    assert "\nlineage_shipper_waiting_events 9.0\n" in text
    assert "\nlineage_shipper_lag_seconds 60.0\n" in text
    (tmp_path / "spool.db").unlink()
    assert "waiting_events NaN" in urlopen(f"http://127.0.0.1:{port}/metrics").read().decode()


def test_the_shipper_waits_for_a_missing_spool(tmp_path, topic, at):
    """Wait for the collector, which makes it."""
    given = {"topic": "t", "collector": "c", "clock": lambda: at(12)}
    assert not Shipper(tmp_path, topic, **given).is_ready()
    sqlite3.connect(tmp_path / "spool.db").close()
    assert not Shipper(tmp_path, topic, **given).is_ready()


def test_a_shipper_without_a_topic_or_with_a_wrong_setting_ends_without_its_value(tmp_path):
    """Exit with 2 and the name of the variable; a password is in no log."""
    file = tmp_path / "client.properties"
    file.write_text("sasl.passwort=sesame\n")
    variables = {"LINEWARD_LOG": "kafka://127.0.0.1:1/t", "LINEWARD_LOG_CONFIG_FILE": str(file)}
    wrong, unset = lineward("shipper", **variables), lineward("shipper")

    assert (wrong.returncode, unset.returncode) == (2, 2)
    assert "sesame" not in wrong.stdout + wrong.stderr
    assert "LINEWARD_LOG: the shipper needs kafka://HOST:PORT/TOPIC" in unset.stderr

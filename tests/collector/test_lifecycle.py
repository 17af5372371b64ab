"""Start, failed start, stop and restart of the collector."""

import os
import signal
import socket
import subprocess
import sys
import threading

import httpx
import pytest

from tests.collector.bodies import new_body
from tests.collector.running import ROOT, read_to_end
from tests.suite.waiting import is_running, until


def test_a_stop_finishes_requests_in_flight(start):
    """Answer 201 to requests from before the stop, and exit with 0."""
    collector = start().ready()
    raw = new_body()
    head = b"POST /api/v1/lineage HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(
        raw
    )
    with socket.create_connection(("127.0.0.1", collector.port), timeout=30) as connection:
        connection.sendall(head + raw[:50])
        collector.post(new_body())  # served after the half, so that the half has been received
        collector.process.send_signal(signal.SIGTERM)
        connection.sendall(raw[50:])
        answer = read_to_end(connection)

    assert answer.startswith(b"HTTP/1.1 201 ")
    assert collector.stop() == 0
    assert (raw,) in collector.rows("SELECT body FROM event")
    assert "Traceback" not in collector.log()


def test_a_stop_under_load_loses_no_answered_event(start):
    """Store every answered event of ten senders that post until the collector is gone."""
    collector = start().ready()
    acked: list[bytes] = []
    gone = threading.Event()

    def send():
        while not gone.is_set():
            raw = new_body()
            try:
                if collector.post(raw).status_code == 201:
                    acked.append(raw)
            except httpx.TransportError:
                return

    senders = [threading.Thread(target=send) for _ in range(10)]
    for sender in senders:
        sender.start()
    until(lambda: len(acked) > 100)
    status = collector.stop()
    gone.set()
    for sender in senders:
        sender.join(60)

    assert status == 0
    assert set(acked) <= {row[0] for row in collector.rows("SELECT body FROM event")}
    assert "Traceback" not in collector.log()


def test_a_stop_does_not_wait_for_an_idle_connection(start):
    """Exit at once, without the ten seconds of a keep-alive."""
    collector = start().ready()
    with socket.create_connection(("127.0.0.1", collector.port)) as connection:
        connection.sendall(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
        connection.recv(1_000)
        assert collector.stop() == 0


def test_a_collector_that_drains_is_not_ready_and_closes_connections(start):
    """Answer on after SIGTERM: events are stored, and each answer sends its client elsewhere."""
    collector = start(drain_seconds=300).ready()
    assert "connection" not in collector.post(new_body()).headers
    collector.process.send_signal(signal.SIGTERM)
    answer = until(lambda: _not_ready(collector))

    assert answer.json()["detail"] == "the collector is shutting down: connect to another one"
    stored = [collector.post(new_body()), collector.post(b"[]", "/api/v1/lineage/batch")]
    rejected = [collector.post(b"{}"), collector.post(b"", "/nowhere")]
    assert [each.status_code for each in stored + rejected] == [201, 204, 400, 404]
    assert {each.headers["connection"] for each in (answer, *stored, *rejected)} == {"close"}
    assert httpx.get(f"{collector.url}/livez").status_code == 200
    assert len(collector.rows("SELECT seq FROM event")) == 2


def _not_ready(collector):
    answer = httpx.get(f"{collector.url}/readyz")
    return answer if answer.status_code == 503 else None


def test_a_collector_ends_after_its_drain(start):
    """Exit with status 0."""
    collector = start(drain_seconds=0.5).ready()

    assert collector.stop() == 0
    assert '"seconds": 0.5, "event": "collector_draining"' in collector.log()


@pytest.mark.parametrize(("body", "status"), [(None, 201), (b"{}", 400)])
def test_spark_s_listener_takes_a_new_connection_for_each_event(start, body, status):
    """Close its connection with each answer, and leave those of other clients."""
    collector = start().ready()
    headers = {"User-Agent": "Apache-HttpClient/5.4 (Java/17)"}
    url = f"{collector.url}/api/v1/lineage"
    answer = httpx.post(url, content=body or new_body(), headers=headers)

    assert (answer.status_code, answer.headers["connection"]) == (status, "close")
    assert "connection" not in httpx.post(url, content=new_body()).headers


def test_the_worker_ends_when_its_parent_was_killed(start):
    """Free the port, so that a second collector can start."""
    collector = start().ready()
    worker = collector.worker()

    collector.process.kill()
    collector.process.wait(30)

    until(lambda: not is_running(worker))
    again = start(port=collector.port).ready()
    assert again.post(new_body()).status_code == 201


def test_a_sender_between_two_workers_waits_and_is_served(start):
    """Accept the connection on the socket, which outlives the worker, and answer it later."""
    collector = start().ready()
    worker = collector.worker()

    os.kill(worker, signal.SIGKILL)
    until(lambda: not is_running(worker))
    statuses = [collector.post(new_body()).status_code for _ in range(3)]

    assert statuses == [201] * 3
    assert collector.worker() not in {0, worker}


def test_a_spool_that_does_not_open_is_a_503(start, tmp_path):
    """Open the port, acknowledge nothing, and recover without a restart."""
    (tmp_path / "data" / "spool.db").mkdir(parents=True)
    collector = start()

    answer = collector.post(new_body())
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")

    (tmp_path / "data" / "spool.db").rmdir()
    until(lambda: collector.post(new_body()).status_code == 201)


def _sentence(collector):
    """Return exit status and log of a collector that logs one line."""
    status = collector.process.wait(30)
    lines = collector.log().splitlines()
    assert len(lines) == 1, lines
    return status, lines[0]


def test_a_port_in_use_ends_it_with_one_sentence(start):
    """Exit with 2, which means that a restart does not help."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        collector = start(port=other.getsockname()[1])
        status, text = _sentence(collector)

    assert status == 2
    assert "collector_cannot_start" in text
    assert "in use" in text


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"max_depth": "deep"}, "LINEWARD_COLLECTOR_MAX_DEPTH: expected a number, got 'deep'"),
        ({"max_body_bytes": 0}, "LINEWARD_COLLECTOR_MAX_BODY_BYTES: expected 1 or more"),
        ({"read_deadline_seconds": -1}, "LINEWARD_COLLECTOR_READ_DEADLINE_SECONDS"),
        ({"drain_seconds": 301}, "LINEWARD_COLLECTOR_DRAIN_SECONDS: expected 0 to 300"),
        ({"max_bodybytes": 1}, "LINEWARD_COLLECTOR_MAX_BODYBYTES: no such setting"),
        ({"token_file": "/nowhere/token"}, "LINEWARD_COLLECTOR_TOKEN_FILE"),
        ({"token_file": "/dev/null"}, "LINEWARD_COLLECTOR_TOKEN_FILE"),
        ({"port": 65_536}, "LINEWARD_COLLECTOR_PORT"),
    ],
)
def test_a_wrong_setting_ends_it_with_one_sentence(start, settings, words):
    """Name the variable, instead of using a default as a bound."""
    status, text = _sentence(start(**({"port": 1} | settings)))

    assert status == 2
    assert words in text


def test_collector_starts_without_spark_or_a_catalog():
    """Start quickly, without imports that take seconds."""
    code = "import sys, collector.__main__, collector.worker; print(*sys.modules)"

    loaded = subprocess.check_output([sys.executable, "-c", code], cwd=ROOT, text=True).split()

    assert not {"pyspark", "sqlalchemy", "pandas", "pyarrow"} & set(loaded)

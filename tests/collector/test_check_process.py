"""Large bodies are checked in another process, which may end without harm."""

import fcntl
import os
import signal
import termios
import threading
from array import array
from contextlib import contextmanager
from pathlib import Path

import pytest

from collector import elements, events
from collector.check_process import CheckProcess
from collector.errors import CheckFailedError, RejectedRequestError
from collector.settings import Limits
from tests.collector.bodies import body, new_body, run_event, with_facet
from tests.collector.running import descendants, runs
from tests.suite.waiting import until

LINEAGE = "/api/v1/lineage"
BATCH = "/api/v1/lineage/batch"
LIMITS = Limits(max_depth=20, max_values=1_000, max_name_bytes=100)
FILLING = '"' + "x" * 300_000 + '"'
LARGE = with_facet(FILLING)


@pytest.fixture
def process():
    checking = CheckProcess(LIMITS)
    yield checking
    checking.close()


def _result(parse, raw):
    try:
        return parse(raw)
    except RejectedRequestError as error:
        return type(error), error.detail, error.path, error.reason


@pytest.mark.parametrize(
    "raw",
    [
        LARGE,
        with_facet('{"a":1,"a":2}'),
        with_facet("[" * 30 + "]" * 30),
        with_facet("[" * 30),
        with_facet("[" + "1," * 300_000 + "1]"),
        body(run_event(job={"namespace": "é" * 51, "name": "b"})),
        body(run_event(run={"runId": "nightly-42"})),
        LARGE[:-1],
        b"\xff",
        b"",
    ],
    ids=range(10),
)
def test_the_process_and_the_worker_judge_alike(process, raw):
    """Return the same event or the same error, with the limits of the worker."""
    expected = _result(lambda given: events.parse_event(given, LIMITS), raw)

    assert _result(process.parse, raw) == expected
    assert _result(process.parse, raw) == expected


@pytest.mark.parametrize(
    "raw", [b"[1, x, [2]]", b"[]", b"{}", b"[" + b"y," * 200_000 + b"1]"], ids=range(4)
)
def test_the_process_takes_a_batch_apart(process, raw):
    """Return what the worker would find."""
    assert process.elements(raw) == elements.elements_of(raw)


def test_another_process_follows_one_that_ended(process):
    """Fail the body of which nothing is known, and check the next one."""
    process.parse(LARGE)
    (checker,) = _checkers()
    os.kill(checker, signal.SIGSTOP)
    asking = threading.Thread(target=lambda: failed.append(_result(process.parse, LARGE)))
    failed = []
    asking.start()
    until(lambda: _has_request(checker))
    os.kill(checker, signal.SIGKILL)
    asking.join(60)

    assert [each[0] for each in failed] == [CheckFailedError]
    assert process.parse(LARGE) == events.parse_event(LARGE, LIMITS)


def _checkers():
    return [pid for pid in descendants(os.getpid()) if runs(pid, b"collector.checker")]


@contextmanager
def _posting(collector, raw, path):
    """Post in another thread, until the checker of large bodies, which is stopped, has it."""
    answers = []
    thread = threading.Thread(target=lambda: answers.append(collector.post(raw, path)))
    checker = collector.checker()
    assert checker
    os.kill(checker, signal.SIGSTOP)
    thread.start()
    until(lambda: _has_request(checker))
    yield answers
    thread.join(60)


def _has_request(pid):
    waiting = array("i", [0])
    with Path(f"/proc/{pid}/fd/0").open("rb", buffering=0) as requests:
        fcntl.ioctl(requests, termios.FIONREAD, waiting)
    return waiting[0] > 0


@pytest.fixture
def collector(start):
    """Start a collector that has checked a large event already."""
    running = start().ready()
    assert running.post(LARGE).status_code == 201
    return running


def test_small_events_are_stored_while_a_large_one_is_checked(collector):
    """Answer others while the process that checks does not go on."""
    with _posting(collector, LARGE + b" ", LINEAGE) as answers:
        small = [collector.post(new_body()).status_code for _ in range(20)]
        assert answers == []
        os.kill(collector.checker(), signal.SIGCONT)

    assert small == [201] * 20
    assert [answer.status_code for answer in answers] == [201]
    assert collector.rows("SELECT count(*) FROM event") == [(22,)]


@pytest.mark.parametrize(
    ("path", "raw", "stored"),
    [
        (LINEAGE, LARGE + b" ", 201),
        (BATCH, b"[" + new_body() + b"," + LARGE + b" ]", 204),
        (BATCH, b"[" + new_body() + b", x, " + LARGE + b"]", 200),
    ],
    ids=["event", "batch", "broken batch"],
)
def test_a_sender_is_asked_to_send_again_what_was_not_checked(collector, path, raw, stored):
    """Store and reject nothing of it: only the sender has it."""
    before = collector.rows("SELECT count(*) FROM event")

    with _posting(collector, raw, path) as answers:
        os.kill(collector.checker(), signal.SIGKILL)

    (answer,) = answers
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    assert answer.json()["error"] == "CheckFailedError"
    assert collector.rows("SELECT count(*) FROM event") == before
    assert collector.rows("SELECT count(*) FROM rejected") == [(0,)]
    assert collector.post(raw, path).status_code == stored


def test_the_process_ends_with_its_worker(collector):
    """Leave no process behind, however often a worker is killed."""
    checker = collector.checker()

    os.kill(collector.worker(), signal.SIGKILL)

    until(lambda: not Path(f"/proc/{checker}").exists())


def test_no_process_is_started_for_small_bodies(start):
    """Use no memory for what few producers send."""
    running = start().ready()

    assert running.post(new_body()).status_code == 201
    assert running.checker() == 0

import logging
import os
import random
import re
import signal
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from lab.demo.spark import Transport, file, http, listener_conf
from tests.e2e.running import Up
from tests.suite.waiting import until

pytestmark = pytest.mark.e2e

IDLE_KILLS, RANDOM_KILLS = 3, 10
_CLIENT_LOG = Path(__file__).with_name("listener_log.properties")
_POST = re.compile(r"headers: \S+ >> POST /api/v1/lineage ")
_ANSWER = re.compile(r"headers: \S+ << HTTP/1\.1 (\d+)")
_LONGEST_PAUSE_SECONDS = 0.5
_log = logging.getLogger(__name__)


def test_killing_the_collector_costs_the_real_listener_no_acked_event(
    up: Up, tmp_path: Path, submit
):
    """Kill with -9 repeatedly: no connection is refused, no idle event and no acked one is lost."""
    lake = tmp_path / "lake"
    lake.mkdir()
    sent = lake / "sent.jsonl"
    conf = listener_conf(_send_and_record(up.collector, sent))
    conf["spark.driver.extraJavaOptions"] = f"-Dlog4j2.configurationFile={_CLIENT_LOG.as_uri()}"
    job = submit("many_writes", lake, conf)

    for turn in range(IDLE_KILLS):
        (lake / f"turn_{turn}").touch()
        until(lambda turn=turn: _count_completed(sent) > turn)
        # Stored is not yet answered: the listener is idle once each event has an answer.
        until(lambda: _count_accepted(lake / "many_writes.log") == len(_lines(sent)))
        _kill_worker(up)
    (lake / "free").touch()
    for _ in range(RANDOM_KILLS):
        before = len(_lines(sent))
        until(lambda before=before: len(_lines(sent)) >= before + 3)
        # Anywhere between two events, or in the middle of one.
        time.sleep(random.uniform(0, _LONGEST_PAUSE_SECONDS))  # noqa: S311 - no secret
        _kill_worker(up)
    (lake / "enough").touch()
    assert job.wait(120) == 0
    until(up.accepts)

    log = (lake / "many_writes.log").read_text()
    assert "connection refused" not in log.lower()
    events, answers, stored = _lines(sent), _answers(log), _read_stored(up)
    assert len(answers) == len(events), "the listener sends each event once, in the file's order"
    acked = {event for event, status in zip(events, answers, strict=True) if status == "201"}
    lost = set(events) - stored
    kills = IDLE_KILLS + RANDOM_KILLS
    figures = f"{kills} kills: {len(events)} sent, {len(acked)} acked, {len(lost)} lost"
    _log.info(figures)
    assert acked <= stored, figures
    # One event can be in flight at a kill; the listener never repeats it.
    assert len(lost) <= RANDOM_KILLS, figures
    assert answers[: _count_idle(events)] == ["201"] * _count_idle(events), "nothing was in flight"
    until(lambda: _deaths(up) >= kills)
    assert _deaths(up) == kills


def _send_and_record(url: str, path: Path) -> Transport:
    """Send to a collector and, whatever the result, write into a file."""
    settings = {"type": "composite", "continueOnFailure": "true"}
    for name, transport in (("a", http(url)), ("b", file(path))):
        settings |= {f"transports.{name}.{key}": v for key, v in transport.settings.items()}
    return Transport(settings)


def _count_completed(sent: Path) -> int:
    """Return how many writes the listener has reported as ended."""
    return sum(_is_end(event) for event in _lines(sent))


def _is_end(event: bytes) -> bool:
    return b'"eventType":"COMPLETE"' in event and b"numbers_" in event


def _count_idle(events: list[bytes]) -> int:
    """Return how many events were sent up to the first one after the last of the idle kills."""
    ends = [number for number, event in enumerate(events, start=1) if _is_end(event)]
    return ends[IDLE_KILLS - 1] + 1


def _kill_worker(up: Up) -> None:
    children = Path("/proc/{0}/task/{0}/children".format(up.role("collector")))
    worker = int(until(lambda: children.read_text().split())[0])
    os.kill(worker, signal.SIGKILL)
    until(lambda: str(worker) not in children.read_text().split())


def _lines(file: Path) -> list[bytes]:
    """Return the events that the listener built, in its order."""
    return file.read_bytes().splitlines() if file.exists() else []


def _answers(log: str) -> list[str | None]:
    """Return the status of each request, None for one without an answer."""
    answers: list[str | None] = []
    for line in log.splitlines():
        if _POST.search(line):
            answers.append(None)
        elif found := _ANSWER.search(line):
            answers[-1] = found[1]
    return answers


def _count_accepted(log: Path) -> int:
    """Return how many events the listener knows to be accepted."""
    return _answers(log.read_text()).count("201")


def _read_stored(up: Up) -> set[bytes]:
    with closing(sqlite3.connect(f"file:{up.data_dir}/spool.db?mode=ro", uri=True)) as spool:
        return {bytes(body) for (body,) in spool.execute("SELECT body FROM event")}


def _deaths(up: Up) -> int:
    log = (up.data_dir / "logs" / "collector.log").read_text()
    # A death is logged once a minute only; each new worker is logged.
    return log.count("collector_ready") - 1

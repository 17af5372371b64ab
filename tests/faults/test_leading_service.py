"""Check two real services on PostgreSQL: each page once, though leaders are paused and killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from sqlalchemy import select, text

from lineage.catalog import tables
from lineage.catalog.engine import writing
from lineage.clock import system_clock, to_micros
from tests.alerts.delivery.conftest import authority, pagerduty
from tests.alerts.watch.estate import MIDNIGHT, Estate
from tests.faults.chance import draw
from tests.service.commandline import environ
from tests.service.one_page.shop import KEY
from tests.service.waiting import until

__all__ = ["authority", "pagerduty"]

_SHORT = (
    "tests/service/one_page/test_two_services.py::"
    "test_a_leader_that_was_paused_while_it_sent_does_not_send_again"
)
pytestmark = [pytest.mark.faults, pytest.mark.nightly(short=_SHORT)]

_NAMES = ("one", "other")
_DATASETS = ("raw", "clicks", "orders")
_POLICY = """
owners:
  - {name: sales, pagerduty_key_file: sales.key}
"""
_LEADER = """
    SELECT holder FROM lease
    WHERE name = 'service' AND expires_at > extract(epoch FROM clock_timestamp()) * 1000000
"""
_MICROS = 1_000_000


class Services:
    """Two services, of which each can be paused, woken and killed.

    Attributes:
        estate: what they watch, evaluated each time that somebody looks for the leader.
    """

    def __init__(self, engine, pagerduty, folder: Path) -> None:
        """Start both."""
        self._engine, self._folder = engine, folder
        self.estate = Estate(engine)
        (folder / "lineward.yaml").write_text(_POLICY)
        (folder / "sales.key").write_text(KEY)
        self._settings = {
            "LINEWARD_CATALOG_URL": engine.url.render_as_string(hide_password=False),
            "LINEWARD_POLICY": str(folder / "lineward.yaml"),
            "LINEWARD_LEASE_SECONDS": "3",
            "LINEWARD_SERVICE_PORT": "0",
            "LINEWARD_METRICS_PORT": "0",
            "LINEWARD_DELIVERY_PAGERDUTY_URL": pagerduty.url,
            "LINEWARD_DELIVERY_PAGERDUTY_KEYS": str(folder),
            "LINEWARD_DELIVERY_PAGERDUTY_CA_FILE": str(pagerduty.write_authority(folder / "ca")),
            "LINEWARD_DELIVERY_TIMEOUT_SECONDS": "5",
        }
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        for name in _NAMES:
            self.start(name)

    def start(self, name: str) -> None:
        """Start a service of this name."""
        data = self._folder / name
        data.mkdir(exist_ok=True)
        own = {"LINEWARD_DATA_DIR": str(data), "LINEWARD_REPLICA": name}
        with (self._folder / f"{name}.log").open("ab") as log:
            command = [sys.executable, "-m", "service"]
            given = {"env": environ(**self._settings, **own), "stdout": log, "stderr": log}
            self._processes[name] = subprocess.Popen(command, **given)

    def signal(self, name: str, number: signal.Signals) -> None:
        """Send a signal to a service, and wait for its end where it is SIGKILL."""
        os.kill(self._processes[name].pid, number)
        if number == signal.SIGKILL:
            self._processes[name].wait(30)

    def leader(self, *, but: tuple[str, ...] = ()) -> str | None:
        """Return who leads now, unless it is one of these."""
        self.evaluate()
        with self._engine.connect() as connection:
            row = connection.execute(text(_LEADER)).one_or_none()
        return None if row is None or row.holder in but else str(row.holder)

    def evaluate(self) -> None:
        """Note an evaluation of now, as the pipeline does."""
        self.estate.evaluate(seconds_now())

    def logs(self) -> str:
        """Return what both have written."""
        return "\n".join((self._folder / f"{name}.log").read_text()[-3000:] for name in _NAMES)

    def stop(self) -> None:
        """End both."""
        for process in self._processes.values():
            process.kill()
            process.wait(30)


def seconds_now():
    """Return the time as the estate has it."""
    return (to_micros(system_clock()) - MIDNIGHT) / _MICROS


@pytest.fixture
def services(databases, pagerduty, tmp_path):
    """Start both on an empty catalog in PostgreSQL."""
    engine = databases.take()
    running = Services(engine, pagerduty, tmp_path)
    yield running
    running.stop()
    databases.give_back(engine)


def _incidents(engine):
    with engine.connect() as connection:
        rows = connection.execute(select(tables.incident)).all()
        events = connection.execute(select(tables.incident_event)).all()
    return rows, sorted((each.incident_id, each.what) for each in events)


def _fail(services, names):
    at = seconds_now()
    for name in names:
        services.estate.fail(name, at)
        services.estate.say(name, "bad", "job_failed", since=at)


def _heal(services, names):
    """Have each be written again."""
    table, now = tables.dataset_activity, to_micros(system_clock())
    for name in names:
        services.estate.say(name, "good", since=seconds_now())
        mine = table.update().where(table.c.last_job_name == f"make_{name}")
        with writing(services.estate.engine) as connection:
            connection.execute(mine.values(last_written_at=now))


def _resolved(pagerduty):
    return list(pagerduty.alerts.values()).count("resolved")


def _disturb(services, pagerduty, seen):
    """Pause the leader while it pages, kill the next one while it does, and wake the first."""
    pagerduty.stalled.clear()  # what is sent is taken, and not answered
    until(lambda: services.leader() and len(pagerduty.events) > seen, told=services.logs)
    first = services.leader()
    began = time.monotonic()
    services.signal(first, signal.SIGSTOP)
    taken = len(pagerduty.events)
    second = until(lambda: services.leader(but=(first,)), told=services.logs)
    sys.stdout.write(f"{first} paused: {second} leads after {time.monotonic() - began:.1f} s\n")
    until(lambda: services.evaluate() or len(pagerduty.events) > taken, told=services.logs)
    services.signal(second, signal.SIGKILL)
    pagerduty.stalled.set()
    services.signal(first, signal.SIGCONT)
    services.start(second)


def test_each_page_is_sent_once_though_leaders_are_paused_and_killed(services, pagerduty):
    """Take each page twice at least, open each alert once, and resolve each once."""
    rounds, engine = int(os.environ.get("LINEWARD_PART_KILLS", "1")), services.estate.engine
    chance = draw()
    until(services.leader, told=services.logs)
    for number in range(rounds):
        names = [f"{name}{number}" for name in _DATASETS]
        services.estate.add(*names, tier="critical")
        for name in names:
            services.estate.own(name, "sales")
        _fail(services, chance.sample(names, len(names)))
        pages = len(pagerduty.pages)
        _disturb(services, pagerduty, len(pagerduty.events))
        expected = pages + len(names)
        until(
            lambda expected=expected: services.evaluate() or len(pagerduty.pages) >= expected,
            told=services.logs,
        )
        _heal(services, names)
        until(
            lambda expected=expected: services.evaluate() or _resolved(pagerduty) >= expected,
            told=services.logs,
        )

    rows, events = _incidents(engine)
    numbers = sorted(each.incident_id for each in rows)
    assert len(numbers) == rounds * len(_DATASETS)
    assert sorted(pagerduty.pages) == [(KEY, number) for number in numbers]
    assert events == sorted((one, what) for one in numbers for what in ("opened", "resolved"))
    assert pagerduty.actions().count("trigger") > len(pagerduty.pages)

"""Helpers of the tests of the spool: a clock to move, a recording observer, and rows."""

import sqlite3
from datetime import UTC, datetime, timedelta

import msgspec

from collector.events import ValidEvent
from collector.settings import Limits
from collector.writes import WriteRequest
from tests.suite.waiting import until

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
OLD = Limits(keep_seconds=60)


class Hands(msgspec.Struct):
    """Clock that a test moves."""

    now: datetime = NOON

    def __call__(self) -> datetime:
        """Return the time."""
        return self.now

    def forward(self, seconds: float) -> None:
        """Let time pass."""
        self.now += timedelta(seconds=seconds)


class Outcomes:
    """Observer that records what the spool reports."""

    def __init__(self) -> None:
        self.groups = []
        self.stored = 0
        self.errors = []

    def committed(self, group, stored, seconds):
        """Record a commit, as `writes.Observer`."""
        assert seconds >= 0
        self.groups.append(len(group))
        self.stored += stored

    def failed(self, group, error):
        """Record a failure, as `writes.Observer`."""
        self.errors.append((len(group), error))


def events(spool, *bodies: bytes):
    rows = tuple(spool.event_row(ValidEvent("run", body, 0), "http") for body in bodies)
    return WriteRequest(rows, (), None)


def rows_of(tmp_path, sql):
    connection = sqlite3.connect(tmp_path / "spool.db")
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def wait_for_groups(outcomes, writes):
    until(lambda: sum(outcomes.groups) + sum(n for n, _ in outcomes.errors) >= writes)

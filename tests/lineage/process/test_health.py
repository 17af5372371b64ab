import socket

import pytest

from lineage.process import health
from lineage.process.clock import to_micros
from lineage.process.health import Health, Heartbeat, PartFailure
from service.runtime.child import Reports


@pytest.fixture
def reports():
    return Reports()


@pytest.fixture
def role(reports, monkeypatch, at):
    """Connect the role's end as by its environment; the clock stands still."""
    own = socket.socket(fileno=reports.descriptor).dup()
    monkeypatch.setenv(health.VARIABLE, str(own.detach()))
    role = Health(at)
    role.connect()
    return role


def test_a_failure_is_reported_with_its_attempts_and_start(role, reports, at):
    role.fail("stream", "first")
    role.fail("stream", "the\nsecond  time")

    assert reports.take()
    assert reports.newest.failures == [PartFailure("stream", to_micros(at()), 2, "the second time")]


def test_every_heartbeat_repeats_what_fails(role, reports):
    """Repeat failures in each datagram, so that a lost one costs nothing."""
    role.fail("stream", "no answer")
    reports.clear()
    role.beat()

    assert reports.take()
    assert [each.part for each in reports.newest.failures] == ["stream"]


def test_a_part_that_recovered_is_no_failure(role, reports):
    role.fail("stream", "no answer")
    role.fail("evaluation", "no memory")
    role.succeed("stream")

    reports.take()
    assert [each.part for each in reports.newest.failures] == ["evaluation"]


def test_a_part_that_has_worked_is_reported_with_the_next_heartbeat(role, reports):
    role.succeed("stream")
    role.beat()

    reports.take()
    assert reports.newest == Heartbeat(worked=["stream"])


def test_a_role_never_waits_for_a_supervisor_that_does_not_read(role):
    """Send a thousand reports, more than the kernel buffers; drop those without a receiver."""
    for _ in range(1_000):
        role.beat()


def test_a_role_without_a_supervisor_reports_to_nobody():
    alone = Health()
    alone.connect()
    alone.fail("stream", "no answer")

    assert alone.descriptor() is None

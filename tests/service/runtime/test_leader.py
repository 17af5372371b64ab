"""Leader among several services: begin, end and failures of its lease."""

from pathlib import Path

import pytest
from sqlalchemy import insert, select
from sqlalchemy.exc import OperationalError

from lineage.catalog import leases
from lineage.catalog.engine import catalog_url, write_transaction
from lineage.catalog.leases import leading
from lineage.catalog.tables import lease, meta
from lineage.lease_rules import LeaseLostError
from lineage.process.health import HEALTH
from service.runtime.leader import Leader, LeaderTasks, replica_name
from service.runtime.settings import Settings
from tests.lineage.catalog.database_clock import DatabaseClock
from tests.service.jobs import registry_of
from tests.suite.waiting import until

_LEASE_SECONDS = 10
_WITHIN_SECONDS = 15  # a new leader


class Replicas:
    """Services on one catalog, and the time of all of them."""

    def __init__(self, engine) -> None:
        self.engine = engine
        self.clock = DatabaseClock(engine)
        self.seconds = 0.0

    def start(self, name: str) -> Leader:
        """Start a service."""
        return Leader(name, _LEASE_SECONDS, lambda: self.seconds)

    def go(self, seconds: int, *running: Leader) -> None:
        """Advance the clock, with a turn of each running service a second."""
        for _ in range(seconds):
            self.seconds += 1
            self.clock.pass_(1)
            for leader in running:
                leader(self.engine)

    def led_since(self) -> int:
        """Return the time by the row of the lease, in seconds of this test."""
        with self.engine.connect() as connection:
            began = connection.scalar(select(lease.c.since)) or 0
        return round((began - self.clock.micros) / 1_000_000 + self.seconds)


@pytest.fixture
def replicas(embedded):
    """Make services of an embedded catalog."""
    return Replicas(embedded)


def test_a_leader_keeps_its_lease(replicas):
    """Renew the lease; let the other follow."""
    one, other = replicas.start("one"), replicas.start("other")
    replicas.go(120, one, other)

    assert (one.has_led_lately(), other.has_led_lately()) == (True, False)
    assert replicas.led_since() == 1


def test_another_leads_within_15_seconds_of_a_death(replicas):
    """Wait for the lease to expire, whenever the leader died."""
    one, other = replicas.start("one"), replicas.start("other")
    replicas.go(5, one, other)
    died_at = replicas.seconds
    replicas.go(_WITHIN_SECONDS, other)

    assert other.has_led_lately()
    assert died_at < replicas.led_since() <= died_at + _WITHIN_SECONDS


def test_a_leader_that_stops_hands_over_at_once(replicas):
    """Let another one lead in the second after SIGTERM."""
    one, other = replicas.start("one"), replicas.start("other")
    replicas.go(5, one, other)
    one.finish(replicas.engine)
    replicas.go(1, other)

    assert (one.has_led_lately(), other.has_led_lately()) == (False, True)


def test_a_service_that_restarts_leads_at_once(replicas):
    """Take its own lease again after a kill and a start on the same data."""
    replicas.go(5, replicas.start("one"))
    again = replicas.start("one")
    replicas.go(1, again)

    assert again.has_led_lately()


def test_two_services_of_one_name_do_not_take_turns(replicas):
    """Let the later one lead: only a process that starts takes a lease under its own name."""
    one = replicas.start("one")
    replicas.go(5, one)
    twin = replicas.start("one")
    replicas.go(60, one, twin)

    assert (one.has_led_lately(), twin.has_led_lately()) == (False, True)
    assert replicas.led_since() == 6


def test_a_paused_leader_that_wakes_leads_no_longer(replicas):
    """Stop it at the first message that it would send, before its next turn."""
    one, other = replicas.start("one"), replicas.start("other")
    replicas.go(5, one, other)
    fence = one.fence()
    assert fence is not None
    fence.confirm()
    replicas.go(_WITHIN_SECONDS, other)

    with pytest.raises(LeaseLostError):
        fence.confirm()
    assert (one.has_led_lately(), one.fence()) == (False, None)


def test_a_leader_that_was_paused_for_a_minute_leads_only_after_it_asked(replicas):
    """Export no metrics of the catalog beside the next leader, nor lose them if nobody led."""
    one = replicas.start("one")
    replicas.go(5, one)
    replicas.go(60)
    assert not one.has_led_lately()

    replicas.go(1, one)
    assert one.has_led_lately()


def test_a_pause_in_which_nobody_else_led_changes_nothing(replicas):
    """Renew the lease, which has expired, before the message is sent."""
    one = replicas.start("one")
    replicas.go(5, one)
    fence = one.fence()
    assert fence is not None
    replicas.go(600)
    fence.confirm()

    other = replicas.start("other")
    replicas.go(1, other)
    assert (one.has_led_lately(), other.has_led_lately()) == (True, False)


def test_an_earlier_epoch_is_over_though_the_service_leads_again(replicas):
    """End what began in it: it knows nothing of what another service did meanwhile."""
    one, other = replicas.start("one"), replicas.start("other")
    replicas.go(5, one, other)
    before = one.fence()
    assert before is not None
    replicas.go(_WITHIN_SECONDS, other)
    other.finish(replicas.engine)
    replicas.go(2, one)
    assert one.has_led_lately()

    with pytest.raises(LeaseLostError):
        before.confirm()
    with (
        pytest.raises(LeaseLostError),
        write_transaction(leading(replicas.engine, before)) as connection,
    ):
        connection.execute(insert(meta), {"name": "n", "value": "v"})


def test_a_catalog_that_is_locked_for_a_minute_ends_no_epoch(replicas, monkeypatch):
    """Go on while a merge has SQLite's write lock, and fail only when that lasts."""
    one = replicas.start("one")
    replicas.go(5, one)

    def fail(*_arguments: object):
        raise OperationalError("UPDATE lease", {}, Exception("database is locked"))

    with monkeypatch.context() as locked:
        locked.setattr(leases, "renew", fail)
        replicas.go(55, one)
        assert one.has_led_lately()
        with pytest.raises(OperationalError):
            replicas.go(10, one)
    replicas.go(1, one)

    assert one.has_led_lately()


def _job(url, leader, name, done):
    """Make a job of the leader that notes its name and how many runs came before this epoch."""

    def build():
        number = len(done)
        return [lambda _engine: done.append((name, number))]

    return registry_of(url, build, leader=leader)


def test_jobs_of_the_leader_are_its_own_and_built_again_in_each_epoch(replicas, tmp_path):
    """Run none of them as a follower; forget what was remembered when leading again."""
    done, url = [], catalog_url(tmp_path)
    one, other = replicas.start("one"), replicas.start("other")
    first, second = (
        _job(url, leader, name, done) for leader, name in ((one, "one"), (other, "other"))
    )

    def turn(leader=None):
        if leader is not None:
            replicas.go(1, leader)
        first.run("work")
        second.run("work")

    turn()
    assert done == []
    turn(one)
    turn(other)
    assert done == [("one", 0), ("one", 0)]
    for leaving, next_leader in ((one, other), (other, one)):  # and back, between two turns
        leaving.finish(replicas.engine)
        replicas.go(1, next_leader)
    turn()
    assert done[2:] == [("one", 2)]
    one.finish(replicas.engine)
    turn(other)
    assert done[3:] == [("other", 3)]


def test_works_that_cannot_be_built_are_built_at_the_next_run(replicas):
    """Raise each time until the build succeeds, in the same epoch."""
    leader, builds = replicas.start("one"), []
    replicas.go(5, leader)

    def build():
        builds.append(1)
        if len(builds) == 1:
            raise OSError("no policy")
        return [lambda _engine: None]

    tasks = LeaderTasks(leader, build)
    with pytest.raises(OSError, match="no policy"):
        tasks()

    assert len(tasks()) == 1


def _fail(_engine):
    raise ValueError("broken")


def _failing():
    return [each for each in HEALTH.failures() if each.part == "failing"]


def test_a_job_that_failed_is_no_failure_after_the_lead_is_lost(replicas, tmp_path):
    """Look at once, not in an hour: another replica runs the job now."""
    leader = replicas.start("one")
    often = {"every_seconds": 3_600, "first_seconds": 0}
    url, jobs = catalog_url(tmp_path), ("failing",)
    registry = registry_of(url, lambda: [_fail], jobs=jobs, leader=leader, **often)
    leader.on_loss = registry.run_leader_jobs
    replicas.go(1, leader)
    registry.start()
    try:
        until(_failing)
        replicas.go(_WITHIN_SECONDS, replicas.start("other"))
        replicas.go(1, leader)
        until(lambda: not _failing(), seconds=30)
    finally:
        registry.stop()


def test_a_follower_reports_no_failure_of_the_leader(replicas, tmp_path):
    """Drop what failed: it is another replica's now."""
    leader = replicas.start("one")
    registry = registry_of(catalog_url(tmp_path), lambda: [_fail], jobs=("failing",), leader=leader)
    replicas.go(1, leader)
    registry.run("work")
    assert _failing()
    leader.finish(replicas.engine)
    registry.run("work")

    assert not _failing()
    assert [(job.is_waiting, job.last_error) for job in registry.states()] == [(True, None)]


def test_a_registry_that_stops_has_its_works_finish(replicas, tmp_path):
    """Give the lease up at the end of its job."""
    leader = Leader("one", _LEASE_SECONDS)
    registry = registry_of(catalog_url(tmp_path), lambda: [leader], every_seconds=3_600)
    registry.start()
    registry.run("work")
    registry.stop()

    with replicas.engine.connect() as connection:
        row = connection.execute(select(lease.c.holder, lease.c.expires_at)).one()
    assert tuple(row) == ("one", 0)


def test_a_replica_is_named_by_its_host_and_folder():
    """Keep the name after a restart; take the name that a pod is given."""
    names = {replica_name(Settings(data_dir=Path(folder))) for folder in ("a", "b", "a")}

    assert len(names) == 2
    assert replica_name(Settings(replica="lineward-0")) == "lineward-0"

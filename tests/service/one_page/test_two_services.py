"""Pair of services on one catalog: each page once, also after a pause of the leader."""

import pytest

from alerts.notify.sender import Sender
from lineage.catalog import tables
from lineage.lease_rules import LeaseLostError
from service.runtime.leader import Leader, LeaderTasks
from tests.lineage.catalog.database_clock import DatabaseClock
from tests.service.one_page.shop import FINANCE, KEY, SALES, STEP, settle

_LEASE_SECONDS = 10
_TAKEOVER = 15


class Service:
    """Replica that leads if it can, and then does what the notifier does."""

    def __init__(self, estate, name) -> None:
        self._estate = estate
        self.leader = Leader(name, _LEASE_SECONDS, lambda: estate.shop.seconds)
        shop = estate.shop
        self._tasks = LeaderTasks(self.leader, lambda: shop.given.tasks(shop.clock))

    def turn(self):
        """Work for one second, until nothing is being sent; a lost lease ends the turn."""
        engine = self._estate.shop.engine
        self.leader(engine)
        tasks = self._tasks()
        for task in tasks:
            task(engine)
        if tasks:
            settle([task.task for task in tasks])


class TwoServices:
    """Shop with two notifiers, on one clock that is the database's too."""

    def __init__(self, shop) -> None:
        self.shop, self._clock = shop, DatabaseClock(shop.engine)
        self.one, self.other = Service(self, "one"), Service(self, "other")

    def go(self, seconds, *running: Service):
        """Advance the clock, with turns of the services that run."""
        for _ in range(0, seconds, STEP // 2):
            self.shop.clock.pass_(STEP // 2)
            self._clock.micros = self.shop.clock.micros
            self.shop.evaluate()
            for service in running:
                service.turn()


@pytest.fixture
def two(shop):
    """Start two, of which the first one leads."""
    made = TwoServices(shop)
    made.go(10, made.one, made.other)
    assert made.one.leader.has_led_lately()
    return made


def _pause_once(monkeypatch, method, sleep):
    """Have the sender's first call of this method for PagerDuty end only after `sleep`."""
    original, paused = getattr(Sender, method), []

    def call(sender, given):
        result = original(sender, given)
        if not paused and "pagerduty" in getattr(given, "channel", given):
            paused.append(method)
            sleep()
        return result

    monkeypatch.setattr(Sender, method, call)


def _texts(slack):
    return {
        each: [one["text"].split(":")[0] for one in slack.posts(each)] for each in (SALES, FINANCE)
    }


def test_two_services_send_each_message_once(two, slack, pagerduty):
    """Run both all the time; one of them works."""
    two.shop.fail()
    two.go(60, two.one, two.other)

    assert pagerduty.pages == [(KEY, two.shop.one.incident_id)]
    assert _texts(slack) == {SALES: ["Page"], FINANCE: ["Notice"]}
    assert two.shop.pending() == []


@pytest.mark.parametrize(("method", "times_sent"), [("_claim", 1), ("_send", 2)])
def test_a_leader_that_was_paused_while_it_sent_does_not_send_again(  # noqa: PLR0913, PLR0917
    two, slack, pagerduty, monkeypatch, method, times_sent
):
    """Send nothing after a pause behind the claim, and write nothing after one behind the message.

    Its message is in doubt, as after a crash: the next leader finds it with the provider.
    """
    rows = []

    def sleep():
        # Threads that send to other channels are of the same process: none of them may renew.
        with two.one.leader._lock:  # noqa: SLF001
            two.go(_TAKEOVER + 30, two.other)
        rows.append(two.shop.rows(tables.notification))

    _pause_once(monkeypatch, method, sleep)
    two.shop.fail()
    with pytest.raises(LeaseLostError):
        two.go(60, two.one)

    assert two.shop.rows(tables.notification) == rows[0]
    two.go(30, two.one, two.other)
    assert (two.one.leader.has_led_lately(), two.other.leader.has_led_lately()) == (False, True)
    assert pagerduty.actions() == ["trigger"] * times_sent
    assert pagerduty.pages == [(KEY, two.shop.one.incident_id)]
    assert _texts(slack) == {SALES: ["Page"], FINANCE: ["Notice"]}
    assert two.shop.pending() == []

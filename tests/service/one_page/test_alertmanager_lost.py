"""Alertmanager without its data after a kill: each owner is notified once."""

import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from alerts.notify import alertmanager_alerts
from alerts.notify.notification_state import NotificationState
from alerts.rules.alertmanager import Endpoints, render_alertmanager
from lineage.policy import load_policy
from tests.alerts.notify.alertmanager_calls import BURN
from tests.alerts.rules.alertmanagers import hasty, running
from tests.alerts.rules.promtool import PEOPLE
from tests.fakes.http_server import Answer, FakeServer, Request
from tests.service.one_page.shop import FINANCE, KEY, PLATFORM_KEY, SALES, Shop
from tests.suite.waiting import until

pytestmark = pytest.mark.faults


class Service(FakeServer):
    """Service whose real route answers what Alertmanager posts to a socket.

    Attributes:
        taken: how many calls were answered.
    """

    def __init__(self, shop: Shop, folder: Path) -> None:
        super().__init__()
        self.taken = 0
        self._shop, self._client = shop, shop.given.client(shop.clock)
        self._folder = folder

    def answer(self, request: Request) -> Answer:
        """Answer as the route does."""
        headers = {"Content-Type": request.headers.get("content-type", "")}
        answer = self._client.post(request.path, content=request.body, headers=headers)
        self.taken += 1
        return Answer(answer.status_code, answer.text)

    def alertmanager(self):
        """Start an Alertmanager with the rendered routes and the data of its folder."""
        url = f"http://{self.address}"
        places = Endpoints(service_url=url, token_file=None, watchdog_url=f"{url}/watchdog")
        policy = load_policy(self._shop.given.settings.policy)
        return running(
            self._folder, hasty(render_alertmanager(policy, people=PEOPLE, places=places))
        )

    def notify_until_received(self, alertmanager, *alerts):  # noqa: ANN002 - labels
        """Post Prometheus' alerts of incidents, or these, until Alertmanager's call is answered."""
        before = self.taken
        alertmanager.post(*(alerts or self._shop.firing()))
        until(lambda: self.taken > before)
        self._shop.go(10)

    def loses(self, alertmanager):
        """Kill it, and delete its data."""
        alertmanager.kill()
        shutil.rmtree(self._folder / "data")

    def notify_twice(self):
        """Post to one that dies with its data after its call, and to an empty one."""
        self._shop.open()
        with self.alertmanager() as first:
            self.notify_until_received(first)
            self.loses(first)
        with self.alertmanager() as second:
            assert second.states() == {}
            self.notify_until_received(second)


@pytest.fixture
def waiting(shop):
    """Return a shop that waits for Alertmanager's call before it notifies."""
    shop.restart(mode="alertmanager")
    return shop


@pytest.fixture
def service(waiting, tmp_path):
    """Start the service of that shop."""
    listening = Service(waiting, tmp_path)
    listening.start()
    yield listening
    listening.stop()


def _revisions(slack):
    return [len(slack.posts(each)) for each in (SALES, FINANCE)]


def test_an_alertmanager_without_its_data_notifies_nobody_twice(waiting, service, slack, pagerduty):
    """Send one trigger and one message each for the incident, and end both with it."""
    service.notify_twice()
    assert pagerduty.pages == [(KEY, waiting.one.incident_id)]
    assert pagerduty.actions() == ["trigger"]
    assert (_revisions(slack), slack.replies(SALES)) == ([1, 1], [])

    waiting.heal()
    waiting.go(60)
    assert waiting.one.state == "resolved"
    assert pagerduty.actions() == ["trigger", "resolve"]
    assert [each["text"].split(":")[0] for each in slack.posts(SALES)] == ["Resolved"]
    assert len(slack.replies(SALES)) == 1
    assert waiting.pending() == []


def test_nobody_is_notified_before_alertmanager_calls(waiting, service, slack, pagerduty):
    """Notify at once with the call, on which the other tests rely."""
    waiting.open()
    assert (slack.requests, pagerduty.requests) == ([], [])
    with service.alertmanager() as alertmanager:
        service.notify_until_received(alertmanager)

    assert len(pagerduty.pages) == 1


def test_an_alertmanager_that_never_comes_back_is_waited_for_two_minutes(
    waiting, service, slack, pagerduty
):
    """Notify after exactly two minutes if it dies before the fault, and not again on its return."""
    with service.alertmanager() as first:
        first.kill()
    waiting.open()
    since = (waiting.clock.micros - waiting.one.opened_at) // 1_000_000
    waiting.go(119 - since, step=1)
    assert pagerduty.requests == []
    waiting.go(1, step=1)
    assert pagerduty.pages == [(KEY, waiting.one.incident_id)]
    assert _revisions(slack) == [1, 1]

    with service.alertmanager() as second:
        service.notify_until_received(second)
    assert pagerduty.actions() == ["trigger"]
    assert _revisions(slack) == [1, 1]


def test_an_alert_whose_end_was_lost_is_notified_when_it_fires_again(service, pagerduty):
    """Keep the alert open, as no end was reported, and page nobody twice."""
    with service.alertmanager() as first:
        service.notify_until_received(first, BURN)
        service.loses(first)
    assert pagerduty.actions() == ["trigger"]
    with service.alertmanager() as second:
        second.post(BURN, endsAt=f"{datetime.now(UTC):%FT%TZ}")
        service.notify_until_received(second, BURN)

    assert pagerduty.actions() == ["trigger", "trigger"]
    assert [key for key, _ in pagerduty.pages] == [PLATFORM_KEY]


def test_without_the_two_minutes_nobody_is_notified(waiting, pagerduty, monkeypatch):
    """Run the mutant: never stop waiting for the call."""
    monkeypatch.setattr("alerts.notify.planning.start_or_hold", lambda *_: None)
    waiting.open()
    waiting.go(1_800, step=60)

    assert pagerduty.requests == []


def test_without_the_notified_state_each_call_is_a_message(service, slack, pagerduty, monkeypatch):
    """Run the mutant: forget what was sent; only the incident's key keeps it one page."""
    monkeypatch.setattr(NotificationState, "is_notified", property(lambda _: False))
    service.notify_twice()

    assert len(slack.replies(SALES)) == 1
    assert len(pagerduty.pages) == 1


def test_without_the_incident_s_key_an_alert_is_a_page_of_its_own(
    waiting, service, pagerduty, monkeypatch
):
    """Run the mutant: treat the alert of an incident as any other alert."""
    monkeypatch.setattr(alertmanager_alerts, "INCIDENT_ALERT_NAMES", {})
    service.notify_twice()
    waiting.go(120)

    assert len(pagerduty.pages) == 2

"""Alertmanager is killed and its data deleted: nobody is told twice, and nobody is left untold."""

import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from alerts.notify import alertmanager_alerts
from alerts.notify.notification_state import NotificationState
from alerts.rules.alertmanager import render_alertmanager
from alerts.rules.receivers import Endpoints
from lineage.policy import load
from tests.alerts.notify.alertmanager_calls import BURN
from tests.alerts.rules.alertmanagers import hasty, running
from tests.alerts.rules.promtool import PEOPLE
from tests.fakes.http_server import Answer, FakeServer, Request
from tests.service.one_page.shop import FINANCE, KEY, PLATFORM_KEY, SALES, Shop
from tests.service.waiting import until

pytestmark = pytest.mark.faults


class Service(FakeServer):
    """The service's own API on a socket: what Alertmanager posts is answered by the real route.

    Attributes:
        taken: how many calls were answered.
    """

    def __init__(self, shop: Shop, folder: Path) -> None:
        super().__init__()
        self.taken = 0
        self._shop, self._client = shop, shop.given.client(shop.clock)
        self._folder = folder

    def answer(self, request: Request) -> Answer:
        """As the route does."""
        headers = {"Content-Type": request.headers.get("content-type", "")}
        answer = self._client.post(request.path, content=request.body, headers=headers)
        self.taken += 1
        return Answer(answer.status_code, answer.text)

    def alertmanager(self):
        """One with the rendered routes, that knows what its data folder has."""
        url = f"http://{self.address}"
        places = Endpoints(service_url=url, token_file=None, watchdog_url=f"{url}/watchdog")
        policy = load(self._shop.given.settings.policy)
        return running(
            self._folder, hasty(render_alertmanager(policy, people=PEOPLE, places=places))
        )

    def hears(self, alertmanager, *alerts):  # noqa: ANN002 - labels
        """Prometheus' alerts of incidents, or these, until Alertmanager's call is answered."""
        before = self.taken
        alertmanager.post(*(alerts or self._shop.firing()))
        until(lambda: self.taken > before)
        self._shop.go(10)

    def loses(self, alertmanager):
        """It is killed, and what it kept deleted."""
        alertmanager.kill()
        shutil.rmtree(self._folder / "data")

    def hears_twice(self):
        """From one that dies with its data after its call, and from the empty one after it."""
        self._shop.open()
        with self.alertmanager() as first:
            self.hears(first)
            self.loses(first)
        with self.alertmanager() as second:
            assert second.states() == {}
            self.hears(second)


@pytest.fixture
def waiting(shop):
    """It waits for Alertmanager's call before it tells anybody."""
    shop.restart(mode="alertmanager")
    return shop


@pytest.fixture
def service(waiting, tmp_path):
    """Of that shop."""
    listening = Service(waiting, tmp_path)
    listening.start()
    yield listening
    listening.stop()


def _told(slack):
    return [len(slack.posts(each)) for each in (SALES, FINANCE)]


def test_an_alertmanager_that_forgot_has_nobody_told_twice(waiting, service, slack, pagerduty):
    """One incident, one trigger, one message each; and both end with it."""
    service.hears_twice()
    assert pagerduty.pages == [(KEY, waiting.one.incident_id)]
    assert pagerduty.actions() == ["trigger"]
    assert (_told(slack), slack.replies(SALES)) == ([1, 1], [])

    waiting.heal()
    waiting.go(60)
    assert waiting.one.state == "resolved"
    assert pagerduty.actions() == ["trigger", "resolve"]
    assert [each["text"].split(":")[0] for each in slack.posts(SALES)] == ["Resolved"]
    assert len(slack.replies(SALES)) == 1
    assert waiting.pending() == []


def test_nobody_is_told_before_it_calls(waiting, service, slack, pagerduty):
    """And at its call at once: the calls are what the rest of these tests turn on."""
    waiting.open()
    assert (slack.requests, pagerduty.requests) == ([], [])
    with service.alertmanager() as alertmanager:
        service.hears(alertmanager)

    assert len(pagerduty.pages) == 1


def test_an_alertmanager_that_never_comes_back_is_waited_for_two_minutes(
    waiting, service, slack, pagerduty
):
    """It dies before the fault: nobody a second before, all then, and not again when it is back."""
    with service.alertmanager() as first:
        first.kill()
    waiting.open()
    since = (waiting.clock.micros - waiting.one.opened_at) // 1_000_000
    waiting.go(119 - since, step=1)
    assert pagerduty.requests == []
    waiting.go(1, step=1)
    assert pagerduty.pages == [(KEY, waiting.one.incident_id)]
    assert _told(slack) == [1, 1]

    with service.alertmanager() as second:
        service.hears(second)
    assert pagerduty.actions() == ["trigger"]
    assert _told(slack) == [1, 1]


def test_an_alert_whose_end_was_lost_is_told_when_it_fires_anew(service, pagerduty):
    """An Alertmanager that never told of it tells of no end: it stands, and rings nobody twice."""
    with service.alertmanager() as first:
        service.hears(first, BURN)
        service.loses(first)
    assert pagerduty.actions() == ["trigger"]
    with service.alertmanager() as second:
        second.post(BURN, endsAt=f"{datetime.now(UTC):%FT%TZ}")
        service.hears(second, BURN)

    assert pagerduty.actions() == ["trigger", "trigger"]
    assert [key for key, _ in pagerduty.pages] == [PLATFORM_KEY]


def test_without_the_two_minutes_nobody_is_told(waiting, pagerduty, monkeypatch):
    """Mutant: half an hour later nobody knows."""
    monkeypatch.setattr("alerts.notify.planning.start_or_hold", lambda *_: None)
    waiting.open()
    waiting.go(1_800, step=60)

    assert pagerduty.requests == []


def test_without_what_was_told_each_call_is_a_message(service, slack, pagerduty, monkeypatch):
    """Mutant: it is not looked at what was said; the incident's key alone keeps it one page."""
    monkeypatch.setattr(NotificationState, "is_notified", property(lambda _: False))
    service.hears_twice()

    assert len(slack.replies(SALES)) == 1
    assert len(pagerduty.pages) == 1


def test_without_the_incident_s_key_an_alert_is_a_page_of_its_own(
    waiting, service, pagerduty, monkeypatch
):
    """Mutant: the alert of an incident is taken for any other."""
    monkeypatch.setattr(alertmanager_alerts, "NAMES", {})
    service.hears_twice()
    waiting.go(120)

    assert len(pagerduty.pages) == 2

"""Path from a fault to a phone: decisions, outbox, sender, and fakes."""

import random

import pytest
import trustme

from alerts.notify.channels.registry import build_channels
from alerts.notify.sender import Sender
from lineage.policy.model import EscalationStep, Owner, Policy
from lineage.process.clock import SECOND_MICROS, from_micros
from tests.alerts.incidents.scenarios import make_fault, root
from tests.alerts.notify.stored_router import StoredRouter
from tests.fakes.pagerduty import FakePagerDuty
from tests.fakes.settings import delivery_settings
from tests.fakes.slack import FakeSlack

POLICY = Policy(
    owners=(
        Owner("shop", "C0000001", "shop.key", (EscalationStep(15, owner="pay"),)),
        Owner("pay", "C0000002", "pay.key"),
    )
)
SHOP, PAY = "R" * 32, "S" * 32
PAGE = {"owner": "shop", "level": "page"}


class Phones:
    """Router, sender, and the people who are paged."""

    def __init__(self, engine, folder, slack, pagerduty) -> None:
        self.router = StoredRouter(engine, POLICY, tickets=None)
        self.second = 0
        self.slack, self.pagerduty = slack, pagerduty
        for name, key in (("shop.key", SHOP), ("pay.key", PAY)):
            (folder / name).write_text(key)
        settings = delivery_settings(slack, pagerduty, folder)
        ways = build_channels(settings, clock=self.clock)
        spread = random.Random(1)  # noqa: S311 - of the waits
        self.sender = Sender(engine, ways, settings, clock=self.clock, spread=spread)

    def clock(self):
        """Return the simulated time."""
        return from_micros(self.second * SECOND_MICROS)

    def at(self, second, *faults):  # noqa: ANN002
        """Route a step and a second, and send all that is due."""
        self.second = second
        self.router.at(second, *faults)
        self.router.route_due(second)
        self.sender.run()

    @property
    def page_count(self):
        """Return the keys in the order in which they paged."""
        return [key for key, _ in self.pagerduty.pages]


@pytest.fixture
def phones(embedded, tmp_path):
    """Build all of it over loopback."""
    pagerduty, slack = FakePagerDuty(trustme.CA()), FakeSlack()
    pagerduty.listen()
    slack.start()
    phones = Phones(embedded, tmp_path, slack, pagerduty)
    yield phones
    phones.sender.close()
    slack.stop()
    pagerduty.stop()


def test_fault_is_one_page(phones):
    """Page each person once while it opens, grows, moves, ends and comes back."""
    phones.at(0, make_fault("ab", **PAGE))
    phones.at(30, make_fault("ab", **PAGE))
    phones.at(60, make_fault("abc", "lost", **PAGE))
    assert phones.page_count == [SHOP]
    phones.at(930, make_fault("abc", "lost", **PAGE))
    assert phones.page_count == [SHOP, PAY]
    for second in (1_000, 1_045):
        phones.at(second)
    for second in (1_100, 1_130):
        phones.at(second, make_fault("ab", "lost", **PAGE))
    assert phones.page_count == [SHOP, PAY]
    for second in (1_200, 1_245):
        phones.at(second)

    assert set(phones.pagerduty.alerts.values()) == {"resolved"}
    assert [len(phones.slack.posts(each)) for each in ("C0000001", "C0000002")] == [1, 1]
    assert phones.slack.replies("C0000001")[-1].startswith("Resolved: after 20 min")


def test_merged_incidents_page_nobody_again(phones):
    """Keep the alert of the younger one for both, and resolve it with the older."""
    mine, other = make_fault("ab", **PAGE), make_fault("cd", owner="pay", level="page")
    for second, faults in ((0, (mine,)), (30, (mine,)), (40, (mine, other)), (70, (mine, other))):
        phones.at(second, *faults)
    one = make_fault("cdab", owner="pay", level="page", faults={root(name) for name in "cad"})
    phones.at(120, one)

    assert phones.page_count == [SHOP, PAY]
    assert sorted(phones.pagerduty.alerts.values()) == ["resolved", "triggered"]
    phones.at(200)
    phones.at(245)
    assert set(phones.pagerduty.alerts.values()) == {"resolved"}
    assert phones.page_count == [SHOP, PAY]

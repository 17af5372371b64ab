"""Notifications after the clock was ahead."""

import pytest

from tests.alerts.incidents.scenarios import make_fault
from tests.alerts.notify.stored_router import StoredRouter

NOON = 12 * 3_600
DAY = 86_400


@pytest.mark.parametrize("jump", [3_600, 30 * DAY, 3_650 * DAY])
def test_incident_that_waits_for_alertmanager_is_sent(embedded, jump):
    """Send it though it opened at a time that has not come."""
    router = StoredRouter(embedded, mode="alertmanager")
    router.opened(make_fault("a", owner="shop", level="page"), at=NOON + jump)
    assert router.outbox == []

    for second in range(0, 240, 30):
        router.route_due(NOON + second)

    assert [line.split()[1] for line in router.outbox if "opened" in line]


@pytest.mark.parametrize("jump", [8 * DAY, 30 * DAY, 3_650 * DAY])
def test_escalation_counts_from_now_after_a_clock_ahead(embedded, jump):
    """Take the next step when it is due."""
    router = StoredRouter(embedded)
    router.opened(make_fault("a", owner="shop", level="page"), at=NOON + jump)
    before = len(router.outbox)

    for minute in range(0, 180, 5):
        router.route_due(NOON + minute * 60)

    assert len(router.outbox) > before

"""Acceptance of a page, and the outcome without one."""

import pytest

from lineage.catalog import tables
from lineage.policy.model import Owner, Policy
from tests.alerts.detection.catalog_builder import micros
from tests.service.incidents.impact.pager import FAILED

ALL = ("C1", "sales.key")
QUARTER = 900
BAD, UNKNOWN, NO_SAMPLE = [(0.0, 1.0, 0.0)], [(0.0, 0.0, 1.0)], []


@pytest.mark.postgres_nightly
def test_a_policy_without_a_channel_is_unknown(pager):
    """Count it as unknown after 15 minutes, and never as good."""
    pager.policy = Policy()
    pager.fail(until=FAILED + QUARTER - 15)
    assert pager.sums == NO_SAMPLE

    pager.until(FAILED + 2 * QUARTER)

    assert (pager.clocks, pager.sums) == ([(0.0, None, "unknown")], UNKNOWN)


def test_a_webhook_is_no_acceptance(pager):
    """Ignore the message that a webhook gets as the fallback of a policy without owners."""
    pager.set(fallback="webhook:tickets")
    pager.policy = Policy()

    pager.fail(until=FAILED + QUARTER)

    sent = pager.ask("SELECT channel FROM notification WHERE state = 'sent'")
    assert sent == [("webhook:tickets",)]
    assert pager.sums == UNKNOWN


def _with_rejecting_channel(pager):
    """Reject all messages in the owner's only channel, and use a fallback."""
    pager.set(fallback="slack:C7")
    pager.policy = Policy(owners=(Owner("sales", slack="C1"),))
    pager.providers.rejecting = frozenset(["C1"])


def test_the_fallback_channel_s_copy_is_the_page(pager):
    """Count the copy in Slack, which has the link to the list."""
    _with_rejecting_channel(pager)

    pager.fail(until=FAILED + 90)

    assert pager.clocks == [(0.0, 75.0, "good")]


def test_the_alert_on_a_channel_is_no_page(pager):
    """Lose the copy, so that only the alert on the failing channel is sent."""
    _with_rejecting_channel(pager)
    mine = tables.notification.c.fallback_for.is_not(None)
    lost = tables.notification.update().where(mine).values(state="failed")
    send = pager.send

    def lossy():
        send()
        pager.change(lost)

    pager.send = lossy
    pager.fail(until=FAILED + QUARTER)

    sent = pager.ask(
        "SELECT incident_id FROM notification WHERE channel = 'slack:C7' AND state = 'sent'"
    )
    assert any(name.startswith("delivery-") for (name,) in sent)
    assert pager.sums == BAD


def test_a_fault_that_ended_before_its_notification_paged_nobody(pager):
    """Recover within the two minutes in which Alertmanager is waited for."""
    pager.set(mode="alertmanager")
    pager.fail(until=FAILED + 90)
    pager.recover()

    pager.until(FAILED + 2 * QUARTER)

    assert pager.one.state == "resolved"
    assert pager.ask("SELECT channel FROM notification") == []
    assert (pager.clocks, pager.sums) == ([(0.0, None, "left_out")], NO_SAMPLE)


@pytest.mark.postgres_nightly
def test_a_page_held_back_for_too_long_is_bad(pager):
    """Count it as bad if the setting makes it wait too long for Alertmanager."""
    pager.set(mode="alertmanager", release_seconds=3_600)

    pager.fail(until=FAILED + QUARTER)

    assert pager.sums == BAD


def test_a_page_that_replaced_another_is_accepted_by_its_id(pager):
    """Find the acceptance by the alert that paged first, which is the only id in PagerDuty."""
    pager.down(*ALL)
    pager.fail(until=FAILED + 90)
    incident = pager.one.incident_id
    ((state,),) = pager.ask("SELECT n.telling FROM incident_telling n")
    other = state.replace(f'"known_as":"{incident}"', '"known_as":"older"')
    assert other != state
    pager.change(tables.incident_notification.update().values(telling=other))
    pager.change(
        tables.notification.update()
        .where(tables.notification.c.channel == "pagerduty:sales.key")
        .values(incident_id="older", state="sent", finished_at=micros(FAILED + 80))
    )

    pager.until(FAILED + 120)

    assert pager.clocks == [(0.0, 80.0, "good")]


def test_a_message_before_the_page_does_not_count(pager):
    """Ignore a message of the incident that was merged."""
    pager.fail(until=FAILED + 60)
    assert pager.sums == NO_SAMPLE
    pager.down(*ALL)
    pager.until(FAILED + 90)
    pager.change(
        tables.notification.update()
        .where(tables.notification.c.channel == "slack:C1")
        .values(state="sent", created_at=micros(FAILED + 74), finished_at=micros(FAILED + 74))
    )

    pager.until(FAILED + 120)

    assert pager.clocks == [(0.0, None, None)]

"""Who took a page, and what it is where nobody did."""

import pytest

from lineage.catalog import tables
from lineage.policy.model import Owner, Policy
from tests.alerts.detection.catalog_builder import micros
from tests.service.incidents.impact.pager import FAILED

ALL = ("C1", "sales.key")
QUARTER = 900
BAD, UNKNOWN, NO_SAMPLE = [(0.0, 1.0, 0.0)], [(0.0, 0.0, 1.0)], []


@pytest.mark.postgres_nightly
def test_a_policy_that_leads_to_nobody_is_unknown(pager):
    """Neither Slack nor PagerDuty could take it: unknown after 15 minutes, and never good."""
    pager.policy = Policy()
    pager.fail(until=FAILED + QUARTER - 15)
    assert pager.sums == NO_SAMPLE

    pager.until(FAILED + 2 * QUARTER)

    assert (pager.clocks, pager.sums) == ([(0.0, None, "unknown")], UNKNOWN)


def test_a_webhook_is_no_acceptance(pager):
    """It takes the message as the fallback of a policy that names nobody."""
    pager.set(fallback="webhook:tickets")
    pager.policy = Policy()

    pager.fail(until=FAILED + QUARTER)

    sent = pager.ask("SELECT channel FROM notification WHERE state = 'sent'")
    assert sent == [("webhook:tickets",)]
    assert pager.sums == UNKNOWN


def _refusing(pager):
    """The one channel of its owner takes nothing, and another stands in."""
    pager.set(fallback="slack:C7")
    pager.policy = Policy(owners=(Owner("sales", slack="C1"),))
    pager.providers.refusing = frozenset(["C1"])


def test_the_fallback_channel_s_copy_is_the_page(pager):
    """Its owner's channel refuses it; Slack takes it for another, with the list's link."""
    _refusing(pager)

    pager.fail(until=FAILED + 90)

    assert pager.clocks == [(0.0, 75.0, "good")]


def test_what_is_told_of_a_channel_is_no_page(pager):
    """The copy is lost; what remains is that a channel takes nothing."""
    _refusing(pager)
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


def test_what_was_over_before_anybody_was_told_has_paged_nobody(pager):
    """Alertmanager is waited for; it is good again within these two minutes."""
    pager.set(mode="alertmanager")
    pager.fail(until=FAILED + 90)
    pager.recover()

    pager.until(FAILED + 2 * QUARTER)

    assert pager.one.state == "resolved"
    assert pager.ask("SELECT channel FROM notification") == []
    assert (pager.clocks, pager.sums) == ([(0.0, None, "left_out")], NO_SAMPLE)


@pytest.mark.postgres_nightly
def test_what_is_held_back_for_too_long_is_bad(pager):
    """Alertmanager is waited for too long, by a setting: nobody was told, and somebody was to."""
    pager.set(mode="alertmanager", release_seconds=3_600)

    pager.fail(until=FAILED + QUARTER)

    assert pager.sums == BAD


def test_a_page_that_took_over_another_is_taken_under_that_one_s_id(pager):
    """PagerDuty knows it by the alert that rang first; and by that alone."""
    pager.down(*ALL)
    pager.fail(until=FAILED + 90)
    incident = pager.one.incident_id
    ((state,),) = pager.ask("SELECT telling FROM incident_telling")
    other = state.replace(f'"known_as":"{incident}"', '"known_as":"older"')
    assert other != state
    pager.change(tables.incident_telling.update().values(telling=other))
    pager.change(
        tables.notification.update()
        .where(tables.notification.c.channel == "pagerduty:sales.key")
        .values(incident_id="older", state="sent", finished_at=micros(FAILED + 80))
    )

    pager.until(FAILED + 120)

    assert pager.clocks == [(0.0, 80.0, "good")]


def test_a_message_of_before_the_page_is_not_taken_for_it(pager):
    """Of an incident that was taken over: it spoke of that one."""
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

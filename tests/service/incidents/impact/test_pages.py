"""Start of the time that a page takes, and the messages that count as the page."""

import pytest
from sqlalchemy import text, update

from alerts.notify.message import MessageLinks
from lineage.catalog import tables
from service.incidents.impact import pages
from tests.alerts.detection.catalog_builder import DAY, micros
from tests.alerts.notify.messages import message
from tests.service.incidents.impact.pager import FAILED, MART, NOON

pytestmark = pytest.mark.postgres_nightly

GOOD, UNKNOWN, NO_SAMPLE = [(1.0, 1.0, 0.0)], [(0.0, 0.0, 1.0)], []
HOLD = 30.0


def test_a_missed_deadline_counts_from_the_end_of_its_hold(pager):
    """Count from a deadline 30 s later than a failure would be, plus a hold of 30 s."""
    pager.late("silent", until=FAILED + 120)

    assert pager.clocks == [(30.0 + HOLD, 75.0, "good")]


def test_the_first_late_member_counts(pager):
    """Count from the downstream dataset, which was due a minute before."""
    deadline = float(FAILED - 60)
    pager.estate.say(MART, "bad", "upstream_late", limit_seconds=deadline)

    pager.late("silent", until=FAILED + 120)

    assert pager.clocks == [(-60.0 + HOLD, 75.0, "good")]


def test_a_fault_before_the_first_evaluation_is_unknown(pager):
    """Count it as unknown, as no evaluation could have found it."""
    pager.change(update(tables.evaluation).values(as_of=micros(FAILED + 1)))

    pager.fail(until=FAILED + 120)

    assert (pager.clocks, pager.sums) == ([(0.0, None, "unknown")], UNKNOWN)


def test_without_the_first_evaluation_the_fault_is_good(pager, monkeypatch):
    """Run the mutant of the test above: ignore the first evaluation."""
    monkeypatch.setattr(pages, "_WATCHING", text("SELECT 0"))
    pager.change(update(tables.evaluation).values(as_of=micros(FAILED + 1)))

    pager.fail(until=FAILED + 120)

    assert pager.sums == GOOD


@pytest.mark.postgres_always
def test_a_fault_from_a_history_load_is_unknown(pager):
    """Send the page, and do not time it."""
    pager.fail(until=FAILED + 120, is_history=True)

    assert pager.sums == UNKNOWN
    assert pager.ask("SELECT count(*) FROM notification WHERE state = 'sent'") != [(0,)]


def _escalate(pager):
    """Fail `mart/daily` at noon; the board downstream is due 4 h after 21:00."""
    pager.estate.add("board", tier="critical")
    pager.estate.chain(MART, "board")
    pager.estate.fail(MART, FAILED)
    pager.estate.say(MART, "bad", "job_failed", limit_seconds=float(FAILED + 30))
    pager.pass_(FAILED + 30 - NOON)
    pager.until(FAILED + 120)
    assert (pager.one.severity, pager.sums) == ("ticket", NO_SAMPLE)
    late = DAY + 3600 - 4 * 3600
    assert "escalated" in pager.at(late)
    return late - FAILED


def test_a_ticket_that_became_a_page_counts_from_then(pager):
    """Ignore its failure nine hours before, which was no fault to page for."""
    after = _escalate(pager)

    assert pager.clocks == [(after, after, "good")]
    assert pager.sums == GOOD


@pytest.mark.postgres_always
def test_without_escalations_the_ticket_s_message_counts(pager, monkeypatch):
    """Run the mutant of the test above: count from its opening, when it was a ticket."""
    only_opened = str(pages._PAGED).replace("'opened', 'escalated'", "'opened'")  # noqa: SLF001
    monkeypatch.setattr(pages, "_PAGED", text(only_opened))

    _escalate(pager)

    assert [outcome for *_, outcome in pager.clocks] == ["good"]
    assert pager.clocks[0][:2] == (0.0, 75.0)  # the ticket's message counts as the page


def test_a_fault_suppressed_to_its_end_is_no_sample(pager):
    """Count nothing, as nobody was to be notified."""
    pager.plan("s3://shop/*", FAILED + 600)
    pager.fail(until=FAILED + 300)
    pager.recover()
    pager.until(FAILED + 1_200)

    assert pager.one.severity == "page"
    assert (pager.clocks, pager.sums) == ([(None, None, None)], NO_SAMPLE)


def test_a_suppressed_fault_counts_from_the_window_s_end(pager):
    """Count from the end of the window, an hour after the failure."""
    pager.plan("s3://shop/*", FAILED + 3_600)

    pager.fail(until=FAILED + 3_700)

    assert pager.clocks == [(3_600.0, 3_600.0, "good")]
    assert pager.sums == GOOD


def test_an_access_counts_from_its_detection(pager):
    """Count from the detection, as only the hour of an access is stored."""
    hour = {"sli": "M10", "tier": "all", "hour": micros(NOON), "unknown": 0.0}
    pager.change(tables.served_hour.insert().values(good=1.0, total=2.0, **hour))

    pager.at(FAILED + 60)

    assert pager.one.root_kind == "access"
    assert pager.clocks == [(60.0, 60.0, "good")]


@pytest.mark.parametrize(
    ("channel", "kind", "link", "counts"),
    [
        ("slack:C1", "opened", "https://l.test/i", True),
        ("slack:C1", "changed", "https://l.test/i", True),
        ("slack:C1", "acknowledged", "https://l.test/i", True),
        ("pagerduty:k", "opened", "https://l.test/i", True),
        ("pagerduty:k", "changed", "https://l.test/i", True),
        ("pagerduty:k", "acknowledged", "https://l.test/i", False),
        ("pagerduty:k", "resolved", "https://l.test/i", False),
        ("slack:C2", "notice", "https://l.test/i", False),
        ("webhook:tickets", "opened", "https://l.test/i", False),
        ("slack:C1", "opened", None, False),
    ],
)
def test_a_message_counts_if_it_has_the_list(channel, kind, link, counts):
    """Count all messages to Slack, and triggers to PagerDuty."""
    answer = message(kind=kind, links=MessageLinks(full_list=link))

    assert pages._has_list(channel, answer) is counts  # noqa: SLF001


@pytest.mark.postgres_always
def test_a_notice_downstream_is_no_page(pager):
    """Ignore the notice to finance while sales, the owner, has no message."""
    pager.down("C1", "sales.key")

    pager.fail(until=FAILED + 120)

    assert pager.ask("SELECT kind FROM notification WHERE state = 'sent'") == [("notice",)]
    assert pager.clocks == [(0.0, None, None)]


def test_without_the_check_a_notice_counts_as_the_page(pager, monkeypatch):
    """Run the mutant of the test above: count every message."""
    monkeypatch.setattr(pages, "_has_list", lambda *_: True)
    pager.down("C1", "sales.key")

    pager.fail(until=FAILED + 120)

    assert pager.clocks == [(0.0, 75.0, "good")]

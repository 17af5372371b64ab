"""Since when a fault is one to page for, and which messages tell of it."""

import pytest
from sqlalchemy import text, update

from alerts.notify.message import Links
from lineage.catalog import tables
from service.incidents.impact import pages
from tests.alerts.detection.catalog_builder import DAY, micros
from tests.alerts.notify.messages import message
from tests.service.incidents.impact.pager import FAILED, MART, NOON

pytestmark = pytest.mark.postgres_nightly

GOOD, UNKNOWN, NO_SAMPLE = [(1.0, 1.0, 0.0)], [(0.0, 0.0, 1.0)], []
HOLD = 30.0


def test_a_missed_deadline_counts_from_the_end_of_its_hold(pager):
    """Due 30 s after what was a FAIL elsewhere, and held for 30 s."""
    pager.late("silent", until=FAILED + 120)

    assert pager.clocks == [(30.0 + HOLD, 75.0, "good")]


def test_the_first_of_its_members_counts(pager):
    """What is made of it was due a minute before: people missed that first."""
    deadline = float(FAILED - 60)
    pager.estate.say(MART, "bad", "upstream_late", limit_seconds=deadline)

    pager.late("silent", until=FAILED + 120)

    assert pager.clocks == [(-60.0 + HOLD, 75.0, "good")]


def test_a_fault_of_before_we_watched_is_unknown(pager):
    """The first evaluation is noon's: nobody here could have seen it."""
    pager.change(update(tables.evaluation).values(as_of=micros(FAILED + 1)))

    pager.fail(until=FAILED + 120)

    assert (pager.clocks, pager.sums) == ([(0.0, None, "unknown")], UNKNOWN)


def test_without_that_look_it_would_be_good(pager, monkeypatch):
    """The mutant of the test above."""
    monkeypatch.setattr(pages, "_WATCHING", text("SELECT 0"))
    pager.change(update(tables.evaluation).values(as_of=micros(FAILED + 1)))

    pager.fail(until=FAILED + 120)

    assert pager.sums == GOOD


@pytest.mark.postgres_always
def test_a_fault_that_a_history_load_tells_of_is_unknown(pager):
    """Whenever it was: the page is sent, and not timed."""
    pager.fail(until=FAILED + 120, is_history=True)

    assert pager.sums == UNKNOWN
    assert pager.ask("SELECT count(*) FROM notification WHERE state = 'sent'") != [(0,)]


def _escalated(pager):
    """`mart/daily` fails at noon; the board, made of it, is to be hit 4 h after 21:00."""
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


def test_what_was_a_ticket_counts_from_when_it_became_a_page(pager):
    """Not from its FAIL, nine hours before: that was no fault to page for."""
    after = _escalated(pager)

    assert pager.clocks == [(after, after, "good")]
    assert pager.sums == GOOD


@pytest.mark.postgres_always
def test_by_its_opening_it_would_be_bad(pager, monkeypatch):
    """The mutant of the test above: when it opened, it was a ticket."""
    only_opened = str(pages._PAGED).replace("'opened', 'escalated'", "'opened'")  # noqa: SLF001
    monkeypatch.setattr(pages, "_PAGED", text(only_opened))

    _escalated(pager)

    assert [outcome for *_, outcome in pager.clocks] == ["good"]
    assert pager.clocks[0][:2] == (0.0, 75.0)  # the ticket's message is taken for the page


def test_what_a_window_hid_to_its_end_is_no_sample(pager):
    """Nobody was to be told."""
    pager.plan("s3://shop/*", FAILED + 600)
    pager.fail(until=FAILED + 300)
    pager.recover()
    pager.until(FAILED + 1_200)

    assert pager.one.severity == "page"
    assert (pager.clocks, pager.sums) == ([(None, None, None)], NO_SAMPLE)


def test_what_a_window_hid_counts_from_the_window_s_end(pager):
    """Still bad an hour after the FAIL: nobody was to be told before."""
    pager.plan("s3://shop/*", FAILED + 3_600)

    pager.fail(until=FAILED + 3_700)

    assert pager.clocks == [(3_600.0, 3_600.0, "good")]
    assert pager.sums == GOOD


def test_an_access_counts_from_when_it_was_found(pager):
    """The hour alone is kept of it: its beginning is nobody's fault."""
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
def test_a_message_counts_where_it_brings_the_list_to_whoever_mends_it(channel, kind, link, counts):
    """Slack is sent all of each message; PagerDuty only with a trigger."""
    answer = message(kind=kind, links=Links(full_list=link))

    assert pages._has_list(channel, answer) is counts  # noqa: SLF001


@pytest.mark.postgres_always
def test_a_notice_downstream_is_no_page(pager):
    """Finance is told of its own in Slack; sales, who is to mend it, is not."""
    pager.down("C1", "sales.key")

    pager.fail(until=FAILED + 120)

    assert pager.ask("SELECT kind FROM notification WHERE state = 'sent'") == [("notice",)]
    assert pager.clocks == [(0.0, None, None)]


def test_without_a_look_at_the_message_the_notice_would_be_the_page(pager, monkeypatch):
    """The mutant of the test above."""
    monkeypatch.setattr(pages, "_has_list", lambda *_: True)
    pager.down("C1", "sales.key")

    pager.fail(until=FAILED + 120)

    assert pager.clocks == [(0.0, 75.0, "good")]

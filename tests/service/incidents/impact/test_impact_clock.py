"""M8: from a fault to its page, taken by Slack or PagerDuty."""

from datetime import timedelta

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from sqlalchemy import event, update

from lineage.catalog import tables
from lineage.process.clock import from_micros
from service.exporter.metrics import CatalogCollector
from service.incidents.impact import impact_clock
from service.incidents.impact.impact_clock import ImpactClock, outcome_of
from service.runtime.settings import Settings
from tests.alerts.detection.catalog_builder import micros
from tests.service.incidents.impact.pager import CORE, FAILED, NOON

pytestmark = pytest.mark.postgres_nightly

ALL = ("C1", "sales.key")
GOOD, BAD, UNKNOWN, NO_SAMPLE = [(1.0, 1.0, 0.0)], [(0.0, 1.0, 0.0)], [(0.0, 0.0, 1.0)], []
QUARTER = 900


def scraped(pager):
    """Return the text of the metrics."""
    registry = CollectorRegistry()
    url = pager.engine.url.render_as_string(hide_password=False)
    registry.register(CatalogCollector(Settings(catalog_url=url)))
    return generate_latest(registry).decode()


def test_a_page_is_timed_from_the_fail_to_its_acceptance(pager):
    """Count neither from the evaluation (45 s) nor from the opening (75 s)."""
    pager.down(*ALL)
    pager.fail(until=FAILED + 90)
    assert (pager.clocks, pager.sums) == ([(0.0, None, None)], NO_SAMPLE)
    pager.down()

    pager.until(FAILED + 120)

    assert pager.clocks == [(0.0, 105.0, "good")]
    assert pager.sums == GOOD


def test_the_first_accepted_message_counts(pager):
    """Count the page in PagerDuty while Slack is down."""
    pager.down("C1")

    pager.fail(until=FAILED + 1_200)

    assert pager.clocks == [(0.0, 75.0, "good")]


@pytest.mark.postgres_always
def test_a_page_not_accepted_for_15_minutes_is_bad(pager):
    """Count it as bad at once, and not again when it is accepted at last."""
    pager.down(*ALL)
    pager.fail(until=FAILED + QUARTER - 15)
    assert pager.sums == NO_SAMPLE
    pager.until(FAILED + QUARTER)
    assert (pager.clocks, pager.sums) == ([(0.0, None, "bad")], BAD)
    pager.down()

    pager.until(FAILED + 2 * QUARTER)

    assert pager.clocks == [(0.0, QUARTER + 15.0, "bad")]
    assert pager.sums == BAD
    assert f"{impact_clock.IMPACT_METRIC}_sum {QUARTER + 15.0}" in scraped(pager)


def test_without_the_bound_a_page_waits_for_ever(pager, monkeypatch):
    """Run the mutant of the test above: give an outcome only to accepted pages."""
    judged = impact_clock.outcome_of
    monkeypatch.setattr(impact_clock, "outcome_of", lambda *text: text[1] and judged(*text))
    pager.down(*ALL)

    pager.fail(until=FAILED + 2 * QUARTER)

    assert pager.sums == NO_SAMPLE


@pytest.mark.parametrize(
    ("seconds", "outcome"), [(0, "good"), (899.999, "good"), (900, "bad"), (90_000, "bad")]
)
def test_fifteen_minutes_are_too_long(seconds, outcome):
    """Count less than 15 minutes as good, and the bound itself as bad, also in a late pass."""
    taken = micros(FAILED + seconds)

    assert outcome_of(micros(FAILED), taken, None, micros(FAILED + 99_999)) == outcome


def test_the_histogram_has_the_bound_of_the_objective(pager):
    """Show a bucket at 15 minutes, and no waiting page in any bucket."""
    pager.fail(until=FAILED + 90)

    shown = scraped(pager)

    assert f'{impact_clock.IMPACT_METRIC}_bucket{{le="900.0"}} 1.0' in shown
    assert f'{impact_clock.IMPACT_METRIC}_bucket{{le="60.0"}} 0.0' in shown
    assert f"{impact_clock.IMPACT_METRIC}_sum 75.0" in shown


def test_no_fault_is_no_sample(pager):
    """Store no row for an empty total, neither 100 % nor 0 %."""
    pager.until(NOON + 60)

    assert pager.sums == NO_SAMPLE


@pytest.mark.postgres_always
def test_a_ticket_is_no_sample(pager):
    """Time no ticket, as nobody is paged for an important dataset."""
    policy = tables.dataset_policy
    pager.change(update(policy).values(tier="important"))

    pager.fail(until=FAILED + 2 * QUARTER)

    assert (pager.one.severity, pager.one.state) == ("ticket", "open")
    assert (pager.sums, pager.clocks) == (NO_SAMPLE, [(None, None, None)])


def test_a_page_is_counted_once_over_turns_and_restarts(pager):
    """Count it once over more turns, a restart, and the same fault half an hour later."""
    pager.fail(until=FAILED + 120)
    pager.restart()
    pager.recover()
    pager.until(FAILED + 240)
    assert pager.one.state == "resolved"
    pager.estate.fail(CORE, FAILED + 250)
    pager.estate.say(CORE, "bad", "job_failed", limit_seconds=60.0)
    happened = pager.until(FAILED + QUARTER)

    assert happened == ["reopened"]
    assert pager.sums == GOOD


def _both_read_first(pager, monkeypatch):
    """Let two services read the same state, and write one after the other."""
    pager.down(*ALL)
    pager.fail(until=FAILED + 90)
    pager.down()
    with pager.engine.connect() as connection:
        read = impact_clock.running_pages(connection, 0)
    monkeypatch.setattr(impact_clock, "running_pages", lambda *_: read)
    pager.pass_(15)
    pager.send()
    for _ in range(2):
        pager.restart()
        pager.clock(pager.engine)


@pytest.mark.postgres_always
def test_a_second_service_counts_nothing_twice(pager, monkeypatch):
    """Check the state again before the second write."""
    _both_read_first(pager, monkeypatch)

    assert pager.sums == GOOD
    assert f"{impact_clock.IMPACT_METRIC}_count 1.0" in scraped(pager)


def test_without_the_second_check_both_services_count(pager, monkeypatch):
    """Run the mutant of the test above: trust the first read."""
    monkeypatch.setattr(impact_clock, "_keep", lambda *_: True)

    _both_read_first(pager, monkeypatch)

    assert pager.sums == [(2.0, 2.0, 0.0)]


def test_one_query_runs_when_nothing_waits(pager):
    """Read nothing again that has an outcome."""
    pager.fail(until=FAILED + 120)
    asked = []
    event.listen(
        pager.engine, "before_cursor_execute", lambda *text: asked.append(text[2]), named=False
    )

    ImpactClock(lambda: from_micros(micros(FAILED)) + timedelta(seconds=121))(pager.engine)

    assert len([text for text in asked if "FROM incident" in text]) == 1
    assert not any("UPDATE" in text or "INSERT" in text for text in asked)


def test_a_page_not_accepted_for_a_day_waits_no_longer(pager):
    """Count it as bad, without a duration."""
    pager.down(*ALL)
    pager.fail(until=FAILED + QUARTER)
    with pager.engine.connect() as connection:
        (late,) = impact_clock.running_pages(connection, micros(FAILED - 1))
        assert late.outcome == "bad"
        assert impact_clock.running_pages(connection, micros(FAILED)) == []


def test_a_second_fault_is_a_second_sample(pager):
    """Time each from its own failure."""
    pager.fail(until=FAILED + 120)
    pager.estate.add("core/stock", tier="critical")
    pager.estate.fail("core/stock", FAILED + 60)
    pager.estate.say("core/stock", "bad", "job_failed", limit_seconds=float(FAILED + 90))
    pager.until(FAILED + 240)

    assert pager.clocks == [(0.0, 75.0, "good"), (60.0, 165.0, "good")]
    assert pager.sums == [(2.0, 2.0, 0.0)]


@pytest.mark.postgres_always
def test_the_sum_of_seconds_never_falls(pager):
    """Add 0 s if the sender's clock is behind that of the detector."""
    pager.down(*ALL)
    pager.fail(until=FAILED + 90)
    taken = {"state": "sent", "finished_at": micros(FAILED - 1)}
    pager.change(tables.notification.update().values(**taken))

    pager.until(FAILED + 120)

    assert f"{impact_clock.IMPACT_METRIC}_sum 0.0" in scraped(pager)

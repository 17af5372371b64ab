"""Scores of a fault, worked out by hand on small truths."""

import msgspec
import pytest

from lab.gameday import scorer
from lab.gameday.truth_shapes import NamePattern
from tests.lab.gameday.truths import (
    BACKFILL,
    CLEAN,
    KILLED,
    ORDERS,
    REVENUE,
    RIGHT,
    STOCK,
    TICKET,
    TRENDS,
    UNDETECTED,
    message,
    score,
)


def test_a_correctly_notified_fault():
    """Deliver 90 s after its beginning and resolve 300 s after its fix."""
    found = score([KILLED], [message(1_090), message(5_300, "resolved")])

    delays = {"seconds_to_delivery": 90.0, "seconds_to_resolved": 300.0}
    assert found.faults == (msgspec.structs.replace(RIGHT, **delays),)
    assert found.false_pages == 0


def test_half_a_list_is_half_right():
    """List two beside the cause, of which one is true; of two true ones one is listed."""
    (found,) = score([KILLED], [message(1_090, full_list="half")]).faults

    assert (found.impact_precision, found.impact_recall) == (0.5, 0.5)


def test_an_empty_list_recalls_nothing():
    """List nothing without a link: neither wrong nor right."""
    (found,) = score([KILLED], [message(1_090, full_list=None)]).faults

    assert (found.impact_precision, found.impact_recall) == (1.0, 0.0)


def test_the_impact_of_a_spread_fault_is_the_union_of_all_lists():
    """Use an upgrade: each message lists its own job's impact; edits count, others' do not."""
    spread = msgspec.structs.replace(KILLED, impact=(REVENUE, STOCK, TRENDS), is_spread=True)
    messages = [
        message(1_090, full_list="half"),
        message(1_900, "other", root=ORDERS, by="slack", full_list="all"),
        message(2_000, "other", root=NamePattern("another", "job"), by="slack", full_list="wrong"),
        message(7_000, "other", by="slack", full_list="wrong"),
    ]
    [both] = score([spread], messages).faults
    [first] = score([spread], messages[:1]).faults

    assert (both.impact_precision, both.impact_recall) == (1.0, 1.0)
    assert (first.impact_precision, first.impact_recall) == (1.0, pytest.approx(2 / 3))


def test_a_fault_without_a_message():
    """Score a fault without a message: the root was not named."""
    assert score([KILLED], []).faults == (UNDETECTED,)


def test_a_ticket_is_no_page():
    """Notify by a ticket where a page was expected."""
    (found,) = score([KILLED], [message(1_090, "ticket")]).faults

    assert (found.detected, found.pages) == (False, 0)


def test_a_page_for_a_ticket_is_counted_as_a_page():
    """Notify twice: the count shows it."""
    page = message(1_090, root=STOCK, to="keys/store")
    (found,) = score([TICKET], [page]).faults

    assert (found.detected, found.pages, found.owner_right) == (True, 1, True)


def test_a_root_downstream_is_false_and_wrong():
    """Page for the cause's downstream: false, and the root was not named first."""
    found = score([KILLED], [message(1_050, root=REVENUE), message(1_090)])

    assert found.false_pages == 1
    assert (found.faults[0].root_right, found.faults[0].pages) == (False, 1)


def test_a_job_downstream_is_wrong_too():
    """Count it for this fault, though no dataset is named."""
    (found,) = score([KILLED], [message(1_050, root=NamePattern("shop", "build_revenue"))]).faults

    assert (found.detected, found.root_right) == (False, False)


@pytest.mark.parametrize("second", [999, 6_001])
def test_a_page_outside_its_time_is_false(second):
    """Send before it began, and after its remains were over."""
    found = score([KILLED], [message(second)])

    assert (found.false_pages, found.faults[0].detected) == (1, False)


@pytest.mark.parametrize("second", [1_000, 6_000])
def test_the_ends_of_its_time_are_within(second):
    """Send at the first instant and at the last one."""
    found = score([KILLED], [message(second)])

    assert (found.false_pages, found.faults[0].detected) == (0, True)


def test_messages_while_limits_are_learned_do_not_count():
    """Ignore messages of the first days."""
    assert score([KILLED], [message(499)]).false_pages == 0


def test_a_silent_fault_that_is_notified():
    """Count its detection, and its page as a false one."""
    found = score([BACKFILL], [message(1_090, root=STOCK)])

    assert (found.faults[0].detected, found.faults[0].root_right) == (True, None)
    assert found.false_pages == 1


def test_a_job_may_be_named_with_its_plan():
    """Match Spark's name of a run, which begins with that of the application, and a dot."""
    planned = NamePattern("shop", "clean_orders.adaptive_spark_plan.core_orders")
    other = NamePattern("shop", "clean_orders_again")
    found = score([KILLED], [message(1_050, root=planned), message(1_060, root=other)])

    assert (found.faults[0].pages, found.false_pages) == (1, 1)


def test_another_namespace_is_another_job():
    """Ignore the same name elsewhere."""
    assert score([KILLED], [message(1_050, root=NamePattern("store", CLEAN.name))]).false_pages == 1


def test_a_cause_by_pattern():
    """Name a shared cause by the words in its name."""
    shared = msgspec.structs.replace(KILLED, causes=(NamePattern("", "*4.4.0*"),))
    found = score([shared], [message(1_050, root=NamePattern("", "Spark 4.4.0 instead of 4.3.0"))])

    assert (found.faults[0].pages, found.false_pages) == (1, 0)


def test_the_owner_is_that_of_the_paged_service():
    """Compare the service that was paged, whatever owner the message names."""
    (found,) = score([KILLED], [message(1_090, to="keys/store")]).faults

    assert found.owner_right is False


def test_an_incident_that_is_never_resolved():
    """Resolve one of its two incidents: there is no time at which all was over."""
    messages = [message(1_090), message(1_100, incident="i2"), message(5_100, "resolved")]
    (found,) = score([KILLED], messages).faults

    assert (found.pages, found.seconds_to_resolved) == (2, None)


def test_two_faults_at_once_are_scored_apart():
    """Match the first message within the time of both to the other one."""
    other = msgspec.structs.replace(TICKET, expect="page", impact=(ORDERS,))
    found = score([other, KILLED], [message(1_010), message(1_020, root=STOCK, to="keys/store")])

    assert [each.root_right for each in found.faults] == [True, True]


def test_a_scorer_that_accepts_any_page_is_detected(monkeypatch):
    """Take the guarantee away: the tests above on false pages would not hold."""
    monkeypatch.setattr(scorer, "is_among", lambda _root, _names: True)

    assert score([KILLED], [message(1_050, root=STOCK)]).false_pages == 0
    with pytest.raises(AssertionError):
        test_a_root_downstream_is_false_and_wrong()

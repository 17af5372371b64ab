"""What the scorer says of a fault, worked out by hand on small truths."""

import msgspec
import pytest

from runbooks.gameday import scorer
from runbooks.gameday.truth import Name
from tests.runbooks.gameday.told import (
    BACKFILL,
    CLEAN,
    KILLED,
    ORDERS,
    REVENUE,
    RIGHT,
    STOCK,
    TICKET,
    TRENDS,
    UNHEARD,
    heard,
    judged,
)


def test_a_fault_that_is_told_rightly():
    """Delivered 90 s after its beginning and called over 300 s after its mending."""
    found = judged([KILLED], [heard(1_090), heard(5_300, "resolved")])

    told = {"seconds_to_delivery": 90.0, "seconds_to_resolved": 300.0}
    assert found.faults == (msgspec.structs.replace(RIGHT, **told),)
    assert found.false_pages == 0


def test_half_a_list_is_half_right():
    """Of two that are listed beside the cause one is true; of two that are true one is listed."""
    (found,) = judged([KILLED], [heard(1_090, full_list="half")]).faults

    assert (found.impact_precision, found.impact_recall) == (0.5, 0.5)


def test_an_empty_list_recalls_nothing():
    """No link: nothing wrong is listed, and nothing right."""
    (found,) = judged([KILLED], [heard(1_090, full_list=None)]).faults

    assert (found.impact_precision, found.impact_recall) == (1.0, 0.0)


def test_what_a_fault_hurts_over_hours_is_listed_by_all_that_was_told_of_it():
    """An upgrade: each message lists what its own job hurts; edits count, others' do not."""
    spread = msgspec.structs.replace(KILLED, impact=(REVENUE, STOCK, TRENDS), is_spread=True)
    told = [
        heard(1_090, full_list="half"),
        heard(1_900, "other", root=ORDERS, by="slack", full_list="all"),
        heard(2_000, "other", root=Name("another", "job"), by="slack", full_list="wrong"),
        heard(7_000, "other", by="slack", full_list="wrong"),
    ]
    [both] = judged([spread], told).faults
    [first] = judged([spread], told[:1]).faults

    assert (both.impact_precision, both.impact_recall) == (1.0, 1.0)
    assert (first.impact_precision, first.impact_recall) == (1.0, pytest.approx(2 / 3))


def test_a_fault_that_nobody_hears_of():
    """All that a message would say is not there; the root was not named."""
    assert judged([KILLED], []).faults == (UNHEARD,)


def test_a_ticket_is_no_page():
    """Whoever should have been woken was not."""
    (found,) = judged([KILLED], [heard(1_090, "ticket")]).faults

    assert (found.detected, found.pages) == (False, 0)


def test_a_page_for_a_ticket_is_counted_as_a_page():
    """It is told, and too loud: the count says so."""
    page = heard(1_090, root=STOCK, to="keys/store")
    (found,) = judged([TICKET], [page]).faults

    assert (found.detected, found.pages, found.owner_right) == (True, 1, True)


def test_a_root_downstream_is_false_and_wrong():
    """A page for what is made of the cause: false, and the fault's root was not named first."""
    found = judged([KILLED], [heard(1_050, root=REVENUE), heard(1_090)])

    assert found.false_pages == 1
    assert (found.faults[0].root_right, found.faults[0].pages) == (False, 1)


def test_a_job_downstream_is_wrong_too():
    """It is of this fault, though no dataset is named."""
    (found,) = judged([KILLED], [heard(1_050, root=Name("shop", "build_revenue"))]).faults

    assert (found.detected, found.root_right) == (False, False)


@pytest.mark.parametrize("second", [999, 6_001])
def test_a_page_outside_its_time_is_false(second):
    """Before it began, and after its rest was over."""
    found = judged([KILLED], [heard(second)])

    assert (found.false_pages, found.faults[0].detected) == (1, False)


@pytest.mark.parametrize("second", [1_000, 6_000])
def test_the_ends_of_its_time_are_within(second):
    """The first instant and the last one."""
    found = judged([KILLED], [heard(second)])

    assert (found.false_pages, found.faults[0].detected) == (0, True)


def test_what_is_told_while_limits_are_learned_counts_for_nothing():
    """The first days only teach."""
    assert judged([KILLED], [heard(499)]).false_pages == 0


def test_what_must_stay_silent_and_does_not():
    """Detected, and its page is a false one."""
    found = judged([BACKFILL], [heard(1_090, root=STOCK)])

    assert (found.faults[0].detected, found.faults[0].root_right) == (True, None)
    assert found.false_pages == 1


def test_a_job_may_be_named_with_its_plan():
    """Spark's name of a run begins with that of the application, and a dot."""
    planned = Name("shop", "clean_orders.adaptive_spark_plan.core_orders")
    other = Name("shop", "clean_orders_again")
    found = judged([KILLED], [heard(1_050, root=planned), heard(1_060, root=other)])

    assert (found.faults[0].pages, found.false_pages) == (1, 1)


def test_another_namespace_is_another_job():
    """The same name elsewhere is nobody's cause."""
    assert judged([KILLED], [heard(1_050, root=Name("store", CLEAN.name))]).false_pages == 1


def test_a_cause_by_pattern():
    """What many jobs share is named by what is in its name."""
    shared = msgspec.structs.replace(KILLED, causes=(Name("", "*4.4.0*"),))
    found = judged([shared], [heard(1_050, root=Name("", "Spark 4.4.0 instead of 4.3.0"))])

    assert (found.faults[0].pages, found.false_pages) == (1, 0)


def test_the_owner_is_whose_service_rang():
    """Whatever the message says of the owner, somebody else was woken."""
    (found,) = judged([KILLED], [heard(1_090, to="keys/store")]).faults

    assert found.owner_right is False


def test_an_incident_that_is_never_over():
    """One of two incidents of it resolves: there is no instant at which all was over."""
    messages = [heard(1_090), heard(1_100, incident="i2"), heard(5_100, "resolved")]
    (found,) = judged([KILLED], messages).faults

    assert (found.pages, found.seconds_to_resolved) == (2, None)


def test_two_faults_at_once_do_not_spoil_each_other():
    """The first message within the time of both is of the other one."""
    other = msgspec.structs.replace(TICKET, expect="page", impact=(ORDERS,))
    found = judged([other, KILLED], [heard(1_010), heard(1_020, root=STOCK, to="keys/store")])

    assert [each.root_right for each in found.faults] == [True, True]


def test_a_scorer_that_takes_any_page_for_right_is_found_out(monkeypatch):
    """The guarantee is taken away: the tests above on false pages would not hold."""
    monkeypatch.setattr(scorer, "is_among", lambda _root, _names: True)

    assert judged([KILLED], [heard(1_050, root=STOCK)]).false_pages == 0
    with pytest.raises(AssertionError):
        test_a_root_downstream_is_false_and_wrong()

"""M8: from a fault to the list of what it affects."""

import json

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from sqlalchemy import insert, update
from sqlalchemy.exc import IntegrityError

from lineage.catalog import tables
from lineage.clock import to_micros
from service.impact import analysis
from service.impact.analysis import ImpactAnalyst, outcome_of
from service.impact.faults import Fault
from service.metrics import CatalogCollector
from service.settings import Settings
from tests.service import shop
from tests.service.impact.estate import CORE, MINUTE, NOW

_LISTS = "SELECT dataset_key, fault_at, ready_at, reason, affected, closed_at FROM impact"
_SUMS = "SELECT good, total, unknown FROM served_counter WHERE sli = 'M8'"


def test_a_fault_has_its_list_and_its_time(estate):
    """From the FAIL's event time, not from the evaluation that found it: 5 min 25 s, good."""
    failed_at = to_micros(NOW) - 5 * MINUTE

    estate.evaluate()

    assert estate.rows(_LISTS) == [(CORE, failed_at, to_micros(estate.now), "job_failed", 1, None)]
    (listed,) = json.loads(estate.rows("SELECT listed FROM impact")[0][0])
    assert listed == {
        "dataset_namespace": shop.NAMESPACE,
        "dataset": shop.MART,
        "tier": "important",
        "owner": None,
        "depth": 1,
    }
    assert estate.rows(_SUMS) == [(1.0, 1.0, 0.0)]


def test_a_list_that_comes_late_is_bad(estate):
    """The fault stood for 16 minutes before anybody could be told what it affects."""
    estate.failed(minutes_ago=16)

    estate.evaluate()

    assert estate.rows(_SUMS) == [(0.0, 1.0, 0.0)]


def test_a_fault_of_before_we_watched_is_unknown(estate):
    """Two hours ago: the first evaluation is one hour old. Nobody here could have seen it."""
    estate.failed(minutes_ago=120)

    estate.evaluate()

    assert estate.rows(_SUMS) == [(0.0, 0.0, 1.0)]
    assert len(estate.rows(_LISTS)) == 1


def test_a_fault_that_a_history_load_tells_of_is_unknown(estate):
    """Its list is made all the same."""
    estate.change(update(tables.run).values(is_history=True))

    estate.evaluate()

    assert estate.rows(_SUMS) == [(0.0, 0.0, 1.0)]


def test_no_fault_is_no_sample(estate):
    """An empty denominator: no row, neither 100 % nor 0 %."""
    estate.state(state="good", reason=None)

    estate.evaluate()

    assert estate.rows(_SUMS) == []


def test_what_nobody_is_paged_for_is_no_sample(estate):
    """An optional dataset may be bad without a list."""
    policy = tables.dataset_policy
    estate.change(update(policy).where(policy.c.dataset_key == CORE).values(tier="optional"))

    estate.evaluate()

    assert estate.rows(_SUMS) == []


def test_a_missed_deadline_counts_from_the_deadline(estate):
    """7,500 s old with a limit of 3,600 s: it passed 65 minutes before the evaluation."""
    estate.state(reason="silent", age_seconds=4_200.0)

    estate.evaluate()

    ((_, fault_at, ready_at, *_),) = estate.rows(_LISTS)
    assert ready_at - fault_at == 10 * MINUTE + 10_000_000


def test_a_deadline_that_was_learned_later_counts_from_the_learning(estate):
    """Nobody can be late for what nobody knew."""
    learned_at = to_micros(NOW) - 2 * MINUTE
    estate.state(reason="silent", limit_origin="learned")
    limit = {"limit_seconds": 3_600.0, "cadence_class": "periodic", "gaps": 9, "explanation": ""}
    estate.change(
        insert(tables.dataset_limit).values(dataset_key=CORE, learned_at=learned_at, **limit)
    )

    estate.evaluate()

    assert estate.rows(_LISTS)[0][1] == learned_at


def test_a_fault_is_counted_once_however_long_it_lasts(estate):
    """More evaluations, another reason, another SLI, a restart: one fault, one sample."""
    estate.evaluate()
    estate.state(reason="silent")
    estate.evaluate()
    estate.state("M1", state="bad", reason="silent")
    estate.evaluate()
    estate.analyst = ImpactAnalyst(lambda: estate.now)
    estate.evaluate()

    assert estate.rows(_SUMS) == [(1.0, 1.0, 0.0)]
    assert len(estate.rows(_LISTS)) == 1


def test_without_its_lists_it_would_count_again(estate, monkeypatch):
    """The mutant of the test above: what is not looked up is found anew at each evaluation."""
    monkeypatch.setattr("service.impact.faults._OPEN", "SELECT dataset_key FROM impact WHERE 1 = 0")
    estate.evaluate()
    estate.evaluate()

    assert estate.rows(_SUMS) == [(2.0, 2.0, 0.0)]


def test_a_second_service_counts_nothing_twice(estate, monkeypatch):
    """Both saw the same evaluation: the one that comes second gives up all of it."""
    other = ImpactAnalyst(lambda: estate.now)
    estate.evaluate()
    monkeypatch.setattr("service.impact.faults._OPEN", "SELECT dataset_key FROM impact WHERE 1 = 0")

    with pytest.raises(IntegrityError):
        other(estate.catalog)

    assert estate.rows(_SUMS) == [(1.0, 1.0, 0.0)]


def test_unknown_keeps_a_fault_open_and_good_ends_it(estate):
    """A dataset that cannot be judged may still be bad; a new fault after good is a new one."""
    estate.evaluate()
    estate.state(state="unknown", reason="pipeline_lag")
    estate.evaluate()
    assert estate.rows("SELECT closed_at FROM impact") == [(None,)]
    estate.state(state="good", reason=None)
    estate.evaluate()
    assert None not in estate.rows("SELECT closed_at FROM impact")[0]

    estate.failed(minutes_ago=1)
    estate.state(state="bad", reason="job_failed")
    estate.evaluate()

    assert estate.rows(_SUMS) == [(2.0, 2.0, 0.0)]


def test_a_long_list_says_that_it_is_cut(estate, monkeypatch):
    """The count is whole, the list is bounded: the gravest are in it."""
    monkeypatch.setattr("service.impact.lists.MOST_LISTED", 1)
    for name, tier in (("mart/a", "optional"), ("mart/b", "critical")):
        shop.add_dataset(estate.catalog, shop.NAMESPACE, name, "good")
        key = shop.dataset_key(name)
        policy = tables.dataset_policy
        estate.change(update(policy).where(policy.c.dataset_key == key).values(tier=tier))
        edge = shop._edge(CORE, key)  # noqa: SLF001 - a row of the same builder
        estate.change(insert(tables.edge).values(**edge))

    estate.evaluate()

    ((affected, partial, listed),) = estate.rows("SELECT affected, partial, listed FROM impact")
    assert (affected, bool(partial)) == (3, True)
    assert [row["dataset"] for row in json.loads(listed)] == ["mart/b"]


@pytest.mark.parametrize(
    ("seconds", "outcome"), [(0, "good"), (899.999, "good"), (900, "bad"), (90_000, "bad")]
)
def test_fifteen_minutes_are_too_long(seconds, outcome):
    """Under 15 minutes is good; the bound itself is not."""
    fault = Fault(1, "silent", to_micros(NOW), is_history=False)

    assert outcome_of(fault, to_micros(NOW) + int(seconds * 1e6), 0) == outcome


def test_the_histogram_has_the_bound_of_the_objective(estate):
    """15 minutes can be read off it, under the one metric without a label of its own."""
    estate.evaluate()

    registry = CollectorRegistry()
    url = estate.catalog.url.render_as_string(hide_password=False)
    registry.register(CatalogCollector(Settings(catalog_url=url)))
    scraped = generate_latest(registry).decode()

    assert f'{analysis.METRIC}_bucket{{le="900.0"}} 1.0' in scraped
    assert f'{analysis.METRIC}_bucket{{le="300.0"}} 0.0' in scraped
    assert f"{analysis.METRIC}_sum 325.0" in scraped

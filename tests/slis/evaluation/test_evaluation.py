"""Evaluations of a catalog: counters, states, amended hours, and repeats."""

from datetime import timedelta

import pytest
from sqlalchemy import delete

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.catalog.meta_keys import BEHIND_SINCE, CATALOG_EPOCH, EVENTS_WAIT_SINCE
from lineage.policy import Policy
from lineage.policy.model import DatasetRule
from lineage.process.clock import to_micros
from slis.evaluation import publish as publishing
from slis.evaluation.evaluation import evaluate
from slis.evaluation.evaluation_memory import EvaluationMemory
from slis.evaluation.input import range_of_evaluation
from tests.slis.catalog_rows import CatalogRows
from tests.slis.sli_frames import day

_SAME_SQL = "the SQL of an evaluation: the others of this file run on it"
POLICY = Policy(
    datasets=(
        DatasetRule("shop/core.orders", tier="critical", limit="2h", owner="sales"),
        DatasetRule("shop/lost", tier="important"),
        DatasetRule("shop/ref.*", source=True),
    )
)


def _unsourced(rows):
    states = rows.rows(tables.dataset_state)
    return [row["dataset_key"] for row in states if row["sli"] == "M5"]


def _counters(rows):
    return {
        (row["sli"], row["tier"]): (row["good"], row["total"], row["unknown"])
        for row in rows.rows(tables.sli_counter)
    }


@pytest.mark.postgres_nightly(_SAME_SQL)
def test_an_empty_catalog_has_no_sample(spark, catalog):
    """Note the evaluation, and what it lacks: an event waits since the day before.

    No datasets, reads or events: no counter, no ratio, no state.
    """
    rows = CatalogRows(catalog, day(0))

    result = evaluate(spark, catalog, Policy(), day(1), backlog_since=day(0))

    assert (result.datasets, result.states, result.reads, result.events) == (0, {}, 0, 0)
    assert rows.rows(tables.sli_counter) == []
    assert rows.rows(tables.sli_now) == []
    assert [row["as_of"] for row in rows.rows(tables.evaluation)] == [to_micros(day(1))]
    noted = {row["name"]: row["value"] for row in rows.rows(tables.meta)}
    times = {BEHIND_SINCE: str(to_micros(day(1))), EVENTS_WAIT_SINCE: str(to_micros(day(0)))}
    assert times.items() <= noted.items()


def test_counters_add_dataset_seconds_and_each_event_once_and_never_fall(spark, catalog):
    """Add at most 60 s an evaluation, and each read or event in exactly one evaluation."""
    rows = CatalogRows(catalog, day(0))
    core = rows.dataset("core.orders")
    lost = rows.dataset("lost")
    rows.dataset("ref.countries")
    rows.written(core, day(1, 11))
    rows.read(core, day(1, 11, 10))
    rows.read(lost, day(1, 11, 10))
    rows.read(lost, day(1, 11, 10), root_run_id="history", is_history=True)
    rows.event(day(1, 11), 2)
    rows.event(day(1, 11), 400)
    rows.event(day(0, 3), 9_999, is_history=True)

    evaluate(spark, catalog, POLICY, day(1, 12))
    first = _counters(rows)
    evaluate(spark, catalog, POLICY, day(1, 12, 0.5))
    unsourced = _unsourced(rows)
    rows.written(lost, day(1, 12, 30))
    evaluate(spark, catalog, POLICY, day(1, 13))

    assert (unsourced, _unsourced(rows)) == ([lost], [])
    events = {
        ("M5", "critical"): (1, 1, 0),
        ("M5", "important"): (0, 1, 0),
        ("M6", "all"): (1, 2, 0),
    }
    assert {at: counts for at, counts in first.items() if counts[1]} == events
    assert _counters(rows) == {
        **events,
        ("M1", "critical"): (90, 90, 0),
        ("M1", "important"): (60, 90, 0),
        ("M1", "optional"): (0, 0, 0),
        ("M2", "critical"): (90, 90, 0),
        ("M2", "important"): (0, 0, 0),
        ("M2", "optional"): (0, 0, 0),
    }
    assert {row["outcome"] for row in rows.rows(tables.dataset_read)} == {"good", "bad", None}
    assert all(row["counted_at"] for row in rows.rows(tables.dataset_read))
    assert len({row["epoch"] for row in rows.rows(tables.sli_counter)}) == 1
    buckets = {
        row["le"]: row["value"]
        for row in rows.rows(tables.lag_bucket)
        if row["processing"] == "batch"
    }
    assert (buckets["2.5"], buckets["300.0"], buckets["900.0"], buckets["+Inf"]) == (1, 1, 2, 2)
    assert (buckets["sum"], buckets["history"]) == (402, 1)


def test_an_evaluation_survives_every_stored_time(spark, catalog):
    """Evaluate an event of the year 1 in a zone ahead of UTC: it once stopped all evaluations."""
    rows = CatalogRows(catalog, day(0))
    core = rows.dataset("core.orders")
    rows.written(core, day(1, 11))
    odd = {}
    for number, stored in enumerate((-(2**63), -62_135_600_400_000_000, 2**63 - 1)):
        odd[rows.dataset(f"odd{number}", writes=1)] = stored
    for at, stored in odd.items():
        rows.written(at, day(1, 11))
        rows.read(at, day(1, 11))
        rows.event(day(1, 11), 2)
        _set_times(catalog, at, rows.seq, stored)

    evaluate(spark, catalog, POLICY, day(1, 12))

    states = {
        row["dataset_key"]: row["state"]
        for row in rows.rows(tables.dataset_state)
        if row["sli"] == "M2"
    }
    assert states[core] == "good"
    assert [at for at, stored in odd.items() if states[at] == "good" and stored <= 0] == []
    assert odd.keys() <= states.keys()


def _set_times(catalog, at, seq, stored):
    """Give all facts of a dataset, and an event, a time that no release stores any more."""
    activity, writes, reads = tables.dataset_activity, tables.dataset_write, tables.dataset_read
    changes = [
        (writes, writes.c.dataset_key == at, ("written_at",)),
        (reads, reads.c.dataset_key == at, ("read_at",)),
        (tables.event, tables.event.c.event_key == seq, ("event_time",)),
        (
            activity,
            activity.c.dataset_key == at,
            ("last_written_at", "last_started_at", "last_failed_at"),
        ),
    ]
    with write_transaction(catalog) as connection:
        for table, condition, names in changes:
            changed = table.update().where(condition).values(dict.fromkeys(names, stored))
            assert connection.execute(changed).rowcount == 1


@pytest.mark.postgres_nightly(_SAME_SQL)
def test_states_keep_since_while_state_and_reason_stay(spark, catalog):
    """Keep 13:00 as `since` while a dataset stays bad, with an age at 14:00; then show it good."""
    rows = CatalogRows(catalog, day(0))
    core = rows.dataset("core.orders")
    rows.written(core, day(1, 10))

    def freshness(hour):
        evaluate(spark, catalog, POLICY, day(1, hour))
        states = [row for row in rows.rows(tables.dataset_state) if row["sli"] == "M2"]
        [row] = [row for row in states if row["dataset_key"] == core]
        return row["state"], row["reason"], row["since"], row["age_seconds"]

    assert freshness(11) == ("good", None, to_micros(day(1, 11)), 3_600)
    assert freshness(13) == ("bad", "silent", to_micros(day(1, 13)), 3 * 3_600)
    assert freshness(14) == ("bad", "silent", to_micros(day(1, 13)), 4 * 3_600)
    rows.written(core, day(1, 14.5))
    assert freshness(15) == ("good", None, to_micros(day(1, 15)), 1_800)


@pytest.mark.postgres_nightly(_SAME_SQL)
def test_ages_of_unchanged_good_datasets_are_written_once_a_minute(spark, catalog):
    """Write the age of a bad dataset, and of one that was written, at each evaluation."""
    rows = CatalogRows(catalog, day(0))
    names = {"core.orders": day(1, 9), "calm": day(1, 8), "busy": day(1, 8)}
    keys = {name: rows.dataset(name) for name in names}
    for name, written_at in names.items():
        rows.written(keys[name], written_at)
    memory = EvaluationMemory()

    def ages(minute):
        evaluate(spark, catalog, POLICY, day(1, 12, minute), memory=memory)
        states = [row for row in rows.rows(tables.dataset_state) if row["sli"] == "M2"]
        found = {row["dataset_key"]: row["age_seconds"] for row in states}
        return [found[key] for key in keys.values()]

    assert ages(0) == [3 * 3_600, 4 * 3_600, 4 * 3_600]
    rows.written(keys["busy"], day(1, 12))
    assert ages(0.5) == [3 * 3_600 + 30, 4 * 3_600, 30]
    assert ages(1) == [3 * 3_600 + 60, 4 * 3_600 + 60, 60]


def test_late_facts_amend_the_hours_they_belong_to_and_no_counter(spark, catalog):
    """Amend 10:30 to 12:30 to good for a write of 10:30, limit 2 h, that landed after 13:00."""
    rows = CatalogRows(catalog, day(0))
    core = rows.dataset("core.orders")
    rows.event(day(0, 5), 1)
    rows.written(core, day(1, 5))
    rows.read(core, day(1, 4, 59), root_run_id="before")
    rows.read(core, day(1, 5, 30))
    evaluate(spark, catalog, POLICY, day(1, 13))
    before = _counters(rows)
    _evaluate_continuously(rows, hours=(4, 10, 11, 12))

    rows.written(core, day(1, 10, 30), landed=day(1, 13, 0.5))
    rows.written(core, day(1, 4, 30), landed=day(1, 13, 0.5))
    rows.batch(day(1, 13, 0.6))
    evaluate(spark, catalog, POLICY, day(1, 13, 1))

    hours = {
        (row["sli"], row["hour"]): (row["good"], row["total"])
        for row in rows.rows(tables.sli_hour)
        if row["tier"] == "critical"
    }
    assert hours["M5", to_micros(day(1, 4))] == (1, 1)
    assert hours["M5", to_micros(day(1, 5))] == (1, 1)
    amended = {at: good for (sli, at), (good, _) in hours.items() if sli == "M2" and good}
    assert amended == {
        to_micros(day(1, 4)): 1_800,
        to_micros(day(1, 10)): 1_800,
        to_micros(day(1, 11)): 3_600,
        to_micros(day(1, 12)): 1_800,
    }
    assert before["M5", "critical"] == _counters(rows)["M5", "critical"] == (1, 2, 0)


def _evaluate_continuously(rows, hours):
    seconds = {"good": 0, "total": 3_600, "unknown": 0}
    with write_transaction(rows.engine) as connection:
        for hour in hours:
            at = {"sli": "M2", "tier": "critical", "hour": to_micros(day(1, hour))}
            connection.execute(tables.sli_hour.insert(), {**at, **seconds})


@pytest.mark.postgres_nightly(_SAME_SQL)
def test_an_evaluation_that_was_overtaken_writes_nothing(spark, catalog, monkeypatch):
    """Count once, although two pipelines run by mistake."""
    rows = CatalogRows(catalog, day(0))
    rows.event(day(1, 11), 2)
    with catalog.connect() as connection:
        stale = range_of_evaluation(connection, day(1, 12))
    evaluate(spark, catalog, POLICY, day(1, 12))
    before = _counters(rows)

    monkeypatch.setattr("slis.evaluation.evaluation.range_of_evaluation", lambda *_: stale)
    with pytest.raises(publishing.OvertakenError):
        evaluate(spark, catalog, POLICY, day(1, 12, 1))

    assert _counters(rows) == before


def test_a_retired_dataset_is_in_no_total(spark, catalog):
    """Remove it by request, or after 90 days without a sign, with a note in the audit log."""
    rows = CatalogRows(catalog, day(0))
    asked = rows.dataset("asked", last_read_at=day(0))
    rows.dataset("old", last_read_at=day(0))
    with write_transaction(catalog) as connection:
        row = {"dataset_key": asked, "requested_at": to_micros(day(1)), "note": "gone"}
        connection.execute(tables.retirement.insert(), row)

    young = evaluate(spark, catalog, Policy(), day(2))
    old = evaluate(spark, catalog, Policy(), day(0) + timedelta(days=91))

    assert (young.datasets, old.datasets) == (1, 0)
    assert rows.rows(tables.dataset_state) == []
    notes = [(row["who"], row["action"]) for row in rows.rows(tables.audit)]
    assert notes == [("pipeline", "retire")] * 2


@pytest.mark.postgres_nightly
def test_limits_are_learned_in_the_evaluation_that_finds_new_writes(spark, catalog):
    """Learn a limit and its explanation from eight gaps of nine daily writes.

    Nothing is left due. A single write has no gap and no limit.
    """
    rows = CatalogRows(catalog, day(0))
    core, once = rows.dataset("mart.daily"), rows.dataset("mart.once")
    for number in range(9):
        rows.written(core, day(number))
    rows.written(once, day(8))

    evaluate(spark, catalog, Policy(), day(8, 1))

    [limit] = rows.rows(tables.dataset_limit)
    assert (limit["dataset_key"], limit["cadence_class"], limit["gaps"]) == (core, "periodic", 8)
    assert limit["cadence_seconds"] == 86_400
    assert 26.4 * 3_600 <= limit["limit_seconds"] < 48 * 3_600
    [activity] = [row for row in rows.rows(tables.dataset_activity) if row["dataset_key"] == core]
    assert activity["learned_writes"] == activity["writes"] == 9
    states = {
        row["dataset_key"]: (row["state"], row["limit_origin"])
        for row in rows.rows(tables.dataset_state)
        if row["sli"] == "M2"
    }
    assert states == {core: ("good", "learned"), once: ("learning", None)}


@pytest.mark.postgres_nightly(_SAME_SQL)
def test_a_restored_catalog_counts_on_under_its_new_epoch(spark, catalog):
    """Remove the epoch after a restore; the old one's counters stay as they were."""
    rows = CatalogRows(catalog, day(0))
    rows.event(day(1, 11), 2)
    evaluate(spark, catalog, Policy(), day(1, 12))
    with write_transaction(catalog) as connection:
        meta = tables.meta
        connection.execute(delete(meta).where(meta.c.name == CATALOG_EPOCH))
    rows.event(day(1, 12), 2)

    evaluate(spark, catalog, Policy(), day(1, 13))

    assert [(row["sli"], row["total"]) for row in rows.rows(tables.sli_counter)] == [("M6", 1)] * 2
    assert len({row["epoch"] for row in rows.rows(tables.sli_counter)}) == 2

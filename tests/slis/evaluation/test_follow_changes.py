"""Evaluations that follow changes give the rows of an evaluation of everything."""

import shutil
import tempfile
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text
from structlog.testing import capture_logs

from lineage.catalog import tables
from lineage.catalog.engine import catalog_url, open_catalog
from lineage.catalog.meta_keys import CHANGES_MISSED
from lineage.process.clock import from_micros
from slis.evaluation import estate_judging
from slis.evaluation.counters import add_amounts, amounts_of, hour_of
from slis.evaluation.dataset_states import OF_FACTS
from slis.evaluation.evaluation import evaluate
from slis.evaluation.evaluation_memory import EvaluationMemory, load_shared
from slis.evaluation.input import EvaluationRange
from slis.evaluation.judgements import judgement_rows
from slis.evaluation.judging import Judging
from slis.meta import read_meta_number
from tests.slis.evaluation.random_histories import (
    KINDS,
    ORDERS,
    POLICIES,
    STEPS,
    History,
    limit,
    written,
)
from tests.slis.sli_frames import day

_STATE = ("dataset_key", "sli", "state", "reason", "evidence", "limit_seconds", "limit_origin")
_SHORT = "tests/slis/evaluation/test_follow_changes.py::test_any_history_gives_the_rows_of_all"
_SHORT_KINDS = "tests/slis/evaluation/test_follow_changes.py::test_a_change_of_each_way_is_followed"
# One of each way to find a dataset: by time, by a trigger, by another dataset, by a gap. Each is in
# a place of its own: no other change of its step has its datasets judged again.
_ROUNDS = (
    (
        (
            *("an edge", "a write", "a learned limit", "it is retired", "a late upstream"),
            *("an input of a stream", "a similar name", "its clock is ahead"),
        ),
        ("a limit passes", "its run is lost"),
        ("its first day ends",),
    ),
    (("a gap excuses it no more",), ("event logs are read after its deadline",), ("the policy",)),
)
_QUIET = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large]


@pytest.fixture(autouse=True)
def _no_whole_evaluation(monkeypatch):
    """Have none judge everything but the first: an hour passes in most histories."""
    monkeypatch.setattr(estate_judging, "WHOLE_EVERY", timedelta(days=10_000))


@pytest.fixture(scope="module")
def estate(empty_catalog):
    """Open a catalog for histories that follow each other, each in a place of its own."""
    with tempfile.TemporaryDirectory() as folder:
        yield (opened := _Estate(Path(folder), empty_catalog))
        opened.engine.dispose()


@pytest.fixture
def judged(spark, tmp_path, empty_catalog):
    """Return such a catalog for this test alone, after the evaluation of everything."""
    estate = _Estate(tmp_path, empty_catalog)
    estate.begin(spark)
    yield estate
    estate.engine.dispose()


class _Estate:
    """Catalog with an estate, and the evaluations of it."""

    def __init__(self, folder, empty_catalog) -> None:
        shutil.copy(empty_catalog, folder)
        self.engine = open_catalog(catalog_url(folder))
        self.memory = EvaluationMemory()
        self.expected = _Expected(self.engine)
        self.now, self.place = day(0), 0

    def begin(self, spark):
        """Judge everything, once."""
        if self.memory.estate is None:
            evaluate(spark, self.engine, POLICIES[0], day(0), memory=self.memory)

    def history(self):
        """Return a history in a new place."""
        self.place += 1
        return History(self.engine, self.now, f"{self.place}")

    def take(self, spark, history, step):
        """Make the changes, wait, and evaluate; return the policy and since when events wait."""
        changes, later, policy, waits = step
        for change in changes:
            history.apply(change)
        history.wait(later)
        return self._evaluate(spark, history.now, policy, waits)

    def take_together(self, spark, histories, number):
        """Take that step of each of these kinds at once, in its history."""
        for kind, history in histories.items():
            history.now = self.now
            for change in KINDS[kind][number][0]:
                history.apply(change)
        _, laters, policies, _ = zip(*(KINDS[kind][number] for kind in histories), strict=True)
        now = self.now + timedelta(seconds=max(laters))
        return self._evaluate(spark, now, max(policies), None)

    def _evaluate(self, spark, now, policy, waits):
        self.now = now
        waiting = None if waits is None else self.now - timedelta(seconds=waits)
        given = {"memory": self.memory, "backlog_since": waiting}
        evaluate(spark, self.engine, POLICIES[policy], self.now, **given)
        assert self.memory.estate.whole_at == day(0), "an evaluation judged everything"
        self.expected.count()
        return POLICIES[policy], waiting


@pytest.mark.parametrize("steps", _ROUNDS, ids=["facts and time", "inputs of all datasets"])
def test_a_change_of_each_way_is_followed(spark, estate, steps):
    """Compare states, judgements and tallies after the changes of each step."""
    estate.begin(spark)
    histories = {kind: estate.history() for kinds in steps for kind in kinds}
    estate.take_together(spark, histories, 0)
    for kinds in steps:
        given = estate.take_together(spark, {kind: histories[kind] for kind in kinds}, 1)
        estate.expected.compare(spark, *given)


@pytest.mark.nightly(short=_SHORT_KINDS)
@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_change_is_followed(spark, estate, kind):
    """Compare them after a change of this kind alone."""
    estate.begin(spark)
    history = estate.history()
    for step in KINDS[kind]:
        given = estate.take(spark, history, step)
    estate.expected.compare(spark, *given)


def test_a_forgotten_change_is_found_within_the_hour(spark, monkeypatch, judged):
    """Log and count the dataset; a limit without its trigger stands for an error of ours."""
    estate, history = judged, judged.history()
    estate.take(spark, history, ([written(ORDERS, 60)], 1, 0, None))
    with estate.engine.begin() as connection:
        connection.execute(text("DROP TRIGGER dataset_limit_added"))
    estate.take(spark, history, ([limit(ORDERS, 30.0)], 1, 0, None))
    monkeypatch.setattr(estate_judging, "WHOLE_EVERY", timedelta(hours=1))
    history.wait(3_600)

    with capture_logs() as logs:
        evaluate(spark, estate.engine, POLICIES[0], history.now, memory=estate.memory)

    [found] = [each for each in logs if each["event"] == "evaluation_missed_changes"]
    assert (found["datasets"], found["dataset_keys"]) == (1, [history.keys[ORDERS]])
    assert estate.memory.estate.whole_at == history.now
    with estate.engine.connect() as connection:
        assert read_meta_number(connection, CHANGES_MISSED) == 1


def test_an_evaluation_without_a_change_starts_no_spark_job(spark, judged):
    """Start jobs for a write, and none for an estate in which nothing changed."""
    history = judged.history()
    jobs = []
    # Patterns of names are counted for an hour, and the stream is late after an hour.
    for number, changes in enumerate(([written(ORDERS)], [], [])):
        later = 7_200 if number else 1
        group = f"evaluation {number}"
        spark.sparkContext.setJobGroup(group, group)
        judged.take(spark, history, (changes, later, 0, None))
        jobs.append(len(spark.sparkContext.statusTracker().getJobIdsForGroup(group)))

    assert jobs[0] > 0
    assert jobs[2] == 0


def test_an_evaluation_of_another_process_is_followed_by_one_of_everything(spark, judged):
    """Forget what was remembered: the other one has taken the notes of changes."""
    evaluate(spark, judged.engine, POLICIES[0], day(0, 1), memory=EvaluationMemory())

    evaluate(spark, judged.engine, POLICIES[0], day(0, 2), memory=judged.memory)

    assert judged.memory.estate.whole_at == day(0, 2)


@settings(max_examples=2, deadline=None, suppress_health_check=_QUIET)
@given(st.lists(STEPS, min_size=2, max_size=3))
def test_any_history_gives_the_rows_of_all(spark, empty_catalog, steps):
    """Compare states, judgements, tallies, counters and hours after each step."""
    _check(spark, empty_catalog, steps)


@pytest.mark.nightly(short=_SHORT)
@settings(max_examples=200, deadline=None, suppress_health_check=_QUIET)
@given(st.lists(STEPS, min_size=2, max_size=6))
def test_many_histories_give_the_rows_of_all(spark, empty_catalog, steps):
    """Compare them in 200 histories."""
    _check(spark, empty_catalog, steps)


def _check(spark, empty_catalog, steps):
    with tempfile.TemporaryDirectory() as folder:
        estate = _Estate(Path(folder), empty_catalog)
        estate.begin(spark)
        history = estate.history()
        for step in steps:
            given = estate.take(spark, history, step)
            estate.expected.compare(spark, *given)
        estate.engine.dispose()


class _Expected:
    """Rows that an evaluation of everything would have stored."""

    def __init__(self, engine) -> None:
        self._engine = engine
        self._counters, self._hours = {}, {}

    def _rows(self, table):
        with self._engine.connect() as connection:
            return [dict(row) for row in connection.execute(table.select()).mappings()]

    def _now(self):
        return [row for row in self._rows(tables.sli_now) if row["sli"] in OF_FACTS]

    def _last(self):
        return max(self._rows(tables.evaluation), key=lambda row: row["as_of"])

    def count(self):
        """Add what is shown as now to counters and hours."""
        last = self._last()
        as_of, previous = from_micros(last["as_of"]), from_micros(last["previous_as_of"])
        seconds = EvaluationRange(as_of, previous, 0, 0).seconds
        for row in self._now():
            amounts = amounts_of(row, seconds)
            add_amounts(self._counters, (row["sli"], row["tier"], row["tier_origin"]), amounts)
            add_amounts(self._hours, (row["sli"], row["tier"], hour_of(as_of)), amounts)

    def compare(self, spark, policy, waiting):
        """Judge everything as of the last evaluation, and compare all that is stored."""
        last = self._last()
        at = EvaluationRange(from_micros(last["as_of"]), None, 0, 0)
        shared = load_shared(self._engine, policy, at.as_of, waiting)
        tallies, judged = Judging(spark, self._engine, at, policy, shared).judge_all()
        states = judged.states.select(_STATE).to_pylist()
        assert self._states() == sorted(states, key=_labels)
        rows = sorted(judgement_rows(judged.rows, judged.states), key=_labels)
        assert sorted(self._rows(tables.dataset_judgement), key=_labels) == rows
        assert last["datasets"] == len(rows)
        shown = [{name: row[name] for name in row if name != "as_of"} for row in tallies]
        assert sorted(self._now(), key=_labels) == sorted(shown, key=_labels)
        assert self._amounts(tables.sli_counter, "tier_origin") == _nonzero(self._counters)
        assert self._amounts(tables.sli_hour, "hour") == _nonzero(self._hours)

    def _states(self):
        own = [row for row in self._rows(tables.dataset_state) if row["sli"] in OF_FACTS]
        return sorted([{name: row[name] for name in _STATE} for row in own], key=_labels)

    def _amounts(self, table, third):
        rows = (row for row in self._rows(table) if row["sli"] in OF_FACTS)
        return _nonzero({(row["sli"], row["tier"], row[third]): amounts_of(row) for row in rows})


def _nonzero(amounts):
    return {key: tuple(round(x, 3) for x in each) for key, each in amounts.items() if any(each)}


def _labels(row):
    return [str(row.get(name)) for name in ("dataset_key", "sli", "tier", "tier_origin")]

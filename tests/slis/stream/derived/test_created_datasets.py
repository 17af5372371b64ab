"""Datasets that were only created fail once the application ends without a run naming any."""

import pytest

from alerts.detection.bad_datasets import load_failures
from lineage.process.clock import to_micros
from lineage.states import NEVER_ENDED
from slis.evaluation.watched_evidence import _CREATED_AT
from slis.stream.names.spellings import spelling_key
from tests.slis.stream.spools import rows
from tests.slis.stream.staged import merge_staged, staged_run

_FAILED = """
    SELECT a.last_failed_run_id, a.last_failed_at, a.last_failure FROM dataset_activity a
    JOIN dataset d ON d.dataset_key = a.dataset_key WHERE d.name = 't'
"""
_FAILING = """
    SELECT d.name FROM dataset_activity a JOIN dataset d ON d.dataset_key = a.dataset_key
    WHERE a.last_failed_at IS NOT NULL
"""
_NONE = [(None, None, None)]
_CREATE = {"run": "create", "outputs": {"t": []}, "lifecycle": "CREATE"}
_MERGE = {"run": "merge", "kind": "START"}


@pytest.fixture
def event(at):
    """Return a function that makes an event of the application `a1`, at a minute past eight."""

    def make(run, minute):
        return staged_run(at(8, minute), **{"root": "a1", "integration": "SPARK", **run})

    return make


@pytest.fixture
def ended(event):
    """Return the end of the application."""
    return event({"run": "a1", "parent": None, "root": None}, 9)


@pytest.mark.postgres_nightly
def test_a_killed_run_without_datasets_fails_the_created_ones(catalogs, at, event, ended):
    """Find the newest such run, in any order of events, as Delta's MERGE leaves it."""
    events = [event(_CREATE, 1), event(_MERGE, 2), event(_MERGE | {"run": "merge2"}, 3), ended]
    for order in (events, events[::-1]):
        catalog = catalogs()
        merge_staged(catalog, *([one] for one in order))
        assert rows(catalog, _FAILED) == [("merge2", to_micros(at(8, 3)), NEVER_ENDED)]
        with catalog.connect() as connection:
            (failure,) = load_failures(connection, [spelling_key("n", "t")]).values()
        assert (failure.run_id, failure.job_name, failure.error) == ("merge2", "app", NEVER_ENDED)


def test_an_end_that_comes_late_takes_the_failure_back(embedded, event, ended):
    """Let the run end without a name of a dataset."""
    begun = [event(_CREATE, 1), event(_MERGE, 2), ended]
    merge_staged(embedded, begun, [event(_MERGE | {"kind": "COMPLETE"}, 3)])

    assert rows(embedded, _FAILED) == _NONE


_SECOND = {"run": "create2", "outputs": {"u": []}, "lifecycle": "CREATE"}


@pytest.mark.postgres_nightly
def test_only_the_last_table_created_before_the_run_fails(catalogs, event, ended):
    """Leave alone what a session created before, or later: a run has one target."""
    third = _SECOND | {"run": "create3", "outputs": {"v": []}}
    events = [event(_CREATE, 1), event(_SECOND, 2), event(_MERGE, 3), event(third, 4), ended]
    for order in (events, events[::-1]):
        catalog = catalogs()
        merge_staged(catalog, *([one] for one in order))
        assert rows(catalog, _FAILING) == [("u",)]


_OTHERS = {
    "is a reader": [(_MERGE | {"inputs": ["t"]}, 2)],
    "is of another application of the DAG": [(_MERGE | {"parent": "a2"}, 2)],
    "is of another engine": [(_MERGE | {"integration": "TRINO"}, 2)],
    "is beside a run that wrote the dataset": [
        (_MERGE, 2),
        ({"run": "insert", "inputs": ["a"], "outputs": {"t": []}}, 3),
    ],
}


@pytest.mark.parametrize("case", _OTHERS)
def test_another_run_without_an_end_fails_nothing(embedded, event, ended, case):
    """Leave the dataset as it is where the killed run surely wrote another, or none."""
    merge_staged(embedded, [event(_CREATE, 1), *(event(*one) for one in _OTHERS[case]), ended])

    assert rows(embedded, _FAILED) == _NONE


_CREATED = f"""
    SELECT d.name, {_CREATED_AT} FROM dataset d
    LEFT JOIN dataset_activity a ON a.dataset_key = d.dataset_key ORDER BY 1
"""  # noqa: S608 - our own query


def test_a_table_that_was_only_created_has_no_run_under_way(embedded, at, event):
    """Drop the creation once the table is read, or a run that writes it has started."""
    tables = [{"run": name, "outputs": {name: []}, "lifecycle": "CREATE"} for name in "rtw"]
    reader = {"run": "reader", "inputs": ["r"], "outputs": {"other": []}}
    writer = {"run": "writer", "kind": "START", "inputs": ["other"], "outputs": {"w": []}}
    created = [event(run, minute) for run in tables for minute in (1, 2)]
    merge_staged(embedded, [*created[1::2], event(reader, 3), event(writer, 4)])

    found = rows(embedded, _CREATED)
    assert found == [("other", None), ("r", None), ("t", to_micros(at(8, 2))), ("w", None)]

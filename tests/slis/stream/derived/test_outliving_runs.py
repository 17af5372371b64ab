"""Runs that may continue after their root run has ended."""

import pytest

from tests.slis.stream.spools import rows
from tests.slis.stream.staged import merge_staged, staged_run

_FAILED = "SELECT last_failed_run_id FROM dataset_activity WHERE last_failed_at IS NOT NULL"


@pytest.fixture
def events(at):
    """Return a DAG that completed, and an application below it with a write without an end."""
    below = {"root": "dag", "integration": "SPARK", "kind": "START"}
    return [
        staged_run(at(8), **below, run="app"),
        staged_run(at(8, 1), **below, run="write", parent="app", outputs={"t": []}),
        staged_run(at(8, 2), run="dag", integration="AIRFLOW"),
    ]


@pytest.mark.postgres_nightly
def test_a_write_continues_after_a_dag_that_did_not_wait_for_its_application(catalogs, events):
    """Fail no dataset while the application works, in any order of events."""
    for order in (events, events[::-1], [events[1], events[2], events[0]]):
        catalog = catalogs()
        merge_staged(catalog, *([one] for one in order))
        assert rows(catalog, _FAILED) == []


def test_a_write_without_an_end_fails_with_its_application(embedded, at, events):
    """Wait for the end of the application, which may come after that of the DAG."""
    end = staged_run(at(9), run="app", root="dag", integration="SPARK")
    merge_staged(embedded, *([one] for one in [*events, end]))

    assert rows(embedded, _FAILED) == [("write",)]

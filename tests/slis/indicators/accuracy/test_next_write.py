"""Lifetime of a check of a run's own facets."""

import pytest
from sqlalchemy import insert, text

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from slis.indicators.accuracy.catalog import _LATEST
from tests.slis.plans import plan_of

HOUR = 3_600_000_000
_MINUTE = HOUR // 60
_QUERY = _LATEST.format(since=0, settled=100 * HOUR)


def _dataset(key):
    name = {"dataset_key": key, "canonical_key": key, "namespace": "n", "name": str(key)}
    return {**name, "first_seen_at": 1, "last_seen_at": 1}


def _write(root, hour, minute=0):
    flags = dict.fromkeys(("names_input", "is_reported", "is_streaming", "is_history"), False)
    at = {"written_at": hour * HOUR + minute * _MINUTE, "landed_at": hour * HOUR}
    job = {"job_key": 1, "job_namespace": "jobs", "job_name": "job"}
    bucket = {"dataset_key": 1, "root_run_id": root, "bucket": hour * HOUR + 1}
    return {**bucket, **job, **at, **flags}


def _check(hour):
    """Return a check of the root run `a`, of what it wrote by 10 past the hour."""
    key = {"upstream_key": 2, "downstream_key": 1, "job_key": 1, "job_version": 1}
    run = {"root_run_id": "a", "producer": "p", "adapter_version": "1"}
    outcome = {"outcome": "edge_missing", "oracle": "sql", "written_at": hour * HOUR + 10 * _MINUTE}
    return {**key, **run, **outcome, "first_checked_at": 1, "checked_at": 1}


@pytest.mark.parametrize(
    ("later", "stands"),
    [
        ([], True),
        ([("a", 9, 50)], True),
        ([("a", 9, 10), ("a", 10)], False),
        ([("a", 9, 10), ("b", 9, 20)], False),
    ],
    ids=["none", "within the hour", "in the next hour", "by the next run"],
)
def test_a_check_lasts_until_the_next_write_of_its_job(embedded, later, stands):
    """Clear no check by a write that came before it: a root run may write for months."""
    writes = [("a", 7), ("b", 8), *(later or [("a", 9, 10)])]
    with write_transaction(embedded) as connection:
        connection.execute(insert(tables.dataset), [_dataset(1), _dataset(2)])
        connection.execute(insert(tables.dataset_write), [_write(*each) for each in writes])
        connection.execute(insert(tables.edge_check), _check(9))
        found = connection.execute(text(_QUERY)).all()

    assert bool(found) is stands


def test_the_next_write_is_found_by_its_time(embedded):
    """Compare no hour of a root run with each other one: it may have thousands."""
    with embedded.connect() as connection:
        plan = plan_of(connection, _QUERY)

    assert (
        "SEARCH o USING INDEX sqlite_autoindex_dataset_write_1 (dataset_key=? AND root_run_id"
        in plan
    )
    assert "SEARCH n USING INDEX dataset_write_time (dataset_key=? AND written_at>?)" in plan

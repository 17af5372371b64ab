"""Root runs, by which edges are counted, and the hours of their writes."""

import pytest
from sqlalchemy import insert, text

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from slis.indicators.completeness.edge_catalog import _EDGES
from slis.indicators.quality.evaluate import _SOURCES
from tests.slis.plans import plan_of

HOUR = 3_600_000_000
_DAYS, _HOURS = 10, 7
_FRESH = _SOURCES.format(since=0, declared="(0, 0)")


def _rows(bucket_offset):
    """Return an edge of ten daily runs that write its dataset in seven hours each."""
    days = range(1, _DAYS + 1)
    hours = [(day, (day * 24 + hour) * HOUR) for day in days for hour in range(_HOURS)]
    flags = dict.fromkeys(("names_input", "is_reported", "is_streaming", "is_history"), False)
    job = {"job_key": 1, "job_namespace": "jobs", "job_name": "job"}
    seen = {"first_seen_at": hours[0][1], "last_seen_at": hours[-_HOURS][1]}
    name = {"namespace": "n", "first_seen_at": 1, "last_seen_at": 1}
    return {
        "dataset": [
            {"dataset_key": key, "canonical_key": key, "name": str(key), **name} for key in (1, 2)
        ],
        "dataset_write": [
            {"dataset_key": 1, "root_run_id": f"r{day}", "bucket": at + bucket_offset, **job}
            | {"written_at": at, "landed_at": at, **flags}
            for day, at in hours
        ],
        "edge": [{"upstream_key": 2, "downstream_key": 1, **job, **seen, "runs": _DAYS}],
        "dataset_activity": [{"dataset_key": 1, "writes": len(hours), "learned_writes": 0}],
        "dataset_policy": [
            {"dataset_key": 1, "tier": "critical", "tier_origin": "declared"}
            | dict.fromkeys(("is_source", "is_generated", "is_streaming", "is_declared"), False)
        ],
    }


def _fill(connection, bucket_offset=1):
    for table, rows in _rows(bucket_offset).items():
        connection.execute(insert(tables.metadata.tables[table]), rows)


@pytest.mark.parametrize(("cadence", "expected"), [(None, (None, _DAYS)), (3600.0, (24.67, 70))])
def test_an_edge_is_compared_with_root_runs(embedded, cadence, expected):
    """Judge an edge of each daily run, though its dataset is written every hour of the run."""
    with write_transaction(embedded) as connection:
        _fill(connection)
        limit = {"dataset_key": 1, "learned_at": 1, "cadence_seconds": cadence, "gaps": 1}
        limit |= {"cadence_class": "PERIODIC", "explanation": ""}
        connection.execute(insert(tables.dataset_limit), limit)
        [edge] = connection.execute(text(_EDGES)).all()

    hours = None if edge[-3] is None else round(edge[-3] / 3600, 2)
    assert (hours, edge[-2]) == expected


@pytest.mark.parametrize(("bucket_offset", "runs"), [(1, 8), (0, 8 * _HOURS)])
def test_a_new_source_is_new_against_root_runs(embedded, bucket_offset, runs):
    """Count a run of many hours once: its ninth hour is no history. A stream's hours count."""
    with write_transaction(embedded) as connection:
        _fill(connection, bucket_offset)
        connection.execute(tables.edge.update().values(first_seen_at=(9 * 24 - 1) * HOUR))
        [source] = connection.execute(text(_FRESH)).all()

    assert source[-1] == runs


def test_both_are_counted_by_an_index(embedded):
    with embedded.connect() as connection:
        plans = [plan_of(connection, query) for query in (_EDGES, _FRESH)]

    assert ["SCAN w" in plan for plan in plans] == [False, False]

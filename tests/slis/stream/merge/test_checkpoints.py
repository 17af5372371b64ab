"""Checkpoints of streams, over staged rows."""

import pytest
from sqlalchemy import insert, text

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from slis.stream.derived.derive_facts import derive_facts
from slis.stream.merge.checkpoints import merge_checkpoints
from slis.stream.staging import staging

HOUR = 3_600_000_000
SOURCE, SINK = 1, 2
_STARTED, _CHECKPOINT, _LAST = HOUR, 2_400 * HOUR, 2_400 * HOUR + 7
_CHECKPOINTS = (
    ("run_key", "hour", "first_at", "last_at"),
    [(1, _CHECKPOINT, _CHECKPOINT, _LAST)],
)
_TIMES = """
    SELECT last_seen_at FROM dataset
    UNION ALL SELECT last_event_at FROM run_io
    UNION ALL SELECT last_seen_at FROM edge UNION ALL SELECT last_reported_at FROM edge
    UNION ALL SELECT seen_at FROM edge_run
    UNION ALL SELECT last_read_at FROM dataset_activity WHERE dataset_key = 1
    UNION ALL SELECT last_written_at FROM dataset_activity WHERE dataset_key = 2
"""


def _start(connection, processing_type):
    """Store the START of a job that reads one topic into another."""
    at = {"first_event_at": _STARTED, "last_event_at": _STARTED, "landed_at": 1}
    seen = {"first_seen_at": _STARTED, "last_seen_at": _STARTED}
    root = {"root_run_id": "a", "root_job_namespace": "flink", "root_job_name": "job"}
    run = {"run_key": 1, "run_id": "a", "job_namespace": "flink", "job_name": "job", **root, **at}
    run |= {"processing_type": processing_type, "is_history": False, "started_at": _STARTED}
    connection.execute(insert(tables.run), run)
    for number, direction in ((SOURCE, "read"), (SINK, "write")):
        name = {"namespace": "kafka", "name": direction}
        key = {"dataset_key": number, "canonical_key": number}
        connection.execute(insert(tables.dataset), {**key, **name, **seen})
        io = {"run_key": 1, "dataset_key": number, "direction": direction, **at}
        flags = {"has_statistics": False, "is_reported": True}
        connection.execute(insert(tables.run_io), {**io, **flags})


def _merge(connection):
    staging.create(connection)
    staging.fill(connection, {"s_checkpoint": _CHECKPOINTS, "s_run": (["run_key"], [(1,)])})
    merge_checkpoints(connection)
    derive_facts(connection, 3)


@pytest.mark.parametrize(
    ("processing_type", "times"), [("STREAMING", {_LAST}), ("BATCH", {_STARTED, None})]
)
def test_a_checkpoint_mentions_all_that_its_stream_touches(embedded, processing_type, times):
    """Keep a stream that runs for 100 days, its topics and its edge from getting too old."""
    with write_transaction(embedded) as connection:
        _start(connection, processing_type)
        _merge(connection)
        found = connection.scalars(text(_TIMES)).all()

    assert (set(found), len(found)) == (times, 9)

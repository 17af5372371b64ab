"""Statements that derive writes, over staged rows."""

import pytest
from sqlalchemy import insert, text

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from slis.stream.derived.writes import _REVOKED, derive_writes
from slis.stream.staging import staging

HOUR = 3_600_000_000


def _write(bucket):
    """Return a row of `dataset_write`, of the root run `a` and the dataset 1."""
    flags = dict.fromkeys(("names_input", "is_reported", "is_streaming", "is_history"), False)
    job = {"job_key": 1, "job_namespace": "jobs", "job_name": "job"}
    at = {"written_at": bucket, "landed_at": 1}
    return {"dataset_key": 1, "root_run_id": "a", "bucket": bucket, **job, **at, **flags}


def test_a_write_without_an_hour_is_no_hour_of_a_stream(embedded):
    """Compare hours for a stream alone.

    0 is the bucket of all writes of a root run before migration 0011.
    """
    stream = {"run_key": 1, "dataset_key": 1, "root_run_id": "a", "direction": "write"}
    stream |= {"is_streaming": 1, "names_input": 1, "is_write": 0}
    with write_transaction(embedded) as connection:
        staging.create(connection)
        staging.fill(connection, {"t_touched": (tuple(stream), [tuple(stream.values())])})
        connection.execute(
            insert(tables.dataset_write), [_write(0), _write(HOUR), _write(HOUR + 1)]
        )
        derive_writes(connection, 2)
        found = connection.execute(text("SELECT bucket, names_input FROM dataset_write")).all()

    assert sorted(found) == [(0, False), (HOUR, True), (HOUR + 1, False)]


@pytest.mark.parametrize(("completed", "revoked"), [([], 0), ([(2, HOUR + 9)], 1)])
def test_a_schema_change_revokes_only_what_its_run_was_counted_for(embedded, completed, revoked):
    """Leave the hour's write alone, unless the run had completed before it reported the change."""
    change = {"run_key": 2, "dataset_key": 1, "root_run_id": "a", "direction": "write"}
    change |= {"completed_at": HOUR + 9, "is_schema_change": 1}
    staged = {
        "t_touched": (tuple(change), [tuple(change.values())]),
        "t_known": (("run_key", "completed_at"), completed),
    }
    with write_transaction(embedded) as connection:
        staging.create(connection)
        staging.fill(connection, staged)
        connection.execute(insert(tables.dataset_write), _write(HOUR + 1))
        found = connection.execute(text(_REVOKED)).all()

    assert len(found) == revoked


def test_a_run_that_evidence_fails_takes_its_write_back(embedded):
    """Recompute a write whose run had completed, also where no event of the batch is of the run."""
    run = {"run_key": 1, "dataset_key": 1, "root_run_id": "a", "direction": "write"}
    run |= {"completed_at": HOUR + 9, "failed_at": HOUR + 9, "is_write": 0}
    with write_transaction(embedded) as connection:
        staging.create(connection)
        staging.fill(connection, {"t_touched": (tuple(run), [tuple(run.values())])})
        connection.execute(insert(tables.dataset_write), _write(HOUR + 1))
        derive_writes(connection, 2)

        assert connection.execute(text("SELECT count(*) FROM dataset_write")).scalar() == 0

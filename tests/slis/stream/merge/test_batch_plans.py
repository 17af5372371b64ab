"""Query plans of batches: no batch reads a table of the catalog whole."""

import pytest

from slis.stream.derived import failed_runs, writes
from slis.stream.names import rekey
from slis.stream.staging import staging
from tests.slis.plans import plan_of, scanned_tables

# Aliases of the tables of a batch.
_SMALL = (
    "s",
    "t",
    "k",
    "t_run",
    "touched",
    "ended",
    "abandoned",
    "newest",
    "created",
    "target",
    "q",
)
_QUERIES = {  # the queries themselves
    "runs without an end": failed_runs._ABANDONED,  # noqa: SLF001
    "runs without an end that name nothing": failed_runs._ABANDONED_UNNAMED,  # noqa: SLF001
    "root runs that have ended": failed_runs._STORE_ENDED.text,  # noqa: SLF001
    "outdated failures": failed_runs._OUTDATED.text,  # noqa: SLF001
    "failures that a root run outdates": failed_runs._OUTDATED_BY_ROOTS.text,  # noqa: SLF001
}


_NEW_ROWS = {
    "writes": writes._WRITES_OF_BATCH.format(  # noqa: SLF001
        chosen=f"NOT ({writes._IS_KNOWN.format(write='w')})"  # noqa: SLF001
    ),
    "writes of streams": writes._STREAM_WRITES.format(  # noqa: SLF001
        chosen=f"NOT ({writes._IS_KNOWN.format(write='s')})"  # noqa: SLF001
    ),
    "number of new writes": writes._COUNT_NEW_WRITES,  # noqa: SLF001
}


@pytest.fixture
def connection(embedded):
    with embedded.connect() as opened:
        staging.create(opened)
        yield opened


@pytest.mark.parametrize("query", _QUERIES.values(), ids=_QUERIES)
def test_a_batch_reads_runs_and_writes_by_an_index(connection, query):
    scanned = scanned_tables(connection, query)

    assert [name for name in scanned if name not in _SMALL] == []


@pytest.mark.parametrize("query", [writes._WRITES_OF_ROOT, writes._JOBS_OF_ROOT])  # noqa: SLF001
def test_a_write_is_computed_again_from_the_runs_of_its_hour(connection, query):
    """Find these among the 100,000 runs of a Thrift server by the index `run_completed`."""
    assert "(root_run_id=? AND completed_at>? AND completed_at<?)" in plan_of(connection, query)


def test_a_root_run_is_found_by_its_id(connection):
    """Read none of its 100,000 runs while the root run has not ended."""
    plan = plan_of(connection, failed_runs._STORE_ENDED.text)  # noqa: SLF001

    assert "SEARCH root USING INDEX run_run_id (run_id=?)" in plan


def test_runs_of_the_edges_of_a_dataset_are_found_by_their_key(connection):
    """Read no other row of `edge_run` when a dataset gets another key."""
    moving, renaming = rekey._statements, rekey._renaming  # noqa: SLF001 - the statements themselves
    every = [each.text for of in (moving, renaming) for each in of(connection.dialect)]
    on_runs = [each for each in every if "edge_run" in each]

    assert len(on_runs) == 6
    by_key = "edge_run USING PRIMARY KEY (upstream_key=? AND downstream_key=? AND job_key="
    assert [each for each in on_runs if by_key not in plan_of(connection, each)] == []


@pytest.mark.parametrize("query", _NEW_ROWS.values(), ids=_NEW_ROWS)
def test_stored_writes_are_looked_up_by_their_keys(connection, query):
    """Compare no new write with each stored one of its batch."""
    assert "SEARCH k USING COVERING INDEX sqlite_autoindex_t_known_" in plan_of(connection, query)

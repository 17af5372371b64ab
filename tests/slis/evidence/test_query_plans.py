"""Query plans of the queries of each minute or scrape: none reads months of rows."""

import pytest
from sqlalchemy import text

from service.exporter import evidence
from service.queries import diff
from service.queries.marquez_api import ids
from slis.evidence import match, missing, written_rows
from slis.stream.staging import staging
from tests.slis.plans import scanned_tables

_GIVEN = {
    "since": 0,
    "due": 1,
    "landed_at": 1,
    "horizon": 0,
    "name": "orders",
    "namespace": None,
    "whole": "orders",
    "most": 10,
}
_QUERIES = {
    "groups that are due": missing._GROUPS,  # noqa: SLF001 - the queries themselves, as below
    "open ends": missing._OPEN_ENDS,  # noqa: SLF001
    "failures": missing._FAILED,  # noqa: SLF001
    "ends": missing._COMPLETED,  # noqa: SLF001
    "names": missing._NAMED,  # noqa: SLF001
    "runs by evidence": evidence._RUNS,  # noqa: SLF001
    "runs of a job": diff._RUNS,  # noqa: SLF001
    "runs of a node": ids._RUNS,  # noqa: SLF001
    "runs of a part": ids._RUNS_OF_PART,  # noqa: SLF001
}
_OTHERS = {
    "alone": missing._ALONE,  # noqa: SLF001
    "touched": missing._TOUCHED,  # noqa: SLF001
    "rows": written_rows.COUNT,
    "settled": missing._SETTLED,  # noqa: SLF001
    "roots": match._ROOTS,  # noqa: SLF001
    "edges": match._EDGES_OF_RUN.text,  # noqa: SLF001
    **{common: match._MATCHED.format(common=common) for common in match._CONDITIONS},  # noqa: SLF001
}


@pytest.fixture
def connection(embedded):
    with embedded.connect() as opened:
        staging.create(opened)
        yield opened


def _list_scanned(connection, query):
    """Return the tables that SQLite would read whole, other than those of a pass alone."""
    return scanned_tables(connection, query, _GIVEN, small=("known", "root_", "leaf_"))


def test_no_query_reads_a_table_whole(connection):
    """Find due, open, failed and named rows by an index."""
    found = {name: _list_scanned(connection, query) for name, query in (_QUERIES | _OTHERS).items()}

    assert found == {name: [] for name in _QUERIES | _OTHERS}


def test_each_index_is_needed(connection):
    """Drop the index: the same queries then read `execution` or `run` whole."""
    for index in ("execution_unsettled", "run_evidence", "run_root_job", "run_leaf_job"):
        connection.execute(text(f"DROP INDEX {index}"))

    found = {name: bool(_list_scanned(connection, query)) for name, query in _QUERIES.items()}

    assert found == dict.fromkeys(_QUERIES, True)

"""Check that no batch reads a table of the catalog whole."""

import pytest

from slis.stream import failed_runs, staging
from tests.slis.plans import scanned_tables

_SMALL = ("s", "t", "touched", "abandoned")  # aliases of what a batch holds
_QUERIES = {
    "runs without an end": failed_runs._ABANDONED,  # noqa: SLF001 - the queries themselves
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

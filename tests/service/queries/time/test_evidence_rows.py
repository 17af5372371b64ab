"""Row counts of event logs, which are used only where an event reported none."""

import pytest
from sqlalchemy import update

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.catalog.reader import open_reader
from lineage.process.clock import to_micros
from service.queries.dataset_history import dataset_history
from service.queries.dataset_lookup import resolve_dataset
from service.queries.diff import ValueChange, compare_runs
from service.queries.lineage_at import past_lineage
from service.queries.runs import runs_of_id
from tests.slis.stream.spools import run_event

pytestmark = pytest.mark.postgres_nightly

_COUNTED = 7


@pytest.fixture
def reader(lander, catalog, at):
    """Land one run whose event reports 3 rows, and one whose event reports none."""
    for number, rows in enumerate((3, None)):
        fields = {"inputs": ["raw"], "outputs": ["core"], "rows_written": rows}
        lander.land(run_event("COMPLETE", at(number + 1), run=f"r{number}", **fields))
    with write_transaction(catalog) as connection:
        counted = {"evidence_rows": _COUNTED, "evidence_bytes": 70}
        of_writes = tables.run_io.c.direction == "write"
        connection.execute(update(tables.run_io).where(of_writes).values(**counted))
        began = {"name": "installed_at", "value": f"{to_micros(at(0)):016d}"}
        connection.execute(tables.meta.insert(), began)
    with open_reader(catalog.url.render_as_string(hide_password=False)) as opened:
        yield opened


@pytest.mark.parametrize(("run_id", "rows", "size"), [("r0", 3, 1), ("r1", _COUNTED, 70)])
def test_a_run_shows_its_rows(reader, run_id, rows, size):
    """Show rows and bytes."""
    (answer,) = runs_of_id(reader, run_id).runs

    assert [(io.rows, io.bytes) for io in answer.datasets if io.direction == "write"] == [
        (rows, size)
    ]


def test_a_dataset_shows_the_rows_of_its_writes(reader):
    """Show the newest first."""
    found = dataset_history(reader, resolve_dataset(reader, "core", "n"), limit=5)

    assert [write.rows for write in found.writes] == [_COUNTED, 3]


def test_the_rows_of_a_write_are_those_of_its_hour(lander, reader, catalog, at):
    """Show for each hour of a long application what its queries wrote in it."""
    for number in (3, 4):
        fields = {"outputs": ["hourly"], "root": ("a1", "app")}
        lander.land(run_event("COMPLETE", at(number, 30), run=f"q{number}", **fields))
        with write_transaction(catalog) as connection:
            of_newest = tables.run_io.c.evidence_rows.is_(None)
            connection.execute(update(tables.run_io).where(of_newest).values(evidence_rows=number))

    found = dataset_history(reader, resolve_dataset(reader, "hourly", "n"), limit=5)

    assert [write.rows for write in found.writes] == [4, 3]


def test_a_comparison_shows_row_counts(reader):
    """Show them as values of the output."""
    (core,) = compare_runs(reader, "r0", "r1").datasets

    assert core.changes == [
        ValueChange("rows", "3", str(_COUNTED)),
        ValueChange("bytes", "1", "70"),
    ]


def test_the_graph_of_the_past_shows_row_counts(reader, at):
    """Show those of the run that made the edge."""
    fields = {}
    for hour in (1, 2):
        named = resolve_dataset(reader, "core", "n")
        found = past_lineage(reader, named, to_micros(at(hour, 30)), depth=1, direction="upstream")
        fields[hour] = found.upstream[0].run.wrote.rows

    assert fields == {1: 3, 2: _COUNTED}

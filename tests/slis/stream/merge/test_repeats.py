"""Rows of a batch that are there once, and several times."""

import pytest
from sqlalchemy import Text, text

from lineage.catalog.engine import write_transaction
from slis.stream.merge.merge_events import EVENT_QUERY
from slis.stream.merge.merge_facts import RUN_IO_QUERY, RUN_QUERY
from slis.stream.merge.repeats import Repeats, find_repeats, query_for
from slis.stream.staging import staging
from slis.stream.staging.tables import staged_metadata

_GIVEN = {"landed_at": 7, "last_seq": 8}
_RUN = ("run_key",)
_EVENT = ("event_time", "event_key")
_IO = ("run_key", "spelling_key", "direction")
_NAME = ("spelling_key", "dataset_key")


def _row(table, number):
    """Return a row with a value in each column; its keys are the number."""
    columns = enumerate(staged_metadata.tables[table].columns)
    return tuple(
        number
        if column.name.endswith("_key") or column.name.startswith(("is_", "has_"))
        else f"{place} of {number}"
        if isinstance(column.type, Text)
        else 100 * number + place
        for place, column in columns
    )


@pytest.mark.parametrize(
    "query", [RUN_QUERY, RUN_IO_QUERY, EVENT_QUERY], ids=["run", "run_io", "event"]
)
def test_rows_of_different_keys_need_no_groups(catalog, query):
    """Return the same rows with groups and without them, with a value in each column."""
    staged = {
        table: (staged_metadata.tables[table].columns.keys(), [_row(table, 0), _row(table, 1)])
        for table in ("s_run", "s_run_io", "s_name", "s_facets", "s_event")
    }
    queries = (query_for(query, has_repeats=has_repeats) for has_repeats in (True, False))
    with write_transaction(catalog) as connection:
        staging.create(connection)
        staging.fill(connection, staged)
        connection.execute(text("UPDATE s_event SET problem = NULL"))
        grouped, single = (
            sorted(map(str, connection.execute(text(each.format(chosen="1 = 1")), _GIVEN)))
            for each in queries
        )

    assert single == grouped
    assert len(single) == 2


def test_a_query_without_groups_names_no_aggregate():
    """Leave no function that makes one row of all."""
    for query in (RUN_QUERY, RUN_IO_QUERY, EVENT_QUERY):
        single = query_for(query, has_repeats=False)
        assert not [word for word in ("max(", "min(", "GROUP BY") if word in single]


@pytest.mark.parametrize(
    ("staged", "repeats"),
    [
        ({}, Repeats(runs=False, run_io=False, events=False)),
        ({"s_run": (_RUN, [(1,), (2,)])}, Repeats(runs=False, run_io=False, events=False)),
        ({"s_run": (_RUN, [(1,), (1,)])}, Repeats(runs=True, run_io=False, events=False)),
        (
            {"s_event": (_EVENT, [(5, 1), (6, 1), (5, 2)])},
            Repeats(runs=False, run_io=False, events=False),
        ),
        ({"s_event": (_EVENT, [(5, 1), (5, 1)])}, Repeats(runs=False, run_io=False, events=True)),
        (
            {
                "s_name": (_NAME, [(1, 7), (2, 8)]),
                "s_run_io": (_IO, [(1, 1, "read"), (1, 2, "read"), (1, 1, "write")]),
            },
            Repeats(runs=False, run_io=False, events=False),
        ),
        (  # two spellings of one dataset
            {
                "s_name": (_NAME, [(1, 7), (2, 7)]),
                "s_run_io": (_IO, [(1, 1, "read"), (1, 2, "read")]),
            },
            Repeats(runs=False, run_io=True, events=False),
        ),
    ],
)
def test_repeats_are_found_by_the_key_of_the_row(staged, repeats):
    """Find facts with several rows, by the keys that the catalog has."""
    assert find_repeats(staged) == repeats

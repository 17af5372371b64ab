"""Files joined to the datasets of their folders, by staged rows alone."""

import pytest
from sqlalchemy import text

from lineage.names.keys import key
from slis.indicators.accuracy import facet_catalog
from slis.stream.merge.merge_facts import merge_datasets
from slis.stream.names import files, rekey
from slis.stream.names.canonical import resolve_components
from slis.stream.names.claims_catalog import unsettled_claims
from slis.stream.staging import staging
from tests.slis.stream.spools import CANONICAL, rows
from tests.slis.stream.staged import merge_staged, staged_run

_FOLDER, _FILE = "/raw/orders", "/raw/orders/day1.csv"
_NAMES = "spelling_key dataset_key namespace name folder_key is_dataset first_seen_at last_seen_at"


@pytest.fixture
def moved(monkeypatch):
    """Return the list to which each move is added."""
    found = []

    def move(connection, old, new):
        found.append(len(old))
        rekey.move_facts(connection, old, new)

    monkeypatch.setattr(files, "move_facts", move)
    return found


@pytest.mark.parametrize("is_known", [False, True], ids=["new", "known"])
def test_only_a_file_of_which_something_is_known_is_moved(embedded, at, moved, is_known):
    """Skip the 40 statements of a move for a new file."""
    batches = [
        [staged_run(at(8), run="w", outputs={_FOLDER: []})],
        [staged_run(at(9), inputs=[_FILE], outputs={"t": []})],
    ]
    merge_staged(embedded, *(reversed(batches) if is_known else batches))

    assert (_FILE, _FOLDER) in rows(embedded, CANONICAL)
    assert moved == ([1] if is_known else [])


def test_a_file_joins_when_another_name_of_its_folder_is_written(embedded, at):
    """Write the folder of a known file by its name as a table."""
    symlinks = {_FOLDER: "db.orders"}
    merge_staged(
        embedded,
        [staged_run(at(7), inputs=[_FOLDER, _FILE], outputs={"t": []}, symlinks=symlinks)],
        [staged_run(at(8), run="w", outputs={"db.orders": []})],
    )

    names = {name: dataset for name, dataset in rows(embedded, CANONICAL) if name != "t"}
    assert len(names) == 3
    assert len(set(names.values())) == 1


def test_a_file_that_column_lineage_alone_names_belongs_to_its_folder(embedded, at):
    """Write its folder; no event names the file as a dataset."""
    merge_staged(
        embedded,
        [staged_run(at(8), run="w", outputs={_FOLDER: []})],
        [staged_run(at(9), outputs={"t": [_FILE]})],
    )

    assert (_FILE, _FOLDER) in rows(embedded, CANONICAL)
    upstream = "SELECT name FROM edge JOIN dataset ON dataset_key = upstream_key"
    assert rows(embedded, upstream) == [(_FOLDER,)]


def test_a_file_that_a_check_misses_belongs_to_its_folder(embedded, at):
    """Store the name that a facet alone has."""
    merge_staged(embedded, [staged_run(at(8), run="w", outputs={_FOLDER: []})])
    upstream = key("n", _FILE)
    source = {"upstream": upstream, "upstream_namespace": "n", "upstream_name": _FILE}

    with embedded.begin() as connection:
        facet_catalog._name_upstreams(connection, [source], {upstream}, 1)  # noqa: SLF001 - without Spark

    assert (_FILE, _FOLDER) in rows(embedded, CANONICAL)


@pytest.mark.parametrize(("before", "after"), [(8, 9), (9, 8)])
def test_a_file_belongs_to_the_newest_folder(embedded, before, after):
    """Fold the folder to another dataset: the file follows, whatever the keys."""
    with embedded.begin() as connection:
        for folder in (before, after):
            staging.create(connection)
            names = [
                (1, "f/orders/orders.csv", folder),
                *((one, f"{one}/orders", None) for one in (8, 9)),
            ]
            rows_of_batch = [(one, one, "n", name, of, 1, 1, 1) for one, name, of in names]
            staging.fill(connection, {"s_name": (_NAMES.split(), rows_of_batch)})
            changed = unsettled_claims(connection)
            merge_datasets(connection)
            resolve_components(connection, changed)

    query = "SELECT folder_key, canonical_key FROM dataset WHERE dataset_key = 1"
    assert rows(embedded, query) == [(after, after)]


def test_no_move_reads_a_table_whole(embedded):
    """Find the rows of a dataset by an index, in each table."""
    with embedded.connect() as connection:
        known = rekey._KNOWN.replace(":keys", "(:old, :new)")  # noqa: SLF001 - the statements themselves
        moves = map(str, rekey._statements(connection.dialect))  # noqa: SLF001
        plans = [_scans(connection, query) for query in (known, *moves)]

    assert [plan for plan in plans if plan] == []


def _scans(connection, query):
    explained = text(f"EXPLAIN QUERY PLAN {query}")
    given = dict.fromkeys(explained.compile().params, 1)
    plan = connection.execute(explained, given)
    return [row.detail for row in plan if row.detail.startswith("SCAN ")]

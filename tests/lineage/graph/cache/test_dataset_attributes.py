"""Cached tiers, owners and states: those of the catalog, of the last resolution and evaluation."""

import pytest
from sqlalchemy import Engine, delete, insert, text, update

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.catalog.meta_keys import EDGES_EVALUATED_AT, POLICY_FINGERPRINT
from lineage.catalog.reader import open_reader
from lineage.graph.cache.dataset_attributes import NO_STATES, read_states
from lineage.graph.cache.reading import read_snapshot
from lineage.graph.cache.snapshot import EMPTY_GRAPH, Snapshot
from tests.lineage.policies import policy_row

pytestmark = pytest.mark.postgres_nightly

LOWEST, HIGHEST = -(2**63), 2**63 - 1
STATES = {LOWEST: "bad", -5: "good", 2: "unknown", HIGHEST: "learning"}

RESPONSIBLE = {
    LOWEST: ("critical", "team-a"),
    -5: ("optional", None),
    2: ("critical", "team-b"),
    HIGHEST: ("critical", "team-a"),
}


@pytest.fixture
def judged(catalog: Engine) -> Engine:
    """Create a catalog evaluated at 100, its edges at 90."""
    with write_transaction(catalog) as connection:
        for key, state in STATES.items():
            row = {"dataset_key": key, "since": 1}
            worst = {"sli": "M2", "state": state, "is_worst": True}
            other = {"sli": "M1", "state": "good", "is_worst": False}
            connection.execute(insert(tables.dataset_state), [{**row, **worst}, {**row, **other}])
        noted = {"name": EDGES_EVALUATED_AT, "value": "90"}
        connection.execute(insert(tables.meta), noted)
    evaluate(catalog, 100)
    return catalog


def evaluate(catalog: Engine, as_of: int) -> None:
    """Store an evaluation of that time."""
    row = {"as_of": as_of, "last_seq": 0, "policy_hash": "p", "datasets": 4, "seconds": 1.0}
    with write_transaction(catalog) as connection:
        connection.execute(insert(tables.evaluation), row)


def read(catalog: Engine, before: Snapshot = EMPTY_GRAPH) -> Snapshot:
    """Read as the service does."""
    with open_reader(catalog.url.render_as_string(hide_password=False)) as reader:
        return read_snapshot(reader, before)


def test_each_dataset_has_its_most_severe_state(judged):
    """Return them in the order of the request, from one end of the keys to the other."""
    snapshot = read(judged)

    keys = [2, 77, HIGHEST, LOWEST, -5]
    assert snapshot.states_of(keys, (100, "90")) == ["unknown", None, "learning", "bad", "good"]
    assert snapshot.states_of([], (100, "90")) == []


@pytest.mark.parametrize("other", [(101, "90"), (100, "91"), (100, None), (None, None)])
def test_states_of_another_evaluation_are_not_returned(judged, other):
    """Evaluate datasets, or edges."""
    assert read(judged).states_of([2], other) is None


@pytest.mark.postgres_always
@pytest.mark.parametrize("by", ["datasets", "edges"])
def test_changed_states_are_read_again(judged, by):
    """Read again after either evaluation; the edges are unchanged."""
    before = read(judged)
    with write_transaction(judged) as connection:
        connection.execute(update(tables.dataset_state).values(state="bad"))
        connection.execute(delete(tables.dataset_state).where(tables.dataset_state.c.sli == "M1"))
        if by == "edges":
            connection.execute(text("UPDATE meta SET value = '110'"))
    if by == "datasets":
        evaluate(judged, 110)

    after = read(judged, before)

    assert after.ways is before.ways
    now = (110, "90") if by == "datasets" else (100, "110")
    assert after.states_of([2, -5], now) == ["bad", "bad"]
    assert after.states_of([2], (100, "90")) is None


def test_states_without_a_new_evaluation_are_not_read_again(judged):
    """Read nothing: only an evaluation changes states."""
    url = judged.url.render_as_string(hide_password=False)
    with open_reader(url) as reader:
        first = read_states(reader, NO_STATES)
        assert read_states(reader, first) is first


def test_a_catalog_without_an_evaluation_has_no_states(catalog):
    """Start a service before the first evaluation."""
    snapshot = read(catalog)

    assert snapshot.states_of([1], (None, None)) == [None]


@pytest.fixture
def resolved(catalog: Engine) -> Engine:
    """Resolve by a policy known as `first`."""
    with write_transaction(catalog) as connection:
        rows = [policy_row(key, tier, owner) for key, (tier, owner) in RESPONSIBLE.items()]
        connection.execute(insert(tables.dataset_policy), rows)
        noted = {"name": POLICY_FINGERPRINT, "value": "first"}
        connection.execute(insert(tables.meta), noted)
    return catalog


def test_tiers_and_owners_are_in_the_requested_order(resolved):
    """Look up one end of the keys to the other; return none for unresolved ones."""
    snapshot = read(resolved)

    keys = [2, 77, HIGHEST, LOWEST, -5]
    assert snapshot.policies_of(keys) == [
        RESPONSIBLE[2],
        None,
        *(RESPONSIBLE[key] for key in keys[2:]),
    ]
    assert snapshot.policies_of([]) == []


@pytest.mark.postgres_always
def test_changed_resolutions_are_read_again(resolved):
    """Return changed rows; edges and states stay, and deleted rows are gone."""
    before, table = read(resolved), tables.dataset_policy
    with write_transaction(resolved) as connection:
        connection.execute(update(table).values(owner="team-c"))
        connection.execute(delete(table).where(table.c.dataset_key == -5))
        connection.execute(update(tables.meta).values(value="second"))

    after = read(resolved, before)

    assert after.policies_of([2, -5]) == [("critical", "team-c"), None]
    assert (after.ways, after.states) == (before.ways, before.states)


def test_an_unchanged_resolution_is_not_read_again(resolved):
    """Return the same object: the graph of a million edges is not built again."""
    before = read(resolved)

    assert read(resolved, before) is before


def test_a_catalog_without_a_resolution_has_none(catalog):
    """Start a service before the first evaluation."""
    assert read(catalog).policies_of([1]) == [None]

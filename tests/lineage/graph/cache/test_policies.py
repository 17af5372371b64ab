"""Cached tiers and owners: those of the catalog, of the last resolution."""

import pytest
from sqlalchemy import Engine, delete, insert, update

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.catalog.meta_keys import POLICY_FINGERPRINT
from lineage.catalog.reader import open_reader
from lineage.graph.cache.reading import read_snapshot
from lineage.graph.cache.snapshot import NOTHING, Snapshot
from tests.lineage.policies import policy_row

pytestmark = pytest.mark.postgres_nightly

LOWEST, HIGHEST = -(2**63), 2**63 - 1
FOUND = {
    LOWEST: ("critical", "team-a"),
    -5: ("optional", None),
    2: ("critical", "team-b"),
    HIGHEST: ("critical", "team-a"),
}


@pytest.fixture
def resolved(catalog: Engine) -> Engine:
    """Resolve by a policy known as `first`."""
    with write_transaction(catalog) as connection:
        rows = [policy_row(key, tier, owner) for key, (tier, owner) in FOUND.items()]
        connection.execute(insert(tables.dataset_policy), rows)
        noted = {"name": POLICY_FINGERPRINT, "value": "first"}
        connection.execute(insert(tables.meta), noted)
    return catalog


def read(catalog: Engine, before: Snapshot = NOTHING) -> Snapshot:
    """Read as the service does."""
    with open_reader(catalog.url.render_as_string(hide_password=False)) as reader:
        return read_snapshot(reader, before)


def test_tiers_and_owners_are_in_the_requested_order(resolved):
    """Look up one end of the keys to the other; return none for unresolved ones."""
    snapshot = read(resolved)

    keys = [2, 77, HIGHEST, LOWEST, -5]
    assert snapshot.policies_of(keys) == [FOUND[2], None, *(FOUND[key] for key in keys[2:])]
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

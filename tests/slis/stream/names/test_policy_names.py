"""Names of the policy, which win over reported ones, before and after these come."""

import pytest

from lineage.policy import DEFAULT, parse_policy
from slis.evaluation.policy_names import renew_names
from tests.slis.stream.spools import CANONICAL, WRITES, rows, run_event, symlink

pytestmark = pytest.mark.postgres_nightly

_SYMLINK = symlink("copy")
_JOINED = parse_policy("aliases: [{name: n/copy, dataset: n/orders}]")
_APART = parse_policy("aliases: [{name: n/copy, dataset: n/orders, apart: true}]")


@pytest.fixture
def write(lander, at):
    """Return a function that lands a write of a dataset."""

    def land(name, run, hour, facets=None):
        output = (name, facets) if facets else name
        lander.land(run_event("COMPLETE", at(hour), run=run, job=run, outputs=[output]))

    return land


def test_an_alias_moves_the_facts_of_the_name(catalog, write, at):
    write("copy", "r1", 8)
    write("orders", "r2", 9)

    assert renew_names(catalog, _JOINED, at(10))
    write("copy", "r3", 11)

    assert rows(catalog, CANONICAL) == [("copy", "orders"), ("orders", "orders")]
    assert rows(catalog, WRITES) == [("orders", "r1"), ("orders", "r2"), ("orders", "r3")]


def test_a_repeated_alias_changes_nothing(catalog, write, at):
    write("copy", "r1", 8)
    assert renew_names(catalog, _JOINED, at(10))
    assert not renew_names(catalog, _JOINED, at(11))


def test_an_alias_waits_for_the_dataset_that_it_names(catalog, write, at):
    """Wait: the policy may have the name before any event does."""
    write("copy", "r1", 8)
    renew_names(catalog, _JOINED, at(9))
    assert rows(catalog, CANONICAL) == [("copy", "copy")]

    write("orders", "r2", 10)

    assert rows(catalog, CANONICAL) == [("copy", "orders"), ("orders", "orders")]
    assert rows(catalog, WRITES) == [("orders", "r1"), ("orders", "r2")]


def test_an_alias_of_a_declared_dataset_applies_at_once(catalog, write, at):
    """Add the dataset to the catalog by a pattern without wildcards."""
    write("copy", "r1", 8)
    policy = parse_policy(
        "aliases: [{name: n/copy, dataset: n/orders}]\n"
        "datasets: [{match: n/orders, tier: critical}]"
    )
    renew_names(catalog, policy, at(9))

    assert rows(catalog, CANONICAL) == [("copy", "orders"), ("orders", "orders")]


def test_a_symlink_joins_no_names_that_the_policy_separates(catalog, write, at):
    renew_names(catalog, _APART, at(7))
    write("copy", "r1", 8)
    write("orders", "r2", 9, _SYMLINK)
    write("copy", "r3", 10)

    assert rows(catalog, CANONICAL) == [("copy", "copy"), ("orders", "orders")]
    assert rows(catalog, WRITES) == [("copy", "r1"), ("copy", "r3"), ("orders", "r2")]


def test_without_the_policy_the_symlink_would_join_them(catalog, write):
    """Run the mutant of the test above."""
    write("copy", "r1", 8)
    write("orders", "r2", 9, _SYMLINK)

    assert rows(catalog, CANONICAL) == [("copy", "orders"), ("orders", "orders")]


def test_names_separated_later_start_again(catalog, write, at):
    """Leave facts of both where they are: they cannot be separated."""
    write("copy", "r1", 8)
    write("orders", "r2", 9, _SYMLINK)
    renew_names(catalog, _APART, at(10))
    write("copy", "r3", 11)

    assert rows(catalog, CANONICAL) == [("copy", "copy"), ("orders", "orders")]
    assert rows(catalog, WRITES) == [("copy", "r3"), ("orders", "r1"), ("orders", "r2")]


def test_an_alias_removed_from_the_policy_ends(catalog, write, at):
    write("copy", "r1", 8)
    write("orders", "r2", 9)
    renew_names(catalog, _JOINED, at(10))
    assert renew_names(catalog, DEFAULT, at(11))
    write("copy", "r3", 12)

    assert rows(catalog, CANONICAL) == [("copy", "copy"), ("orders", "orders")]
    assert rows(catalog, WRITES) == [("copy", "r3"), ("orders", "r1"), ("orders", "r2")]

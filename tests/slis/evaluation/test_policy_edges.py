"""Policies that follow changed edges equal policies of all datasets resolved again."""

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import delete, insert, select, update

from lineage.catalog import tables
from lineage.catalog.engine import catalog_url, migrate, open_catalog, write_transaction
from lineage.catalog.upsert import fold_rows
from lineage.names.keys import key
from lineage.policy import Policy
from lineage.policy.model import DatasetRule
from lineage.policy.tiers import MIN_RUNS
from slis.evaluation.dataset_policies import ResolvedPolicies, renew_policies
from slis.evaluation.datasets_to_judge import take_changes
from slis.evaluation.policy_memory import PolicyMemory
from tests.suite.examples import is_long

_COUNT = 6
_POLICY = Policy(
    datasets=(
        DatasetRule("lake/d0", tier="critical"),
        DatasetRule("lake/d1", tier="important"),
        DatasetRule("lake/d2", expect_inputs=("lake/d3",)),
    )
)
_KEYS = [key("lake", f"d{number}") for number in range(_COUNT)]
_TAG = {"dataset_key": _KEYS[4], "tag": "tier", "value": "important", "last_seen_at": 1}
_KEY = st.integers(0, _COUNT - 1)
# A job writes a dataset: of each, the runs that read the upstream; 0: the edge goes.
_CHANGE = st.tuples(_KEY, _KEY, st.integers(0, 1), st.sampled_from([0, 1, 2, 3, 9]))


def _change(connection, upstream, downstream, job, runs):
    keys = {"upstream_key": _KEYS[upstream], "downstream_key": _KEYS[downstream]}
    keys["job_key"] = 10 * downstream + job
    if runs:
        seen = {"first_seen_at": 1, "last_seen_at": 1, "job_namespace": "", "job_name": ""}
        fold_rows(connection, tables.edge, [{**keys, **seen, "runs": runs}])
    else:
        edge = tables.edge
        own = (edge.c[name] == value for name, value in keys.items())
        connection.execute(delete(edge).where(*own))
    # The run that read the upstream has written the dataset.
    fold_rows(connection, tables.dataset_change, [{"dataset_key": _KEYS[downstream]}])


def _fill(engine):
    seen = {"namespace": "lake", "first_seen_at": 1, "last_seen_at": 1}
    rows = [
        {"dataset_key": own, "canonical_key": own, "name": f"d{number}", **seen}
        for number, own in enumerate(_KEYS)
    ]
    with write_transaction(engine) as connection:
        connection.execute(insert(tables.dataset), rows)
        connection.execute(insert(tables.tag), _TAG)


def _resolved(engine):
    dataset, policy = tables.dataset.c, tables.dataset_policy
    with engine.connect() as connection:
        query = select(policy, dataset.tier_rank).where(policy.c.dataset_key == dataset.dataset_key)
        rows = connection.execute(query.order_by(dataset.name)).mappings()
        return [dict(row) for row in rows]


@settings(max_examples=200 if is_long() else 15, deadline=None)
@given(st.lists(st.lists(_CHANGE, max_size=5), min_size=1, max_size=5))
def test_policies_that_follow_edges_equal_those_of_a_whole_resolution(steps):
    """Compare all columns after each batch of edges."""
    with tempfile.TemporaryDirectory() as folder:
        engine = open_catalog(catalog_url(Path(folder)))
        migrate(engine)
        _fill(engine)
        memory = PolicyMemory()
        renew_policies(engine, _POLICY, memory, take_changes(engine))
        for changes in steps:
            with write_transaction(engine) as connection:
                for change in changes:
                    _change(connection, *change)
            renew_policies(engine, _POLICY, memory, take_changes(engine))
            followed = _resolved(engine)
            renew_policies(engine, _POLICY, PolicyMemory(), ())
            assert followed == _resolved(engine)
        engine.dispose()


def test_a_new_edge_resolves_only_what_it_reaches(catalog, monkeypatch):
    """Resolve everything only for an edge that decides tiers and goes."""
    _fill(catalog)
    memory = PolicyMemory()
    resolved = []
    renew_policies(catalog, _POLICY, memory, take_changes(catalog))
    monkeypatch.setattr(
        "slis.evaluation.dataset_policies.resolve_policies",
        lambda *_: resolved.append(1) or ResolvedPolicies([], {}),
    )
    found = []
    for runs in (1, 2, MIN_RUNS):
        with write_transaction(catalog) as connection:
            _change(connection, 5, 0, 0, runs)
        renew_policies(catalog, _POLICY, memory, take_changes(catalog))
        found.append(_resolved(catalog)[5]["tier"])
    assert found == ["optional", "optional", "critical"]
    assert resolved == []
    with write_transaction(catalog) as connection:
        _change(connection, 5, 0, 0, 0)

    assert renew_policies(catalog, _POLICY, memory, take_changes(catalog))

    assert resolved == [1]


def test_a_new_edge_hands_tiers_along_declared_edges_and_tags_lower_them(catalog):
    """Give the expected input of its upstream the tier, and the tagged upstream a lower one."""
    _fill(catalog)
    memory = PolicyMemory()
    renew_policies(catalog, _POLICY, memory, take_changes(catalog))
    with write_transaction(catalog) as connection:
        for upstream in (2, 4):
            _change(connection, upstream, 0, 0, MIN_RUNS)

    assert renew_policies(catalog, _POLICY, memory, take_changes(catalog))

    found = [(row["tier"], row["tier_origin"], row["tier_rank"]) for row in _resolved(catalog)]
    assert [found[2], found[3]] == [("critical", "inherited", 0)] * 2
    assert found[4] == ("important", "tag", 1)


def test_an_edge_that_reaches_the_number_of_runs_is_noted(catalog):
    """Compare the trigger, whose number is in a migration, with the rule of tiers."""
    edge = tables.edge
    noted = []
    take_changes(catalog)
    for runs in (MIN_RUNS - 2, MIN_RUNS - 1, MIN_RUNS, MIN_RUNS + 1):
        row = {"upstream_key": 2, "downstream_key": 7, "job_key": 70, "runs": runs}
        seen = {"first_seen_at": 1, "last_seen_at": 1, "job_namespace": "", "job_name": ""}
        with write_transaction(catalog) as connection:
            if noted:
                connection.execute(update(edge).values(runs=runs))
            else:
                connection.execute(insert(edge), [{**row, **seen}])
        noted.append(take_changes(catalog))

    assert noted == [{7}, set(), {7}, set()]


def test_a_dataset_is_expected_again_without_the_edge_that_read_it_by_the_way(catalog):
    """Look at the upstreams of edges that have gone, too."""
    _fill(catalog)
    memory = PolicyMemory()
    with write_transaction(catalog) as connection:
        for upstream, runs in ((3, 9), (4, 1)):
            _change(connection, upstream, 5, 0, runs)
    renew_policies(catalog, _POLICY, memory, take_changes(catalog))
    before = {row["dataset_key"]: row["is_expected"] for row in _resolved(catalog)}
    with write_transaction(catalog) as connection:
        _change(connection, 4, 5, 0, 0)

    assert renew_policies(catalog, _POLICY, memory, take_changes(catalog))

    after = {row["dataset_key"]: row["is_expected"] for row in _resolved(catalog)}
    assert (before[_KEYS[4]], after[_KEYS[4]]) == (False, True)


def test_policies_that_another_process_resolved_are_resolved_again(catalog):
    """Compare with the policy that the catalog was resolved by, not only with that in memory."""
    _fill(catalog)
    memory = PolicyMemory()
    renew_policies(catalog, _POLICY, memory, take_changes(catalog))
    expected = _resolved(catalog)
    renew_policies(catalog, Policy())

    assert renew_policies(catalog, _POLICY, memory, take_changes(catalog))

    assert _resolved(catalog) == expected

"""Policies that follow changed edges equal policies of all datasets resolved again."""

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import delete, insert, select, update

from lineage.catalog import tables
from lineage.catalog.engine import catalog_url, migrate, open_catalog, write_transaction
from lineage.catalog.upsert import fold_rows
from lineage.policy import Policy
from lineage.policy.model import DatasetRule
from lineage.policy.tiers import MIN_RUNS
from slis.evaluation.affected_datasets import take_changes
from slis.evaluation.dataset_policies import PolicyMemory, renew_policies
from tests.suite.examples import is_long

_COUNT = 6
_POLICY = Policy(
    datasets=(DatasetRule("lake/d0", tier="critical"), DatasetRule("lake/d1", tier="important"))
)
_KEY = st.integers(0, _COUNT - 1)
# A job writes a dataset: of each, the runs that read the upstream; 0: the edge goes.
_CHANGE = st.tuples(_KEY, _KEY, st.integers(0, 1), st.sampled_from([0, 1, 2, 3, 9]))


def _change(connection, upstream, downstream, job, runs):
    keys = {"upstream_key": upstream, "downstream_key": downstream}
    keys["job_key"] = 10 * downstream + job
    if runs:
        seen = {"first_seen_at": 1, "last_seen_at": 1, "job_namespace": "", "job_name": ""}
        fold_rows(connection, tables.edge, [{**keys, **seen, "runs": runs}])
    else:
        edge = tables.edge
        own = (edge.c[name] == value for name, value in keys.items())
        connection.execute(delete(edge).where(*own))
    # The run that read the upstream has written the dataset.
    fold_rows(connection, tables.dataset_change, [{"dataset_key": downstream}])


def _fill(engine):
    seen = {"namespace": "lake", "first_seen_at": 1, "last_seen_at": 1}
    rows = [{"dataset_key": n, "canonical_key": n, "name": f"d{n}", **seen} for n in range(_COUNT)]
    with write_transaction(engine) as connection:
        connection.execute(insert(tables.dataset), rows)


def _resolved(engine):
    with engine.connect() as connection:
        query = select(tables.dataset_policy).order_by("dataset_key")
        return [dict(row) for row in connection.execute(query).mappings()]


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


def test_an_edge_of_a_new_job_resolves_only_its_upstream(catalog, monkeypatch):
    """Resolve everything for an edge that decides tiers alone."""
    _fill(catalog)
    memory = PolicyMemory()
    resolved = []
    renew_policies(catalog, _POLICY, memory, take_changes(catalog))
    monkeypatch.setattr(
        "slis.evaluation.dataset_policies.policy_rows", lambda *_: resolved.append(1) or []
    )
    for runs in (1, 2):
        with write_transaction(catalog) as connection:
            _change(connection, 2, 0, 0, runs)
        assert not renew_policies(catalog, _POLICY, memory, take_changes(catalog))
    assert resolved == []
    with write_transaction(catalog) as connection:
        _change(connection, 2, 0, 0, 3)

    assert renew_policies(catalog, _POLICY, memory, take_changes(catalog))

    assert resolved == [1]


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
    assert (before[4], after[4]) == (False, True)


def test_policies_that_another_process_resolved_are_resolved_again(catalog):
    """Compare with the policy that the catalog was resolved by, not only with that in memory."""
    _fill(catalog)
    memory = PolicyMemory()
    renew_policies(catalog, _POLICY, memory, take_changes(catalog))
    expected = _resolved(catalog)
    renew_policies(catalog, Policy())

    assert renew_policies(catalog, _POLICY, memory, take_changes(catalog))

    assert _resolved(catalog) == expected

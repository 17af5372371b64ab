"""Walks of downstream datasets, which are cached until the graph changes."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from alerts.root_cause import impact_walks
from alerts.root_cause.impact_walks import SEVERITY_RULES, ImpactWalks
from alerts.root_cause.roots import find_faults
from alerts.root_cause.severity import impact_of_group, rate_severity
from lineage.graph.graph import Graph
from lineage.states import TIERS
from tests.alerts.root_cause.snapshots import HOUR, edges, make_snapshot, violation

_LETTERS = "ABCDEFG"
_ARROWS = st.lists(
    st.tuples(st.sampled_from(_LETTERS), st.sampled_from(_LETTERS)).filter(lambda p: p[0] < p[1]),
    max_size=10,
    unique=True,
)
_TIERED = st.fixed_dictionaries(
    {
        name: st.fixed_dictionaries(
            {"tier": st.sampled_from(TIERS), "deadline": st.integers(5, 60)}
        )
        for name in _LETTERS
    }
)


def _estate(arrows, tiers):
    return make_snapshot(*arrows, **tiers)


@given(_ARROWS, _ARROWS, _TIERED, _TIERED, st.integers(10, 40))
def test_a_cached_severity_is_that_of_a_fresh_walk(one, two, first, other, hours):
    """Compare over evaluations whose edges, tiers and deadlines change or stay."""
    known = None
    for arrows, tiers in ((one, first), (one, first), (one, other), (two, other), (one, first)):
        estate = _estate(arrows, tiers)
        known = ImpactWalks(estate, known)
        graph = Graph(estate.keys[estate.upstreams], estate.keys[estate.downstreams])
        for cluster in find_faults([violation("A", "late"), violation("C", "late")], estate):
            whole = impact_of_group(cluster, graph, estate, SEVERITY_RULES)
            fresh = rate_severity(cluster, whole, estate, hours * HOUR, SEVERITY_RULES)
            assert known.severity(cluster, hours * HOUR) == fresh
            assert np.array_equal(known.impact(cluster).keys, whole.keys)


def test_the_same_graph_is_walked_once(monkeypatch):
    """Walk once for evaluations whose deadlines move and whose edges stay."""
    walked = []
    whole = impact_walks.impact_of_group
    monkeypatch.setattr(
        impact_walks, "impact_of_group", lambda *given: walked.append(1) or whole(*given)
    )
    known = None
    for deadline in (20, 30, 40):
        estate = make_snapshot("A>B>C", C={"tier": "critical", "deadline": deadline})
        known = ImpactWalks(estate, known)
        [cluster] = find_faults([violation("A", "late")], estate)
        assert known.severity(cluster, 10 * HOUR).hit_at == deadline * HOUR

    assert walked == [1]


def test_another_bad_dataset_beside_the_root_is_walked_from():
    """Do not return the impact that was cached before it was bad."""
    rows = {name: {"job": 20, "tier": "important"} for name in "AB"}
    facts = [violation("A", "schema_mismatch", 10, "facts")]
    known, scores = None, []
    for bad in (facts, [*facts, violation("B", "assertion_failed", 10)]):
        estate = make_snapshot(**rows)
        known = ImpactWalks(estate, known)
        [cluster] = find_faults(bad, estate)
        scores.append(known.severity(cluster, 10 * HOUR).score)

    assert scores == [3, 6]
    assert len(known.cache.impacts) == 1  # the older one is gone
    assert known.cache.size == sum(each.size for each in known.cache.impacts.values())


def test_an_impact_without_room_in_the_cache_is_walked_again(monkeypatch):
    """Return the same severity without the cache."""
    monkeypatch.setattr(impact_walks, "_MOST_BYTES", 0)
    estate = make_snapshot("A>B>C", C={"tier": "critical", "deadline": 20})
    [cluster] = find_faults([violation("A", "late")], estate)
    known = ImpactWalks(estate)
    first = known.severity(cluster, 10 * HOUR)

    assert not known.cache.impacts
    assert known.severity(cluster, 10 * HOUR) == first


def test_edges_are_those_of_the_snapshot():
    """Ignore a loop and a repeated edge."""
    both = edges("A>B", "A>B", "B>B")
    assert len(both.upstream_keys) == 3
    estate = make_snapshot("A>B", "A>B", "B>B")
    [cluster] = find_faults([violation("A", "late")], estate)

    assert ImpactWalks(estate).impact(cluster).keys.tolist() == [ord("A"), ord("B")]

import random

from hypothesis import given
from hypothesis import strategies as st

from lineage.policy.tiers import Tiering, hand_up, hand_up_new, inherit, tier_edges

RAW, COUNTRIES, CORE, MART, LOOK = 1, 2, 3, 4, 5


def test_upstream_of_a_critical_dataset_is_critical():
    """Compare the worked example: raw and countries inherit from core; mart has its own tier."""
    edges = [(RAW, CORE), (COUNTRIES, CORE), (CORE, MART)]

    tiers = inherit([RAW, COUNTRIES, CORE, MART], {CORE: "critical", MART: "important"}, edges)

    assert tiers == {
        RAW: Tiering("critical", "inherited", CORE),
        COUNTRIES: Tiering("critical", "inherited", CORE),
        CORE: Tiering("critical", "declared"),
        MART: Tiering("important", "declared"),
    }


def test_the_highest_tier_below_wins_over_the_nearest():
    """Prefer the critical dataset further down to an optional report right below."""
    tiers = inherit(
        [RAW], {LOOK: "optional", MART: "critical"}, [(RAW, LOOK), (RAW, CORE), (CORE, MART)]
    )

    assert tiers[RAW] == Tiering("critical", "inherited", MART)


def test_a_declared_tier_is_where_inheritance_ends():
    """End at a dataset that is declared optional, also for its own sources."""
    tiers = inherit([RAW], {CORE: "optional", MART: "critical"}, [(RAW, CORE), (CORE, MART)])

    assert tiers[RAW] == Tiering("optional", "inherited", CORE)


def test_an_undeclared_dataset_is_optional_by_default():
    """Mark the tier as a default."""
    assert inherit([RAW], {}, [])[RAW] == Tiering("optional", "default")


def test_an_edge_of_few_runs_raises_no_tier():
    """Expect an edge from three runs on, of any jobs; two are none."""
    seen = [(RAW, MART, 2), (CORE, MART, 2), (CORE, MART, 1)]

    assert tier_edges(seen) == {(CORE, MART)}
    assert tier_edges(seen, [(RAW, MART)]) == {(RAW, MART), (CORE, MART)}


_nodes = st.integers(0, 8)
_tiers = st.sampled_from(["critical", "important", "optional"])


@given(
    st.lists(st.tuples(_nodes, _nodes), max_size=25),
    st.dictionaries(_nodes, _tiers, max_size=4),
    st.randoms(),
)
def test_tiers_are_those_of_the_definition(edges, declared, chance: random.Random):
    """Compare with the definition by repetition: own tier, else the highest below, with cycles."""
    rank = ["critical", "important", "optional"]
    slow = dict(declared)
    for _ in range(10):
        for upstream, downstream in edges:
            if upstream not in declared and downstream in slow:
                slow[upstream] = min(
                    slow.get(upstream, "optional"), slow[downstream], key=rank.index
                )
    chance.shuffle(edges)

    found = inherit(range(9), declared, edges)

    assert {key: tiering.tier for key, tiering in found.items()} == {
        key: slow.get(key, "optional") for key in range(9)
    }
    assert found == inherit(range(9), declared, sorted(edges))


@given(
    st.lists(st.tuples(_nodes, _nodes), max_size=25),
    st.lists(st.tuples(_nodes, _nodes), max_size=10),
    st.dictionaries(_nodes, _tiers, max_size=4),
)
def test_tiers_after_new_edges_are_those_of_all_edges(edges, new_edges, declared):
    """Compare tiers, hops and origins, and find each dataset that has others."""
    before = hand_up(declared, edges)
    every = [*edges, *new_edges]
    tiers = dict(before)

    changed = hand_up_new(
        tiers, new_edges, lambda key: [upstream for upstream, down in every if down == key]
    )

    assert tiers == hand_up(declared, every)
    assert changed == {key for key in tiers if tiers[key] != before.get(key)}

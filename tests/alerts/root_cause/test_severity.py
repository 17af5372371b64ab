import math

import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st

from alerts.root_cause import severity as severities
from alerts.root_cause.roots import find_faults
from alerts.root_cause.severity import SeverityRules, TierRule, impact_of_group, rate_severity
from lineage.graph.graph import Graph
from lineage.states import TIERS
from tests.alerts.root_cause.snapshots import HOUR, edges, key, make_snapshot, row, violation
from tests.suite.examples import examples

NOW = 20 * HOUR


def judged(facts, *arrows, now=NOW, rules=None, **said):  # noqa: ANN002, ANN003
    """Of the first cluster: its severity and impact."""
    estate = make_snapshot(*arrows, **said)
    joined = edges(*arrows)
    graph = Graph(joined.upstream_keys, joined.downstream_keys)
    rules = rules or SeverityRules()
    cluster = find_faults(facts, estate)[0]
    hurt = impact_of_group(cluster, graph, estate, rules)
    return rate_severity(cluster, hurt, estate, now, rules), hurt


def level(facts, *arrows, **said):  # noqa: ANN002, ANN003
    found, _ = judged(facts, *arrows, **said)
    return found.level, found.because


FAILED = [violation("A", "job_failed", 10)]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({}, ("ticket", "nobody")),
        ({"C": {"tier": "important", "deadline": 21}}, ("ticket", "nobody")),
        ({"C": {"tier": "critical"}}, ("ticket", "later")),
        ({"C": {"tier": "critical", "deadline": 25}}, ("ticket", "later")),
        ({"C": {"tier": "critical", "deadline": 24}}, ("page", "soon")),
        ({"C": {"tier": "critical", "deadline": 19}}, ("page", "soon")),
        ({"C": {"tier": "critical", "deadline": 40, "next_read": 22}}, ("page", "soon")),
        ({"A": {"tier": "critical"}}, ("page", "is_bad")),
    ],
)
def test_severity_is_that_of_what_is_downstream(said, expected):
    """A job of no tier whose mart is due at nine is a page at five, and a ticket at one."""
    assert level(FAILED, "A>B>C", **said) == expected


def test_a_critical_dataset_that_is_bad_pages():
    """It has happened, whatever its deadline says."""
    facts = [*FAILED, violation("C", "upstream_late", 15)]
    found, _ = judged(facts, "A>C", C={"tier": "critical"})

    assert (found.level, found.because, found.hit_key) == ("page", "is_bad", key("C"))
    assert found.hit_at == 15 * HOUR


@pytest.mark.parametrize(
    ("reason", "standing", "expected"),
    [
        ("never_reported", True, "ticket"),
        ("no_inputs", True, "ticket"),
        ("naming_mismatch", True, "ticket"),
        ("lineage_missing", True, "ticket"),
        ("lineage_missing", False, "page"),
        ("no_inputs", False, "page"),
        ("naming_mismatch", False, "page"),
        ("assertion_failed", False, "ticket"),
        ("metadata_missing", False, "ticket"),
        ("foreign_claim", False, "ticket"),
        ("edge_missing", False, "page"),
        ("schema_mismatch", False, "page"),
        ("silent", False, "page"),
        ("upstream_late", False, "page"),
    ],
)
def test_of_a_critical_dataset(reason, standing, expected):
    """Lineage that was there and stopped pages; a gap that always stood is a ticket."""
    facts = [violation("A", reason, is_standing=standing)]

    assert level(facts, A={"tier": "critical"})[0] == expected


def test_lost_lineage_delays_nothing():
    """The data came: no deadline is in danger."""
    facts = [violation("A", "lineage_missing")]
    said = {"C": {"tier": "critical", "deadline": 21}}

    assert level(facts, "A>C", **said) == ("ticket", "later")


def test_time_to_impact_ends_with_the_first_affected_dataset():
    """Its name goes into the message, with the time that is left."""
    said = {
        "B": {"tier": "critical", "deadline": 23},
        "C": {"tier": "critical", "deadline": 30, "next_read": 22},
    }
    found, _ = judged(FAILED, "A>B", "A>C", **said)

    assert (found.hit_key, found.hit_at) == (key("C"), 22 * HOUR)


def test_each_tier_has_its_own_response_time():
    """Response times are data: what is out of time first decides."""
    tiers = (TierRule(9, 3600), TierRule(3, 8 * 3600), TierRule(1))
    said = {
        "B": {"tier": "critical", "deadline": 22},
        "C": {"tier": "important", "deadline": 26},
    }
    found, _ = judged(FAILED, "A>B", "A>C", rules=SeverityRules(tiers=tiers), **said)

    assert (found.level, found.hit_key) == ("page", key("C"))


def test_the_score_falls_with_each_hop():
    """Sum over descendants of tier weight x decay ** hops, each at its nearest."""
    said = {"B": {"tier": "critical"}, "D": {"tier": "important"}}
    found, hurt = judged(FAILED, "A>B>D", "A>C>D", **said)

    assert found.score == pytest.approx(1 + 0.8 * (9 + 1) + 0.64 * 3)
    assert [TIERS[tier] for tier in sorted(hurt.tiers)] == [
        "critical",
        "important",
        *["optional"] * 2,
    ]
    assert dict(zip(hurt.keys.tolist(), hurt.hops.tolist(), strict=True)) == {
        key("A"): 0, key("B"): 1, key("C"): 1, key("D"): 2,
    }  # fmt: skip


def test_an_impact_that_was_cut_says_so():
    """Absent data is never shown as healthy."""
    _, hurt = judged(FAILED, "A>B>C", rules=SeverityRules(max_datasets=2))

    assert (len(hurt.keys), hurt.is_partial) == (2, True)


def test_a_part_of_the_service_pages():
    """An ingestion outage and unauthorized access need no graph."""
    found = severities.BY_KIND

    assert (found.level, found.because, found.hit_at) == ("page", "kind", None)


NODES = st.integers(1, 8)


@settings(max_examples=examples(200))
@drawn(
    st.lists(st.tuples(NODES, NODES), max_size=20),
    st.lists(st.sampled_from(["critical", "important", "optional"]), min_size=8, max_size=8),
    st.lists(st.integers(0, 40), min_size=8, max_size=8),
)
def test_score_and_time_are_those_of_a_slow_search(arrows, tiers, deadlines):
    """Against hops by repeated relaxation, and a minimum by hand."""
    said = {
        name: {"tier": tiers[name - 1], "deadline": deadlines[name - 1]} for name in range(1, 9)
    }
    hops = {1: 0}
    for _ in range(8):
        for start, end in arrows:
            if start in hops:
                hops[end] = min(hops.get(end, math.inf), hops[start] + 1)
    weights = {"critical": 9, "important": 3, "optional": 1}
    score = sum(weights[said[name]["tier"]] * 0.8**hop for name, hop in hops.items())
    due = [
        said[name]["deadline"]
        for name in hops
        if said[name]["tier"] == "critical" and said[name]["deadline"]
    ]
    estate = make_snapshot(*arrows, rows=[row(name, **said[name]) for name in said])
    (cluster,) = find_faults([violation(1, "job_failed", 10)], estate)
    both = np.array(arrows, dtype=np.int64).reshape(-1, 2)
    rules = SeverityRules()
    hurt = impact_of_group(cluster, Graph(both[:, 0], both[:, 1]), estate, rules)
    found = rate_severity(cluster, hurt, estate, NOW, rules)

    assert found.score == pytest.approx(score)
    if said[1]["tier"] == "critical":
        assert (found.level, found.because) == ("page", "is_bad")
    else:
        assert (found.level == "page") == any(at <= 24 for at in due)

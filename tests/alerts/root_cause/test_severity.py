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


def severity_and_impact(facts, *arrows, now=NOW, rules=None, **rows):  # noqa: ANN002, ANN003
    """Return severity and impact of the first cluster."""
    estate = make_snapshot(*arrows, **rows)
    joined = edges(*arrows)
    graph = Graph(joined.upstream_keys, joined.downstream_keys)
    rules = rules or SeverityRules()
    cluster = find_faults(facts, estate)[0]
    affected = impact_of_group(cluster, graph, estate, rules)
    return rate_severity(cluster, affected, estate, now, rules), affected


def level(facts, *arrows, **rows):  # noqa: ANN002, ANN003
    found, _ = severity_and_impact(facts, *arrows, **rows)
    return found.level, found.because


FAILED = [violation("A", "job_failed", 10)]


@pytest.mark.parametrize(
    ("rows", "expected"),
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
def test_severity_is_that_of_what_is_downstream(rows, expected):
    """Page at five, and open a ticket at one, for a mart that is due at nine."""
    assert level(FAILED, "A>B>C", **rows) == expected


def test_a_critical_dataset_that_is_bad_pages():
    """Page at once, whatever its deadline is."""
    facts = [*FAILED, violation("C", "upstream_late", 15)]
    found, _ = severity_and_impact(facts, "A>C", C={"tier": "critical"})

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
def test_severity_of_a_bad_critical_dataset(reason, standing, expected):
    """Page for lineage that stopped, and open a ticket for a gap that always stood."""
    facts = [violation("A", reason, is_standing=standing)]

    assert level(facts, A={"tier": "critical"})[0] == expected


def test_lost_lineage_delays_nothing():
    """Open a ticket, as the data arrived and no deadline is in danger."""
    facts = [violation("A", "lineage_missing")]
    rows = {"C": {"tier": "critical", "deadline": 21}}

    assert level(facts, "A>C", **rows) == ("ticket", "later")


def test_time_to_impact_ends_with_the_first_affected_dataset():
    """Name the first affected dataset and the time that is left."""
    rows = {
        "B": {"tier": "critical", "deadline": 23},
        "C": {"tier": "critical", "deadline": 30, "next_read": 22},
    }
    found, _ = severity_and_impact(FAILED, "A>B", "A>C", **rows)

    assert (found.hit_key, found.hit_at) == (key("C"), 22 * HOUR)


def test_each_tier_has_its_own_response_time():
    """Page for the first tier whose response time is too short."""
    tiers = (TierRule(9, 3600), TierRule(3, 8 * 3600), TierRule(1))
    rows = {
        "B": {"tier": "critical", "deadline": 22},
        "C": {"tier": "important", "deadline": 26},
    }
    found, _ = severity_and_impact(FAILED, "A>B", "A>C", rules=SeverityRules(tiers=tiers), **rows)

    assert (found.level, found.hit_key) == ("page", key("C"))


def test_the_score_falls_with_each_hop():
    """Sum over descendants of tier weight x decay ** hops, each at its nearest."""
    rows = {"B": {"tier": "critical"}, "D": {"tier": "important"}}
    found, affected = severity_and_impact(FAILED, "A>B>D", "A>C>D", **rows)

    assert found.score == pytest.approx(1 + 0.8 * (9 + 1) + 0.64 * 3)
    assert [TIERS[tier] for tier in sorted(affected.tiers)] == [
        "critical",
        "important",
        *["optional"] * 2,
    ]
    assert dict(zip(affected.keys.tolist(), affected.hops.tolist(), strict=True)) == {
        key("A"): 0, key("B"): 1, key("C"): 1, key("D"): 2,
    }  # fmt: skip


def test_a_bad_dataset_beside_the_root_counts():
    """Count another output of the job that is bad, though no edge leads to it."""
    facts = [violation("A", "schema_mismatch", 10, "facts"), violation("B", "assertion_failed", 10)]
    rows = {"A": {"job": 20}, "B": {"job": 20, "tier": "critical"}}

    severity, affected = severity_and_impact(facts, **rows)

    assert affected.keys.tolist() == sorted([key("A"), key("B")])
    assert (severity.level, severity.score) == ("page", 10)


def test_an_impact_that_was_cut_says_so():
    """Mark it as partial, so that missing data does not look healthy."""
    _, affected = severity_and_impact(FAILED, "A>B>C", rules=SeverityRules(max_datasets=2))

    assert (len(affected.keys), affected.is_partial) == (2, True)


def test_a_part_of_the_service_pages():
    """Page for an ingestion outage or unauthorized access without a graph."""
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
    """Compare with hops by repeated relaxation, and a minimum by hand."""
    rows = {
        name: {"tier": tiers[name - 1], "deadline": deadlines[name - 1]} for name in range(1, 9)
    }
    hops = {1: 0}
    for _ in range(8):
        for start, end in arrows:
            if start in hops:
                hops[end] = min(hops.get(end, math.inf), hops[start] + 1)
    weights = {"critical": 9, "important": 3, "optional": 1}
    score = sum(weights[rows[name]["tier"]] * 0.8**hop for name, hop in hops.items())
    due = [
        rows[name]["deadline"]
        for name in hops
        if rows[name]["tier"] == "critical" and rows[name]["deadline"]
    ]
    estate = make_snapshot(*arrows, rows=[row(name, **rows[name]) for name in rows])
    (cluster,) = find_faults([violation(1, "job_failed", 10)], estate)
    both = np.array(arrows, dtype=np.int64).reshape(-1, 2)
    rules = SeverityRules()
    affected = impact_of_group(cluster, Graph(both[:, 0], both[:, 1]), estate, rules)
    found = rate_severity(cluster, affected, estate, NOW, rules)

    assert found.score == pytest.approx(score)
    if rows[1]["tier"] == "critical":
        assert (found.level, found.because) == ("page", "is_bad")
    else:
        assert (found.level == "page") == any(at <= 24 for at in due)

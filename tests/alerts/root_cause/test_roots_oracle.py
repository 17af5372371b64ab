"""Roots and clusters of generated estates, against an obvious and slow search."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alerts.root_cause import assignment, links, symptom_groups
from alerts.root_cause.kinds import IS_OF_RUN
from alerts.root_cause.roots import find_faults
from alerts.root_cause.severity import SeverityRules, impact_of_group
from lineage.graph.graph import Graph
from tests.alerts.root_cause.snapshots import HOUR, edges, make_snapshot, row, violation
from tests.suite.examples import examples

# Reason, its SLI, and what it explains: downstream, and of the same job or dataset.
ABSENT = {"silent", "upstream_late", "job_missing"}
REASONS = {
    "job_failed": ("M2", ABSENT, {*ABSENT, "edge_stale"}),
    "job_missing": ("M2", ABSENT, {"silent", "upstream_late", "edge_stale"}),
    "silent": ("M2", {*ABSENT, "edge_stale"}, {"upstream_late", "edge_stale"}),
    "upstream_late": ("M2", ABSENT, {"edge_stale"}),
    "edge_stale": ("M3b", set(), set()),
    "schema_mismatch": (
        "facts",
        {"job_failed", "schema_mismatch", "assertion_failed"},
        {"assertion_failed"},
    ),
    "assertion_failed": ("facts", {"assertion_failed"}, set()),
    "never_reported": ("M1", {"upstream_late", "edge_stale"}, {"edge_stale"}),
}
OF_RUN = {"job_failed", "job_missing", "silent", "upstream_late"}
OF_JOB = {*OF_RUN, "schema_mismatch"}
STOPS = OF_RUN
CHAINS_END = {"job_failed", "silent", "upstream_late", "job_missing"}

NODES = st.integers(1, 7)
FACTS = st.lists(st.tuples(NODES, st.sampled_from(sorted(REASONS)), st.integers(1, 40)), max_size=9)
ROW = st.fixed_dictionaries(
    {
        "job": st.sampled_from([None, 20, 21, 22, 23, 24, 25]),
        "cadence": st.sampled_from([float("nan"), 1, 8]),
        "failed": st.sampled_from([0, 0, 5, 15, 25]),
        "last_written": st.sampled_from([0, 10, 20, 30]),
        "is_observable": st.booleans(),
        "is_unknown": st.sampled_from([False, False, True]),
    }
)


class Oracle:
    """Sets and loops; nothing of the product's code."""

    def __init__(self, facts, arrows, rows) -> None:
        self.rows = rows
        self.after = {name: {end for start, end in arrows if start == name} for name in rows}
        self.onset = {}
        for name, reason, since in facts:
            at = min(since, rows[name]["failed"] or since) if reason == "job_failed" else since
            self.onset[name, reason] = min(at, self.onset.get((name, reason), at))
        self.real = set(self.onset)
        for name, values in rows.items():
            stopped = any(node == name and reason in OF_RUN for node, reason in self.real)
            if (
                values["failed"] > values["last_written"]
                and not values["is_unknown"]
                and not stopped
            ):
                self.onset[name, "job_failed"] = values["failed"]
        self.stopped = {name for name, reason in self.onset if reason != "never_reported"}
        self.edges = {
            (self.fault(parent), self.fault(child))
            for parent, child in itertools.permutations(self.onset, 2)
            if self.explains(parent, child)
        }

    def fault(self, symptom):
        """Return the group of a symptom."""
        name, reason = symptom
        writer = self.rows[name]["job"]
        shared = reason in OF_JOB and writer is not None
        return ("job", writer, reason) if shared else ("dataset", name, reason)

    def explains(self, parent, child):
        """Return whether kinds, place and time allow it."""
        (above, cause), (below, effect) = parent, child
        _, downstream, own = REASONS[cause]
        if effect in own and self.one_of(parent, child):
            return True
        if effect not in downstream or not self.reaches(above, below):
            return False
        cadence = self.rows[below]["cadence"]
        known = cadence == cadence  # noqa: PLR0124 - not nan
        slack = cadence if known else 1
        wrote_on = known and self.rows[below]["last_written"] > self.onset[parent] + slack
        if effect in CHAINS_END and wrote_on:
            return False
        if cause in STOPS and self.rows[above]["last_written"] > self.onset[child]:
            return self.onset[parent] <= self.onset[child]
        return self.onset[parent] <= self.onset[child] + slack

    def one_of(self, parent, child):
        """Return whether both are of one dataset, or outputs of one job."""
        if parent[0] == child[0]:
            return True
        writer = self.rows[parent[0]]["job"]
        return parent[1] in OF_JOB and writer is not None and writer == self.rows[child[0]]["job"]

    def reaches(self, above, below):
        """Return whether an edge, or a path through one to three hidden datasets, connects them."""
        paths = [[above]]
        for _ in range(4):
            paths = [[*path, end] for path in paths for end in self.after[path[-1]] - {path[-1]}]
            if any(path[-1] == below for path in paths):
                return True
            paths = [path for path in paths if self.is_hidden(path[-1])]
        return False

    def is_hidden(self, name):
        """Return whether the state of the dataset cannot be known."""
        values = self.rows[name]
        return name not in self.stopped and (not values["is_observable"] or values["is_unknown"])

    def reached(self, fault):
        """Return all faults that follow from this one and the fault itself, with their steps."""
        steps, grown = {fault: 0}, True
        while grown:
            grown = False
            for parent, child in self.edges:
                if parent in steps and steps[parent] + 1 < steps.get(child, 99):
                    steps[child], grown = steps[parent] + 1, True
        return steps

    def onset_of(self, fault):
        """Return the time of its first symptom."""
        return min(onset for symptom, onset in self.onset.items() if self.fault(symptom) == fault)

    def owners(self):
        """Return for each fact the onset of its root, all roots, and the steps from them."""
        faults = {self.fault(symptom) for symptom in self.onset}
        reach = {fault: self.reached(fault) for fault in faults}
        sources = [
            fault
            for fault in faults
            if all(other in reach[fault] for other in faults if fault in reach[other])
        ]
        found = {}
        for symptom in self.real:
            mine = [fault for fault in sources if self.fault(symptom) in reach[fault]]
            rank = {
                frozenset(other for other in mine if other in reach[each]): min(
                    (other[2] == "upstream_late", self.onset_of(other))
                    for other in mine
                    if other in reach[each]
                )
                for each in mine
            }
            found[symptom] = rank
        return found


def kind_and_reason(kind):
    """Return the product's reason for each kind."""
    return {
        "failed": "job_failed",
        "missing": "job_missing",
        "waiting": "upstream_late",
        "mapping": "edge_stale",
        "schema_changed": "schema_mismatch",
        "quality": "assertion_failed",
        "standing_gap": "never_reported",
    }.get(kind, kind)


def as_fault(root):
    number = root.key - 1_000_000 if root.entity == "job" else root.key
    return (root.entity, number, kind_and_reason(root.kind))


def check(facts, arrows, rows):
    oracle = Oracle(facts, arrows, rows)
    given_facts = [
        violation(name, reason, since, REASONS[reason][0]) for name, reason, since in facts
    ]
    given = make_snapshot(*arrows, rows=rows_of(rows))
    found = find_faults(given_facts, given)
    mine = [
        ((member.dataset_key, kind_and_reason(member.kind)), cluster)
        for cluster in found
        for member in cluster.members
        if not member.is_latent
    ]
    assert sorted(symptom for symptom, _ in mine) == sorted(oracle.real)  # each exactly once
    owners = oracle.owners()
    for symptom, cluster in mine:
        cycles = owners[symptom]
        (own,) = [faults for faults in cycles if as_fault(cluster.root) in faults]
        waits = cluster.unknown is not None
        assert (waits, cluster.onset // HOUR) == cycles[own] == min(cycles.values())
        assert cluster.is_cycle == (len(own) > 1)
    for cluster in found:
        assert cluster.is_latent == (not cluster.bad_keys)
        check_evidence(cluster, oracle, owners)


def check_evidence(cluster, oracle, owners):
    steps = oracle.reached(as_fault(cluster.root))
    for member in cluster.members:
        assert member.steps == steps[as_fault(member.fault)]
        path = cluster.path(member)
        assert path[0].steps == 0
        assert len(member.unobserved) <= 3
        for above, below in itertools.pairwise(path):
            assert below.steps - above.steps in {0, 1}
            hidden = [above.dataset_key, *below.unobserved, below.dataset_key]
            if below.job_key:
                assert all(end in oracle.after[start] for start, end in itertools.pairwise(hidden))
    shared = {(each.dataset_key, kind_and_reason(each.kind)) for each in cluster.shared}
    others = {symptom for symptom, cycles in owners.items() if oracle.fault(symptom) in steps} - {
        (each.dataset_key, kind_and_reason(each.kind)) for each in cluster.members
    }
    assert shared == others


def rows_of(rows):
    return [row(name, **values) for name, values in rows.items()]


of_random_estates = given(
    FACTS,
    st.lists(st.tuples(NODES, NODES), max_size=16),
    st.fixed_dictionaries(dict.fromkeys(range(1, 8), ROW)),
)


@settings(max_examples=examples(600))
@of_random_estates
def test_roots_members_and_evidence_are_those_of_the_oracle(facts, arrows, rows):
    """Compare on random graphs with cycles, loops, diamonds, bridges and several outputs."""
    check(facts, arrows, rows)


@settings(max_examples=examples(300))
@of_random_estates
def test_bad_datasets_are_among_the_affected_ones(facts, arrows, rows):
    """Keep the title of an incident, which counts the one, from exceeding the other's count."""
    estate = make_snapshot(*arrows, rows=rows_of(rows))
    joined = edges(*arrows)
    graph = Graph(joined.upstream_keys, joined.downstream_keys)
    given_facts = [
        violation(name, reason, since, REASONS[reason][0]) for name, reason, since in facts
    ]

    for cluster in find_faults(given_facts, estate):
        affected = impact_of_group(cluster, graph, estate, SeverityRules())

        assert cluster.bad_keys <= set(affected.keys.tolist())


@pytest.mark.parametrize(
    ("module", "name", "mutant"),
    [
        (links.SymptomTimes, "fit", lambda _, parents, __: np.ones(len(parents), dtype=bool)),
        (links, "EXPLAINS", np.zeros_like(links.EXPLAINS)),
        (links, "EXPLAINS_OWN", np.zeros_like(links.EXPLAINS_OWN)),
        (links, "IS_ABSENT", np.zeros_like(links.IS_ABSENT)),
        (links, "IS_GAP", np.zeros_like(links.IS_GAP)),
        (links, "HAS_STOPPED", np.zeros_like(links.HAS_STOPPED)),
        (symptom_groups, "IS_OF_JOB", IS_OF_RUN),
        (assignment, "strong_components", lambda _parents, _children, size: np.arange(size)),
        (assignment, "MAX_SHARED", 0),
    ],
)
def test_the_oracle_finds_each_rule_taken_out(monkeypatch, module, name, mutant):
    """Fail for each rule that is removed."""
    monkeypatch.setattr(module, name, mutant)

    with pytest.raises((AssertionError, ValueError, KeyError)):
        check_many(np.random.default_rng(1))


def check_many(draw):
    for _ in range(1000):
        check(*estate_by_chance(draw))


def estate_by_chance(draw):
    reasons = sorted(REASONS)
    facts = [
        (int(draw.integers(1, 8)), reasons[draw.integers(len(reasons))], int(draw.integers(1, 41)))
        for _ in range(9)
    ]
    arrows = [(int(up), int(down)) for up, down in draw.integers(1, 8, (14, 2))]
    rows = {
        name: {
            "job": [None, 20, 21, 22, 23][draw.integers(5)],
            "cadence": [float("nan"), 1, 8][draw.integers(3)],
            "failed": [0, 0, 15][draw.integers(3)],
            "last_written": [0, 10, 30][draw.integers(3)],
            "is_observable": bool(draw.integers(2)),
            "is_unknown": False,
        }
        for name in range(1, 8)
    }
    return facts, arrows, rows

"""Generated faults, from facts to pages: search for roots and life of incidents."""

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from alerts.incidents.detected_fault import detected_fault
from alerts.incidents.lifecycle import advance
from alerts.incidents.steps import StepInput
from alerts.root_cause import roots
from alerts.root_cause.severity import SeverityRules, impact_of_group, rate_severity
from lineage.graph.graph import Graph
from lineage.process.clock import SECOND_MICROS
from tests.alerts.root_cause.snapshots import edges, job, make_snapshot, violation

SIZE = 8
# Each dataset but the first is made of one or two before it: trees and diamonds.
PARENTS = st.tuples(
    *(st.lists(st.integers(1, n - 1), min_size=1, max_size=2) for n in range(2, SIZE + 1))
)
# Hours after the fault at which each limit passes, and after the recovery at which each is good.
DELAYS = st.lists(st.integers(0, 12), min_size=SIZE, max_size=SIZE)


def evaluated(facts, given_estate, graph):
    rules = SeverityRules()
    for cluster in roots.find_faults(facts, given_estate):
        affected = impact_of_group(cluster, graph, given_estate, rules)
        yield detected_fault(
            cluster, rate_severity(cluster, affected, given_estate, 0, rules), given_estate
        )


def simulate_fault(parents, limits, catching_up, reason):
    """Return what is left after 38 hours, all events, and the last root of each incident.

    The first dataset's job fails at hour 10 and recovers at hour 24.
    """
    arrows = [
        (up, down)
        for down, ups in zip(range(2, SIZE + 1), parents, strict=True)
        for up in sorted(set(ups))
    ]
    estate = make_snapshot(*arrows)
    joined = edges(*arrows)
    graph = Graph(joined.upstream_keys, joined.downstream_keys)
    late_at = {1: 10 + limits[0]}
    good_at = {1: 24}
    for down, ups in zip(range(2, SIZE + 1), parents, strict=True):
        late_at[down] = 10 + limits[down - 1]
        good_at[down] = max(good_at[up] for up in ups) + catching_up[down - 1] % 3
    incidents, events = (), []
    last_roots = {}
    for hour in range(10, 48):
        is_bad = {name for name in late_at if late_at[name] <= hour < good_at[name]}
        facts = [
            violation(name, _reason(name, is_bad, arrows, reason), late_at[name]) for name in is_bad
        ]
        found = tuple(evaluated(facts, estate, graph))
        done = advance(incidents, StepInput(hour * 3600 * SECOND_MICROS, found))
        incidents, events = done.incidents, [*events, *done.events]
        last_roots |= {each.id: each.root for each in done.changed}
    return incidents, events, last_roots


def _reason(name, is_bad, arrows, reason):
    if name == 1:
        return reason
    late_upstream = any(up in is_bad for up, down in arrows if down == name)
    return "upstream_late" if late_upstream else "silent"


@settings(max_examples=30)
@given(PARENTS, DELAYS, DELAYS, st.sampled_from(["job_failed", "job_missing", "silent"]))
def test_one_fault_opens_once_where_limits_follow_the_graph(parents, limits, catching, reason):
    """Open and resolve one incident of one root when datasets are late in the graph's order."""
    limits = _downstream_later(parents, limits)
    incidents, events, last_roots = simulate_fault(parents, limits, catching, reason)

    assert [event.what for event in events].count("opened") == 1
    assert [event.what for event in events].count("resolved") == 1
    assert not [each for each in incidents if each.state != "resolved"]
    assert {root.key for root in last_roots.values()} == {job(1)}


def _downstream_later(parents, limits):
    """Make no dataset late before all its upstream datasets are."""
    late = list(limits)
    for down, ups in zip(range(2, SIZE + 1), parents, strict=True):
        late[down - 1] = max(late[down - 1], *(late[up - 1] for up in ups), 0)
    return late


@settings(max_examples=20)
@given(PARENTS, DELAYS, DELAYS)
def test_any_limits_end_in_one_resolved_incident(parents, limits, catching):
    """Open each incident once, and merge early ones into the incident of the root."""
    incidents, events, last_roots = simulate_fault(parents, limits, catching, "job_failed")

    assert not [each for each in incidents if each.state != "resolved"]
    last = {}
    for event in sorted(events, key=lambda each: each.revision):
        last[event.incident_id] = event
    opened = Counter(event.incident_id for event in events if event.what == "opened")
    assert opened == dict.fromkeys(last, 1)
    assert Counter(event.what for event in last.values()) == {
        "resolved": 1,
        **({"merged": len(last) - 1} if len(last) > 1 else {}),
    }
    # All are bad at hour 23, so one incident is left: of the job that failed, until it is fixed.
    [resolved] = [event for event in last.values() if event.what == "resolved"]
    assert resolved.at >= 24 * 3600 * SECOND_MICROS
    assert last_roots[resolved.incident_id].key == job(1)


def test_a_storm_is_one_page():
    """Open one incident for 10^4 datasets that are bad by one source."""
    ends = np.arange(2, 10_001)
    arrows = [(int(end // 3) or 1, int(end)) for end in ends]
    estate, joined = make_snapshot(*arrows), edges(*arrows)
    graph = Graph(joined.upstream_keys, joined.downstream_keys)
    facts = [violation(1, "silent")] + [violation(int(end), "upstream_late", 12) for end in ends]
    found = tuple(evaluated(facts, estate, graph))

    first = advance((), StepInput(0, found))
    then = advance(first.incidents, StepInput(30 * SECOND_MICROS, found))

    assert [event.what for event in then.events] == ["opened"]
    assert len(then.incidents[0].members) == 10_000

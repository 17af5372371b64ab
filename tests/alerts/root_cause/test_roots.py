import numpy as np
import pytest

from alerts.root_cause import kinds, links
from alerts.root_cause.faults import FaultRoot, SharedMember
from alerts.root_cause.roots import find_faults
from tests.alerts.root_cause.snapshots import (
    HOUR,
    faults_of,
    job,
    key,
    late_violations,
    make_snapshot,
    members_by_root,
    row,
    violation,
)

DIAMOND = ("A>B>D", "A>C>D", "D>E")


def test_keys_at_both_ends_of_their_range_make_an_estate():
    """Accept keys whose difference exceeds 64 bits, as that of random keys often does."""
    first, last = -(2**63), 2**63 - 2_000_000

    assert list(make_snapshot(rows=[row(last), row(first)]).keys) == [first, last]
    with pytest.raises(ValueError, match=f"key {first} comes twice"):
        make_snapshot(rows=[row(first), row(last), row(first)])


def test_one_job_and_all_that_waits_for_it_are_one_fault():
    """Make one incident of one dead job, however many datasets are late by it."""
    facts = [violation("A", "job_failed"), *late_violations(*"BCDE")]

    assert faults_of(facts, *DIAMOND) == {"A failed": "ABCDE"}


def test_two_roots_are_two_faults():
    """Assign what is downstream of both to the job that failed first, and name it in the other."""
    facts = [
        violation("B", "job_failed", 9),
        violation("C", "lost_run", 8),
        *late_violations(*"DE"),
    ]

    first, second = find_faults(facts, make_snapshot(*DIAMOND))

    assert members_by_root([first, second]) == {"C lost": "CDE", "B failed": "B"}
    root = FaultRoot("job", job("C"), "lost")
    assert second.shared == (
        SharedMember(key("D"), "waiting", root),
        SharedMember(key("E"), "waiting", root),
    )
    assert first.shared == ()


def test_a_job_that_failed_by_itself_is_a_root():
    """Make a second fault of a failed run downstream of a failed run."""
    facts = [
        violation("A", "job_failed", 8),
        violation("B", "job_failed", 9),
        *late_violations("C"),
    ]

    assert faults_of(facts, "A>B>C") == {"A failed": "A", "B failed": "BC"}


def test_a_job_fails_by_a_changed_schema():
    """Follow a changed schema to a failed job and late data."""
    facts = [
        violation("A", "schema_mismatch", 8, "facts"),
        violation("B", "job_failed", 9),
        *late_violations("C"),
    ]

    assert faults_of(facts, "A>B>C") == {"A schema_changed": "ABC"}


def test_several_outputs_of_a_job_are_one_root():
    """Name the job once."""
    facts = [
        violation("A", "job_failed", 9),
        violation("B", "silent", 10),
        *late_violations("C", "D"),
    ]

    (cluster,) = find_faults(
        facts, make_snapshot("A>C", "B>D", B={"job": "A"}, runs={"A": "run-7"})
    )

    assert cluster.root == FaultRoot("job", job("A"), "failed")
    assert members_by_root([cluster]) == {"A failed": "ABCD"}
    assert cluster.run_ids == ("run-7",)


def test_several_outputs_that_failed_alike_are_the_roots_own():
    """Put all of them at no hop from the root."""
    facts = [violation("A", "job_failed", 9), violation("B", "job_failed", 10)]

    (cluster,) = find_faults(facts, make_snapshot(A={}, B={"job": "A"}))

    assert (cluster.root_keys, cluster.onset) == ((key("A"), key("B")), 9 * HOUR)


def test_a_schema_that_changes_in_several_outputs_is_the_job_s():
    """Explain outputs with readers of their own by one change of the code."""
    facts = [violation(name, "schema_mismatch", 8, "facts") for name in "AB"]
    facts += [
        violation("C", "job_failed"),
        violation("D", "job_failed"),
        violation("B", "assertion_failed", 9),
    ]

    (cluster,) = find_faults(facts, make_snapshot("A>C", "B>D", B={"job": "A"}))

    assert cluster.root == FaultRoot("job", job("A"), "schema_changed")
    assert (members_by_root([cluster]), cluster.root_keys) == (
        {"A schema_changed": "ABCD"},
        (key("A"), key("B")),
    )


def test_the_higher_ranked_kind_of_one_dataset_explains_the_other():
    """Open no second incident for the missing edges of a job that does not run."""
    facts = [violation("A", "job_failed"), violation("A", "edge_stale", 11, "M3b")]

    assert faults_of(facts, A={}) == {"A failed": "A"}


def test_unrelated_kinds_are_two_faults():
    """Open two faults: a job that does not run makes no wrong content."""
    facts = [violation("A", "job_failed"), violation("A", "assertion_failed", 11, "facts")]

    assert faults_of(facts, A={}) == {"A failed": "A", "A quality": "A"}


def test_a_good_dataset_between_clears_its_upstream():
    """Open two faults of A and C, as B between them is observed and good."""
    facts = [violation("A", "job_failed"), violation("C", "silent", 12)]

    assert faults_of(facts, "A>B>C") == {"A failed": "A", "C silent": "C"}


@pytest.mark.parametrize(
    ("hidden", "expected"),
    [
        ("", {"A failed": "AZ"}),
        ("U", {"A failed": "AZ"}),
        ("UVW", {"A failed": "AZ"}),
        ("UVWX", {"A failed": "A", "Z silent": "Z"}),
    ],
)
def test_at_most_three_that_cannot_be_observed_are_looked_through(hidden, expected):
    """Bridge one to three of them and mark the fault as bridged; do not bridge four."""
    facts = [violation("A", "job_failed"), violation("Z", "silent", 12)]
    given = make_snapshot(
        ">".join(f"A{hidden}Z"), **{name: {"is_observable": False} for name in hidden}
    )

    first, *_ = find_faults(facts, given)

    assert members_by_root(find_faults(facts, given)) == expected
    assert first.is_bridged == (hidden in {"U", "UVW"})
    if first.is_bridged:
        assert first.members[-1].unobserved == tuple(key(name) for name in hidden)


def test_unknown_datasets_are_looked_through():
    """Bridge B, whose state is unknown by a fault of Lineward."""
    facts = [violation("A", "job_failed"), *late_violations("C")]

    (cluster,) = find_faults(facts, make_snapshot("A>B>C", B={"is_unknown": True}))

    assert cluster.is_bridged


def test_unreported_datasets_are_looked_through():
    """Bridge G, whose old gap neither makes A late nor explains C."""
    facts = [
        violation("G", "never_reported", 1, "M1"),
        violation("A", "job_failed"),
        violation("C", "silent", 12),
    ]
    unseen = {"G": {"is_observable": False}}

    assert faults_of(facts, "A>G>C", **unseen) == {"G standing_gap": "G", "A failed": "AC"}
    assert "C silent" in faults_of(facts, "A>G>C")  # known to be written: it clears A


def test_the_nearest_explanation_is_the_evidence():
    """Prefer a direct edge to one through datasets that are not observed."""
    facts = [violation("A", "job_failed"), *late_violations("C")]

    (cluster,) = find_faults(facts, make_snapshot("A>U>C", "A>C", U={"is_observable": False}))

    assert not cluster.is_bridged


def test_behind_a_hub_only_the_first_to_fail_are_parents(monkeypatch):
    """Keep the first four parents of each kind behind a hub, so that cost stays linear."""
    facts = [violation(name, "silent", 20 - name) for name in range(1, 11)] + [
        violation("Z", "late", 30)
    ]
    arrows = [(name, "U") for name in range(1, 11)]
    given = make_snapshot(*arrows, "U>Z", U={"is_observable": False})
    asked = find_faults(facts, given)
    monkeypatch.setattr(links, "MAX_PARENTS_PER_KIND", 99)

    assert [each.root.key for each in asked if each.shared] == [1_000_009, 1_000_008, 1_000_007]
    assert len([each for each in find_faults(facts, given) if each.shared]) == 9


@pytest.mark.parametrize(
    ("arrows", "rows", "why"),
    [
        (("A>B",), {}, "upstream_well"),
        ((), {}, "no_upstream"),
        (("A>B",), {"A": {"is_observable": False}}, "upstream_hidden"),
        (("A>B",), {"A": {"is_unknown": True}}, "upstream_unknown"),
        (("A>B", "C>B"), {"A": {"is_unknown": True}, "C": {"is_observable": False}},
         "upstream_unknown"),
    ],
)  # fmt: skip
def test_a_waiting_dataset_without_a_cause_has_an_unknown_root(arrows, rows, why):
    """Return an unknown root for `upstream_late`, which is only a symptom."""
    (cluster,) = find_faults(late_violations("B"), make_snapshot(*arrows, **{"B": {}, **rows}))

    assert (cluster.unknown, cluster.root.kind) == (why, "waiting")


def test_a_known_root_takes_over_an_unknown_one():
    """Prefer a known root, also if it failed later."""
    facts = [
        violation("A", "job_failed", 11),
        *late_violations("B", since=9),
        *late_violations("C", since=12),
    ]

    assert faults_of(facts, "A>C", "B>C") == {"A failed": "AC", "B waiting": "B"}


def test_the_evidence_is_the_path_in_order():
    """Return the path from the root to the member, with jobs and times."""
    facts = [
        violation("A", "job_failed", 8),
        *late_violations("B", since=9),
        *late_violations("C", since=10),
    ]
    (cluster,) = find_faults(facts, make_snapshot("A>B>C", runs={"A": "run-1"}))

    path = cluster.path(cluster.members[-1])

    assert [(each.dataset_key, each.kind, each.onset, each.job_key) for each in path] == [
        (key("A"), "failed", 8 * HOUR, 0),
        (key("B"), "waiting", 9 * HOUR, job("B")),
        (key("C"), "waiting", 10 * HOUR, job("C")),
    ]


def test_a_violation_of_an_unknown_dataset_is_rejected():
    """Raise, as the dataset would look healthy without its violation."""
    with pytest.raises(ValueError, match="is not among the datasets"):
        find_faults([violation("X", "silent")], make_snapshot("A>B"))


def test_a_storm_is_one_fault():
    """Make one fault of 10^4 datasets in layers and diamonds downstream of one source."""
    ends = np.arange(2, 10_001)
    arrows = [(int(end // 2), int(end)) for end in ends] + [(1, int(end)) for end in ends]
    facts = [violation(1, "silent")] + [violation(int(end), "upstream_late", 12) for end in ends]

    (cluster,) = find_faults(facts, make_snapshot(*arrows))

    assert (len(cluster.bad_keys), cluster.root.key) == (10_000, 1_000_001)


def test_without_the_table_every_fault_is_a_root(monkeypatch):
    """Make an incident of each dataset without the search for roots (mutant)."""
    monkeypatch.setattr(links, "EXPLAINS", np.zeros_like(kinds.EXPLAINS))

    assert len(faults_of([violation("A", "job_failed"), *late_violations(*"BCDE")], *DIAMOND)) == 5

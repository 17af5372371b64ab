"""Order of failures in time: a root is no later than what it explains."""

import numpy as np
import pytest

from alerts.root_cause import links
from alerts.root_cause.retries import select_failures
from alerts.root_cause.roots import find_faults
from tests.alerts.root_cause.snapshots import (
    NAN,
    faults_of,
    late_violations,
    make_snapshot,
    members_by_root,
    violation,
)


@pytest.mark.parametrize(
    ("parent", "child", "cadence", "explains"),
    [
        (9, 10, 1, True),
        (11, 10, 1, True),  # within the child's cadence: its deadline may come first
        (12, 10, 1, False),
        (12, 10, 24, True),
        (11, 10, NAN, True),  # an hour where the cadence is not known
        (12, 10, NAN, False),
    ],
)
def test_a_parent_explains_what_failed_after_it(parent, child, cadence, explains):
    """Order in time, within the child's cadence."""
    facts = [violation("A", "job_failed", parent), violation("B", "silent", child)]
    clustered = faults_of(facts, "A>B", B={"cadence": cadence})

    assert clustered == ({"A failed": "AB"} if explains else {"B silent": "B", "A failed": "A"})


@pytest.mark.parametrize(
    ("written", "reason", "cadence", "explains"),
    [
        (9, "silent", 2, True),
        (12, "silent", 2, True),  # within a cadence: on what it had read before
        (13, "silent", 2, False),
        (13, "silent", NAN, True),
        (13, "lineage_missing", 2, True),  # written, with fewer edges: no contradiction
    ],
)
def test_a_dataset_that_is_still_written_is_not_explained(written, reason, cadence, explains):
    """Look for another root of B, which wrote three hours after A had failed."""
    facts = [violation("A", "silent", 10), violation("B", reason, 20)]
    clustered = faults_of(facts, "A>B", B={"last_written": written, "cadence": cadence})

    assert (len(clustered) == 1) == explains


@pytest.mark.parametrize(
    ("written", "reason", "onset", "explains"),
    [
        (9, "job_failed", 20, True),  # it stopped before B was late
        (10, "job_failed", 20, True),
        (19, "job_failed", 20, False),  # a run each hour: B did not wait for the one that failed
        (19, "silent", 20, False),
        (19, "job_failed", 10, True),  # it failed before, and tried again
        (19, "schema_mismatch", 20, True),  # what is wrong with it was written
    ],
)
def test_a_parent_that_wrote_later_is_no_cause(written, reason, onset, explains):
    """Compare the one failure of A with B, which is daily and late hours earlier."""
    child = "job_failed" if reason == "schema_mismatch" else "silent"
    facts = [violation("A", reason, onset), violation("B", child, 10)]

    clustered = faults_of(facts, "A>B", A={"last_written": written}, B={"cadence": 24})

    assert (len(clustered) == 1) == explains


def test_a_failure_counts_from_the_fail():
    """Count from the failed run, although the dataset of A was late hours after that of B."""
    facts = [violation("A", "job_failed", 30), violation("B", "silent", 10)]

    assert faults_of(facts, "A>B", A={"failed": 9}, B={"cadence": 1}) == {"A failed": "AB"}


def test_a_failure_explains_before_its_own_dataset_is_late():
    """Name A at once: B has the shorter limit, and the dataset of A is no member yet."""
    (cluster,) = find_faults(
        [violation("B", "silent", 10)],
        make_snapshot("A>B", A={"failed": 9, "last_written": 1}, runs={"A": "r"}),
    )

    assert (members_by_root([cluster]), cluster.run_ids) == ({"A failed": "B"}, ("r",))


def test_a_lost_run_explains_before_its_own_dataset_is_late():
    """Name it at once where B has the shorter limit; a run that failed before is what counts."""
    lost = {"lost": 9, "last_written": 1}

    assert faults_of([violation("B", "silent", 10)], "A>B", A=lost) == {"A lost": "B"}
    assert faults_of([violation("B", "silent", 10)], "A>B", A=lost | {"failed": 8}) == {
        "A failed": "B"
    }
    assert faults_of([violation("B", "job_failed", 10)], "A>B", A=lost) == {"B failed": "B"}


def test_a_latent_lost_run_is_no_incident():
    """Notify nobody of it before something is late, at any tier."""
    given = make_snapshot("A>B", A={"lost": 9, "last_written": 1, "tier": "critical"})
    (cluster,) = find_faults([], given)

    assert cluster.is_latent
    assert select_failures([cluster], given) == frozenset()
    assert faults_of([], "A>B", A={"lost": 9, "last_written": 1}) == {}


def test_a_latent_failure_is_no_incident():
    """Open nothing for a failed run that is repeated in time."""
    assert faults_of([], "A>B", A={"failed": 9, "last_written": 1}) == {}


def test_a_failure_before_the_newest_write_is_over():
    """Ignore a failure that was repeated with success."""
    clustered = faults_of([violation("B", "silent")], "A>B", A={"failed": 9, "last_written": 9.5})

    assert clustered == {"B silent": "B"}


def test_a_cycle_has_the_first_to_fail_as_root():
    """Choose the first that failed among jobs that feed each other."""
    facts = [
        violation("A", "silent", 11),
        violation("B", "silent", 10),
        violation("C", "silent", 12),
        *late_violations("D"),
    ]

    (cluster,) = find_faults(facts, make_snapshot("A>B>C>A", "C>D", "B>B"))

    assert (members_by_root([cluster]), cluster.is_cycle) == ({"B silent": "ABCD"}, True)


def test_without_time_a_late_parent_is_blamed(monkeypatch):
    """Run the mutant: ignore the order in time."""
    monkeypatch.setattr(
        links.SymptomTimes, "fit", lambda _, parents, __: np.ones(len(parents), dtype=bool)
    )

    assert faults_of([violation("A", "job_failed", 99), violation("B", "silent", 10)], "A>B") == {
        "A failed": "AB"
    }

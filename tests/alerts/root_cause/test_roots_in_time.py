"""What failed before what: a root is no later than what it explains."""

import numpy as np
import pytest

from alerts.root_cause import links
from alerts.root_cause.retries import select_failures
from alerts.root_cause.roots import clusters
from tests.alerts.root_cause.snapshots import NAN, bad, found, late, made, told


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
    facts = [bad("A", "job_failed", parent), bad("B", "silent", child)]
    clustered = found(facts, "A>B", B={"cadence": cadence})

    assert clustered == ({"A failed": "AB"} if explains else {"B silent": "B", "A failed": "A"})


@pytest.mark.parametrize(
    ("written", "reason", "cadence", "explains"),
    [
        (9, "silent", 2, True),
        (12, "silent", 2, True),  # within a cadence: on what it had read before
        (13, "silent", 2, False),
        (13, "silent", NAN, True),
        (13, "lineage_missing", 2, True),  # it was written, and told of less: no contradiction
    ],
)
def test_who_wrote_on_can_do_without(written, reason, cadence, explains):
    """B wrote three hours after A had failed: what stops it now is not that."""
    facts = [bad("A", "silent", 10), bad("B", reason, 20)]
    clustered = found(facts, "A>B", B={"last_written": written, "cadence": cadence})

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
def test_who_wrote_after_its_child_was_late_did_not_stop_it(written, reason, onset, explains):
    """B is daily and late since 10; A has one failure, hours later."""
    child = "job_failed" if reason == "schema_mismatch" else "silent"
    facts = [bad("A", reason, onset), bad("B", child, 10)]

    clustered = found(facts, "A>B", A={"last_written": written}, B={"cadence": 24})

    assert (len(clustered) == 1) == explains


def test_a_failure_counts_from_the_fail():
    """Its dataset was late hours after, and so was what is made of it, with a shorter limit."""
    facts = [bad("A", "job_failed", 30), bad("B", "silent", 10)]

    assert found(facts, "A>B", A={"failed": 9}, B={"cadence": 1}) == {"A failed": "AB"}


def test_a_failure_explains_before_its_own_dataset_is_late():
    """B has the shorter limit; the root is known at once, and A is no member yet."""
    (cluster,) = clusters(
        [bad("B", "silent", 10)], made("A>B", A={"failed": 9, "last_written": 1}, runs={"A": "r"})
    )

    assert (told([cluster]), cluster.run_ids) == ({"A failed": "B"}, ("r",))


def test_a_lost_run_explains_before_its_own_dataset_is_late():
    """Name it at once where B has the shorter limit; a run that failed before is what counts."""
    lost = {"lost": 9, "last_written": 1}

    assert found([bad("B", "silent", 10)], "A>B", A=lost) == {"A lost": "B"}
    assert found([bad("B", "silent", 10)], "A>B", A=lost | {"failed": 8}) == {"A failed": "B"}
    assert found([bad("B", "job_failed", 10)], "A>B", A=lost) == {"B failed": "B"}


def test_a_lost_run_that_hurts_nobody_yet_is_no_incident():
    """Notify nobody of it before something is late, whatever the tier."""
    given = made("A>B", A={"lost": 9, "last_written": 1, "tier": "critical"})
    (cluster,) = clusters([], given)

    assert cluster.is_latent
    assert select_failures([cluster], given) == frozenset()
    assert found([], "A>B", A={"lost": 9, "last_written": 1}) == {}


def test_a_failure_that_hurts_nobody_yet_is_no_incident():
    """A run that failed and is repeated in time is the job's own business."""
    assert found([], "A>B", A={"failed": 9, "last_written": 1}) == {}


def test_a_failure_before_the_newest_write_is_over():
    """It was repeated, and did it."""
    clustered = found([bad("B", "silent")], "A>B", A={"failed": 9, "last_written": 9.5})

    assert clustered == {"B silent": "B"}


def test_a_cycle_has_the_first_to_fail_as_root():
    """Jobs that feed each other explain each other; time decides."""
    facts = [bad("A", "silent", 11), bad("B", "silent", 10), bad("C", "silent", 12), *late("D")]

    (cluster,) = clusters(facts, made("A>B>C>A", "C>D", "B>B"))

    assert (told([cluster]), cluster.is_cycle) == ({"B silent": "ABCD"}, True)


def test_without_time_a_late_parent_is_blamed(monkeypatch):
    """The mutant: order in time taken out."""
    monkeypatch.setattr(
        links.Times, "fit", lambda _, parents, __: np.ones(len(parents), dtype=bool)
    )

    assert found([bad("A", "job_failed", 99), bad("B", "silent", 10)], "A>B") == {"A failed": "AB"}

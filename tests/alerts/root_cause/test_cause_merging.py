from alerts.incidents.detected_fault import detected_fault
from alerts.incidents.lifecycle import advance
from alerts.incidents.steps import StepInput
from alerts.root_cause.cause_merging import merge_by_cause
from alerts.root_cause.faults import FaultRoot
from alerts.root_cause.roots import find_faults
from alerts.root_cause.severity import BY_KIND
from lineage.process.clock import SECOND_MICROS
from tests.alerts.root_cause.snapshots import (
    HOUR,
    job,
    key,
    make_snapshot,
    members_by_root,
    violation,
)

ESTATE = make_snapshot("A>B", "C>D", "E>D")
FACTS = [
    violation("A", "job_failed", 9),
    violation("B", "upstream_late", 12),
    violation("C", "job_failed", 8),
    violation("D", "upstream_late", 12),
    violation("E", "job_failed", 10),
]
UPGRADE = "spark 4.1.0"


def causes_of(*names):  # noqa: ANN002
    return {FaultRoot("job", job(name), "failed"): UPGRADE for name in names}


def test_roots_of_one_cause_are_one_fault():
    """Make one fault of two jobs that an upgrade breaks, and another of the third job."""
    upgrade, other = merge_by_cause(find_faults(FACTS, ESTATE), causes_of("A", "C"))

    assert (upgrade.root.entity, upgrade.root.name, upgrade.onset) == ("cause", UPGRADE, 8 * HOUR)
    assert upgrade.bad_keys == {key(name) for name in "ABCD"}
    assert upgrade.root_keys == (key("A"), key("C"))
    assert members_by_root([other]) == {"E failed": "E"}


def test_a_dataset_that_one_cause_explains_twice_is_not_shared():
    """Name D, which is downstream of two of the jobs, only as a member of the cause."""
    (apart,) = [each for each in find_faults(FACTS, ESTATE) if each.root.key == job("E")]
    (upgrade,) = [
        each
        for each in merge_by_cause(find_faults(FACTS, ESTATE), causes_of("C", "E"))
        if each.root.entity == "cause"
    ]

    assert apart.shared
    assert upgrade.shared == ()


def test_each_path_begins_at_its_own_root():
    """Keep the evidence of each root."""
    upgrade = merge_by_cause(find_faults(FACTS, ESTATE), causes_of("A", "C"))[0]
    paths = [[chr(each.dataset_key) for each in upgrade.path(one)] for one in upgrade.members]

    assert paths == [["C"], ["A"], ["A", "B"], ["C", "D"]]


def test_one_root_may_have_a_cause_that_is_not_its_own():
    """Move only the root that the caller names to the cause."""
    found = find_faults(FACTS, ESTATE)

    every = merge_by_cause(found, causes_of("A"))

    (upgrade,) = [each for each in every if each.root.entity == "cause"]
    assert (upgrade.root.name, upgrade.root_keys) == (UPGRADE, (key("A"),))
    assert set(every) - {upgrade} == {each for each in found if each.root.key != job("A")}


def test_a_latent_failure_belongs_to_the_cause():
    """Include C, which is not late yet and has no fault without the cause."""
    given = make_snapshot("A>B", C={"failed": 8, "last_written": 1})
    found = find_faults(FACTS[:2], given)

    (alone,) = merge_by_cause(found, {})
    (upgrade,) = merge_by_cause(found, causes_of("A", "C"))

    assert members_by_root([alone]) == {"A failed": "AB"}
    assert (upgrade.root_keys, upgrade.bad_keys) == (
        (key("A"), key("C")),
        {key("A"), key("B")},
    )


def test_a_cause_that_shows_later_takes_the_incidents_over():
    """Keep the oldest of three open incidents, and page nobody again."""
    found = find_faults(FACTS, ESTATE)
    apart = tuple(detected_fault(each, BY_KIND, ESTATE) for each in found)
    every = causes_of("A", "C", "E")
    joined = tuple(detected_fault(each, BY_KIND, ESTATE) for each in merge_by_cause(found, every))
    incidents = advance(
        advance((), StepInput(0, apart)).incidents, StepInput(30 * SECOND_MICROS, apart)
    ).incidents

    done = advance(incidents, StepInput(60 * SECOND_MICROS, joined))

    assert [each.what for each in done.events if each.what == "opened"] == []
    assert sorted(each.what for each in done.events if each.what != "joined") == [
        "merged", "merged", "rerooted", "took_over", "took_over",
    ]  # fmt: skip
    (left,) = done.incidents
    assert (left.root.name, len(left.members)) == (UPGRADE, 5)

"""Names of the times of an incident."""

import pytest

from alerts.incidents.detected_fault import service_fault
from alerts.incidents.times import FaultTimes, name_beginning, read_times
from lineage.process.clock import SECOND_MICROS
from tests.alerts.incidents.scenarios import make_fault
from tests.alerts.root_cause.snapshots import HOUR, key, make_snapshot

# A limit of 45 s: late at 12, failed at 20, found at 100 (in seconds).
CHURN = FaultTimes(
    last_write_at=10 * SECOND_MICROS,
    late_since=12 * SECOND_MICROS,
    first_failed_at=20 * SECOND_MICROS,
)


def _shown_times(story):
    return [(each.name, each.at // SECOND_MICROS) for each in story.incidents[0].timeline]


def test_each_time_of_a_failed_job_says_what_it_is(story):
    """List that it was late before it failed, and detected last."""
    fault = make_fault("A", onset=12, times=CHURN)
    story.opened(fault, at=100)

    begun = [("last write at", 10), ("late since", 12), ("first failed at", 20)]
    assert _shown_times(story) == [*begun, ("detected at", 130)]

    story.at(140)
    story.at(185)
    assert _shown_times(story) == [*begun, ("detected at", 130), ("resolved at", 185)]


def test_an_incident_that_comes_back_shows_both_times(story):
    """List the first detection before the new beginning."""
    story.opened(make_fault("A", onset=12, times=CHURN), at=100)
    story.at(140)
    story.at(185)
    again = FaultTimes(last_write_at=150 * SECOND_MICROS, first_failed_at=190 * SECOND_MICROS)
    story.opened(make_fault("A", onset=190, times=again), at=200)

    assert _shown_times(story) == [
        ("first detected at", 130),
        ("last write at", 150),
        ("first failed at", 190),
        ("reopened at", 230),
    ]


def test_an_open_incident_does_not_begin_after_it_opened(story):
    """Keep the beginning: a starved pipeline evaluates once, and is silent again."""
    story.opened(service_fault("ingestion", "pipeline", 0), at=130)
    story.at(170)
    story.at(200, service_fault("ingestion", "pipeline", 190 * SECOND_MICROS))

    assert _shown_times(story) == [("no complete evaluation since", 0), ("detected at", 160)]


def test_a_dataset_that_is_late_again_is_late_since_the_first_time(story):
    """Show the newest write, and keep the beginning: the write was not enough."""
    story.opened(make_fault("A", "slow", onset=12, times=CHURN), at=100)
    later = FaultTimes(last_write_at=135 * SECOND_MICROS, late_since=137 * SECOND_MICROS)
    story.at(140, make_fault("A", "slow", onset=137, times=later))

    assert _shown_times(story) == [
        ("late since", 12),
        ("first failed at", 20),
        ("detected at", 130),
        ("last write at", 135),
    ]


def test_a_pending_incident_begins_when_it_is_found_last(story):
    """Take the newest beginning: another fault was pending while Lineward caught up."""
    story.at(0, make_fault("A", onset=0))
    story.at(10, make_fault("A", onset=9), is_behind=True)
    story.at(20, make_fault("A", onset=15))

    assert story.one.onset == 15 * SECOND_MICROS


@pytest.mark.parametrize(
    ("kind", "part", "name"),
    [
        ("mapping", "", "found bad at"),
        ("standing_gap", "", "found bad at"),
        ("failed", "", "bad since"),
        ("ingestion", "collector", "no heartbeat since"),
        ("ingestion", "kafka", "failing since"),
        ("set_aside", "events", "first failed event at"),
        ("access", "unauthorized_access", "access allowed since"),
    ],
)
def test_a_beginning_is_named_by_its_kind(kind, part, name):
    """Name a fault without a late dataset or failed run, and one of an older version."""
    assert [each.name for each in name_beginning(kind, part, 7, FaultTimes())] == [name]


def test_the_times_of_a_root_are_those_of_its_datasets():
    """Return the newest write, the first limit that has passed, and the first failure."""
    given = make_snapshot(
        "A>B",
        A={"last_written": 1, "deadline": 3, "failed": 4},
        B={"last_written": 2, "deadline": 9},
    )
    both, late, well = ((key(name) for name in names) for names in ("AB", "A", "B"))

    assert read_times(given, both, 5 * HOUR) == FaultTimes(2 * HOUR, 3 * HOUR, 4 * HOUR)
    assert read_times(given, late, 2 * HOUR) == FaultTimes(HOUR, None, 4 * HOUR)
    assert read_times(given, well, 5 * HOUR) == FaultTimes(2 * HOUR)

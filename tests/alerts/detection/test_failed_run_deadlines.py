"""Failed runs whose rerun cannot meet the deadline: the ticket becomes a page."""

import pytest
from sqlalchemy import update

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from tests.alerts.detection.catalog_builder import DAY, dataset, micros
from tests.alerts.detection.conftest import NOON
from tests.alerts.detection.failed_runs import fail

pytestmark = pytest.mark.postgres_nightly

DEADLINE = DAY + 3600  # each dataset was written at midnight


def learn_duration(watched, name, seconds):
    """Learn how long a run of the dataset's job takes."""
    table = tables.dataset_limit
    with write_transaction(watched.engine) as connection:
        mine = update(table).where(table.c.dataset_key == dataset(name))
        connection.execute(mine.values(duration_seconds=seconds))


def test_a_ticket_is_a_page_once_a_rerun_cannot_meet_the_deadline(watched):
    """Page at eleven: the board is due an hour after midnight, and a run takes two."""
    watched.estate.add("board", tier="critical")
    learn_duration(watched, "board", 7200.0)
    eleven = DEADLINE - 7200
    watched.at(eleven - 300)
    fail(watched, "board", eleven - 240)
    assert watched.until(eleven - 120) == ["opened"]
    assert (watched.one.severity, watched.one.hit_at) == ("ticket", micros(DEADLINE))

    assert watched.until(eleven + 30) == ["escalated"]
    assert (watched.one.severity, watched.one.because) == ("page", "deadline")


def test_an_open_ticket_of_an_old_failure_is_a_page_before_the_deadline(watched):
    """Fail a weekly board two days before it is due."""
    watched.estate.add("board", tier="critical", owner="sales")
    learn_duration(watched, "board", 7200.0)
    watched.estate.say("board", "good", limit_seconds=3.0 * DAY)
    watched.at(NOON)
    fail(watched, "board")
    assert watched.until(NOON + 120) == ["opened"]

    assert watched.at(NOON + 2 * DAY) == []
    watched.estate.own("board", "finance")
    assert watched.at(NOON + 2 * DAY + 60) == ["handed_over"]
    assert watched.at(3 * DAY - 3600) == ["escalated"]
    assert (watched.one.severity, watched.one.because) == ("page", "deadline")


@pytest.mark.parametrize(
    ("before", "expected"), [(300, []), (-300, ["opened"])], ids=["in_time", "too_late"]
)
def test_a_retry_holds_a_page_only_while_it_can_meet_the_deadline(watched, before, expected):
    """Begin the retry this long before it would end after the deadline."""
    watched.estate.add("board", tier="critical")
    learn_duration(watched, "board", 7200.0)
    last = DEADLINE - 7200
    watched.at(last - 500)
    fail(watched, "board", last - 400, retries_left=1)
    assert watched.until(last - 310, every=30) == []
    watched.estate.start("board", last - before)

    assert watched.until(last + 420, every=60) == expected
    if not expected:
        watched.until(DEADLINE - 200, every=3600)
        watched.until(DEADLINE - 100, every=30)
    assert watched.one.severity == "page"


@pytest.mark.parametrize(
    ("tier", "duration"), [("critical", None), ("important", 7200.0)], ids=["unknown", "important"]
)
def test_a_failed_run_without_a_known_deadline_stays_a_ticket(watched, tier, duration):
    """Keep it a ticket if the dataset is only important, or has no usual duration."""
    watched.estate.add("board", tier=tier)
    learn_duration(watched, "board", duration)
    watched.at(DEADLINE - 300)
    fail(watched, "board", DEADLINE - 240)
    watched.until(DEADLINE - 30)

    assert watched.one.severity == "ticket"


def test_a_failed_run_of_an_idle_stream_is_a_ticket(watched):
    """Open a ticket: M2 calls the stream good long after its last write plus its limit."""
    watched.estate.add("topic", tier="critical", is_streaming=True)
    learn_duration(watched, "topic", 600.0)
    watched.at(2 * DAY)
    fail(watched, "topic", 2 * DAY + 60)
    watched.until(2 * DAY + 150)

    assert (watched.one.severity, watched.one.hit_at) == ("ticket", None)
    assert "late since" not in watched.one.evidence

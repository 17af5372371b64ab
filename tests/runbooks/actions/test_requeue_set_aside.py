"""Events that the pipeline set aside are posted again, as other bytes of the same event."""

import json

import pytest

from lineage.process.clock import to_micros
from runbooks.actions.errors import InvalidActionError, RejectedActionError
from tests.runbooks.actions.acting import NOW, run_event


@pytest.fixture
def filled(world):
    """Set three events aside, two of them by one error; the lake has two bodies."""
    world.lay((None, "http", run_event("r1")), (None, "history", run_event("r2")))
    errors = {1: "ValueError: odd", 2: "ValueError: odd", 3: "Spark ended with exit code 52"}
    rows = [
        {
            "spool_seq": seq,
            "received_at": to_micros(NOW),
            "kind": "run",
            "bytes": 9,
            "origin": "history" if seq == 2 else "http",
            "error": error,
            "failed_at": to_micros(NOW),
        }
        for seq, error in errors.items()
    ]
    world.insert("event_set_aside", *rows)
    return world


def test_a_plan_lists_the_events_by_error_and_changes_nothing(filled):
    """List the most frequent error first."""
    before = filled.everything()

    plan = filled.plan("requeue-set-aside")

    assert plan.figures == {"events": 3}
    assert plan.does[0] == "post 3 events again that were set aside"
    assert plan.does[1].startswith("2: ValueError: odd; the newest is #2 of 2026-")
    assert plan.does[2].startswith("1: Spark ended with exit code 52; the newest is #3 of ")
    assert filled.everything() == before


def test_events_are_posted_once_with_their_origin_as_other_bytes(filled):
    """Change the body: the spool would take the same bytes for a repeat."""
    done = filled.act("requeue-set-aside").done

    posted = [(body, origin) for origin, body in filled.collector.posted]
    assert [origin for _, origin in posted] == ["http", "history"]
    assert [json.loads(body) for body, _ in posted] == [
        json.loads(run_event(run)) for run in ("r1", "r2")
    ]
    assert all(body not in {run_event("r1"), run_event("r2")} for body, _ in posted)
    assert done.figures == {"accepted": 2, "failed": 1}
    assert done.did[1] == "#3: its body is no longer in the lake"
    assert filled.plan("requeue-set-aside").figures == {"events": 1}


def test_some_may_be_chosen_by_number(filled):
    """Leave the others alone, and post none twice."""
    filled.act("requeue-set-aside", numbers=[2])

    assert len(filled.collector.posted) == 1
    with pytest.raises(InvalidActionError, match="#2: not set aside, or posted again"):
        filled.plan("requeue-set-aside", numbers=[2])


def test_without_a_set_aside_event_the_action_is_rejected(world):
    """Reject it like every action without work."""
    with pytest.raises(RejectedActionError, match="no event is set aside"):
        world.plan("requeue-set-aside")

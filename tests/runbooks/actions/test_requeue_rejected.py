import pytest

from runbooks.actions.errors import InvalidActionError, RejectedActionError


@pytest.fixture
def filled(world):
    """Store two whole bodies of one reason, one of another, and two that were cut."""
    world.reject(b"one", b"two")
    world.reject(b"three", reason="name_too_long")
    world.reject(b"head", reason="invalid_event", size=2_000_000)
    world.reject(b"head of a shipped one", reason="too_large")
    return world


def test_a_plan_lists_rejected_events_by_reason_and_changes_nothing(filled):
    """Count each reason, with the newest as an example; cut bodies cannot be sent."""
    before = filled.everything()
    plan = filled.plan("requeue-rejected")

    assert plan.figures == {"events": 3, "cut": 2}
    assert plan.does[:2] == (
        "post 3 rejected events again",
        "invalid_event: 3, the newest is #4: $: invalid_event",
    )
    assert plan.cautions[0] == "2 were kept in part: their producers must send them again"
    assert filled.everything() == before


def test_whole_bodies_are_posted_with_their_number_and_origin(filled):
    """Send in the order of arrival; the collector removes what it accepts."""
    filled.collector.rejects = {b"two": "$.run: required, and missing"}
    done = filled.act("requeue-rejected").done

    assert filled.collector.requeued == [
        (1, "http", b"one"),
        (2, "http", b"two"),
        (3, "http", b"three"),
    ]
    assert done.figures == {"accepted": 2, "rejected": 1}
    assert done.did[1] == "#2: $.run: required, and missing"
    assert not done.is_whole


def test_some_may_be_chosen_by_reason_or_number(filled):
    """Leave the others alone."""
    filled.act("requeue-rejected", reason="name_too_long")
    filled.act("requeue-rejected", numbers=[1])

    assert [number for number, _, _ in filled.collector.requeued] == [3, 1]


def test_unknown_events_are_an_error(filled, tmp_path):
    """Use an unknown number, a reason without events, and a machine without a spool."""
    with pytest.raises(InvalidActionError, match="#99: not rejected"):
        filled.plan("requeue-rejected", numbers=[1, 99])
    with pytest.raises(RejectedActionError, match="'sunshine'"):
        filled.plan("requeue-rejected", reason="sunshine")
    (tmp_path / "spool.db").unlink()
    with pytest.raises(RejectedActionError, match="no spool at"):
        filled.plan("requeue-rejected")

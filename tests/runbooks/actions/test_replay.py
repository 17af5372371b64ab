from datetime import timedelta, timezone

import pytest

from runbooks.actions import lake_events, replay
from runbooks.actions.errors import InvalidActionError, RejectedActionError
from slis.lake import compaction, retention
from tests.runbooks.actions.acting import NOW, run_event

RUN = "0195f1c2-7f8e-7000-8000-000000000001"
OTHER = "0195f1c2-7f8e-7000-8000-000000000002"
HOUR = timedelta(hours=1)


def _at(hours: float) -> str:
    return (NOW + hours * HOUR).isoformat()


@pytest.fixture
def filled(world):
    """Write four events in two days, one without a time, and one behind the commit."""
    world.lay(
        (NOW - 30 * HOUR, "http", b'{"n":1}'),
        (NOW - 2 * HOUR, "http", b'{"n":2}'),
        (NOW - HOUR, "marquez", b'{"n":3}'),
        (None, "kafka", b'{"n":4}'),
    )
    world.lay((NOW - HOUR, "http", b'{"n":5}'), first=5, is_committed=False)
    return world


def test_a_plan_counts_events_by_origin_and_changes_nothing(filled):
    """Include the begin, and exclude the end."""
    before = filled.everything()
    plan = filled.plan("replay", from_=_at(-2), to=_at(0))

    assert plan.figures == {"events": 2}
    assert "2 events" in plan.does[0]
    assert "1 of http, 1 of marquez" in plan.does[0]
    assert filled.everything() == before


@pytest.mark.parametrize("hours", [-12, 0, 14])
def test_a_period_is_read_in_any_time_zone(world, hours):
    """Split the lake's days by UTC, also where the user's day is another one."""
    zone = timezone(timedelta(hours=hours))
    world.lay(*[(NOW - ago * HOUR, "http", b'{"n":%d}' % ago) for ago in (2, 14, 22)])
    begin, end = ((NOW - ago * HOUR).astimezone(zone).isoformat() for ago in (20, 1))

    plan = world.plan("replay", from_=begin, to=end)

    assert plan.figures == {"events": 2}


@pytest.mark.parametrize(
    ("span", "place"),
    [
        ({"from_": "0001-01-01T00:00:00+14:00"}, "from"),
        ({"from_": _at(-1), "to": "9999-12-31T23:59:59-14:00"}, "to"),
    ],
)
def test_a_period_outside_the_calendar_is_rejected(filled, span, place):
    """Name the wrong end."""
    with pytest.raises(InvalidActionError, match=f"{place}: expected a time of the years"):
        filled.plan("replay", **span)


def test_events_are_posted_as_history_byte_for_byte(filled):
    """Keep Marquez's events away from it; an event without a time has its arrival's."""
    done = filled.act("replay", from_=_at(-2), to=_at(1)).done

    assert done.figures == {"events": 3, "rejected": 0}
    assert sorted(filled.collector.posted) == [
        ("history", b'{"n":2}'),
        ("history", b'{"n":4}'),
        ("marquez-history", b'{"n":3}'),
    ]


def test_end_is_now_by_default(filled):
    """Replay all events since `from`."""
    assert filled.plan("replay", from_=_at(-31)).figures == {"events": 3}


def test_events_of_a_run_include_its_child_runs(world):
    """Find by run id, parent and root; ignore bodies that merely hold the text."""
    own, child = run_event(RUN), run_event(OTHER, parent=RUN)
    stray = b'{"run": {"runId": "x"}, "note": "%s"}' % RUN.encode()
    world.lay(*[(NOW, "http", body) for body in (own, child, stray, b"no JSON " + RUN.encode())])

    plan = world.plan("replay", run=RUN)
    world.act("replay", run=RUN)

    assert plan.figures == {"events": 2}
    assert world.collector.posted == [("history", own), ("history", child)]


def test_rejections_of_the_collector_are_reported(filled):
    """Report a replay that is incomplete."""
    filled.collector.rejects = {b'{"n":2}': "$.run: required, and missing"}
    done = filled.act("replay", from_=_at(-2), to=_at(0)).done

    assert (done.is_whole, done.figures) == (False, {"events": 2, "rejected": 1})
    assert done.did[1] == "rejected: $.run: required, and missing"
    assert filled.audited()[-1][4].startswith("done in part: ")


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"from_": _at(0), "run": RUN},
        {"run": RUN, "to": _at(0)},
        {"from_": _at(0), "to": _at(0)},
    ],
)
def test_a_replay_without_a_period_or_a_run_is_rejected(filled, arguments):
    """Reject also both, and a period that ends before it begins."""
    with pytest.raises(InvalidActionError):
        filled.plan("replay", **arguments)


def test_no_events_and_too_many_are_rejected(filled, monkeypatch):
    """Reject an empty period, and one of more events than a spool can hold."""
    with pytest.raises(RejectedActionError, match="has no event"):
        filled.plan("replay", from_=_at(-60), to=_at(-59))
    monkeypatch.setattr(replay, "MOST_EVENTS", 1)
    with pytest.raises(RejectedActionError, match="2 events; at most 1"):
        filled.plan("replay", from_=_at(-2), to=_at(0))


def test_a_reader_continues_with_the_new_manifest_after_a_folder_vanished(filled, monkeypatch):
    """Compact and delete the old folders while events are read: each event is posted once."""
    filled.lay(*[(NOW - HOUR, "http", b'{"n":%d}' % n) for n in (5, 6)], first=5)
    writer, works = filled.writer, lake_events.read_events
    left = [retention.delete_hidden, compaction.compact]

    def vanish(*given):  # noqa: ANN002 - as `read_events`
        if left and len(seen) == 1:
            left.pop()(writer, filled.now)
            left.pop()(writer, NOW + timedelta(days=1))
        seen.append(given)
        return works(*given)

    seen: list[object] = []
    monkeypatch.setattr(lake_events, "read_events", vanish)

    span = lake_events.Span(NOW - 30 * HOUR, NOW + HOUR)
    found = [event.seq for event in lake_events.events_of_span(filled.context(), span)]

    assert (sorted(found), len(seen)) == ([1, 2, 3, 4, 5, 6], 3)

"""Random orders of changes: nobody is paged twice, and all is sent and ended."""

from collections import defaultdict
from itertools import pairwise

from hypothesis import example, given, settings
from hypothesis import strategies as st

from alerts.incidents.steps import IncidentCommand
from tests.alerts.incidents.scenarios import make_fault, root
from tests.alerts.notify.memory_router import MemoryRouter, outage, theirs
from tests.suite.examples import examples

OWNERS = ("shop", "pay", "chat", None)
_FAULTS = st.builds(
    lambda members, kind, level, owner: make_fault(
        members, kind, level, owner=owner, faults={root(name, kind) for name in members}
    ),
    st.sampled_from(["a", "ab", "b", "c", "cab", "zabc", "zc"]),
    st.sampled_from(["failed", "slow"]),
    st.sampled_from(["page", "ticket"]),
    st.sampled_from(OWNERS),
)
_ACTIONS = st.sampled_from(["acknowledge", "suppress", "unsuppress", "resolve", "called", "turn"])
_PHASES = st.lists(
    st.tuples(
        st.integers(1, 3),  # so many evaluations find the same
        st.sampled_from([15, 31, 46, 400]),
        st.lists(_FAULTS, max_size=2, unique_by=lambda each: each.root),
        st.sampled_from([False, False, False, True]),
        st.one_of(st.none(), _ACTIONS),
    ),
    min_size=4,
    max_size=14,
)
_STEPS = _PHASES.map(
    lambda phases: [
        (pause, faults, is_out, action if number == 0 else None)
        for count, pause, faults, is_out, action in phases
        for number in range(count)
    ]
)


def walk(router, steps):
    """Walk the steps, then a long time without faults; return what was unsent, by second."""
    second, unsent = 0, []
    by_owner = {"pay": theirs(keys=frozenset({98})), "boss": theirs()}
    for pause, faults, is_out, action in steps:
        second += pause
        live = [each.id for each in router.incidents if each.state != "resolved"]
        commands = ()
        if action == "called":
            router.confirm(second)
        elif action == "turn":
            router.route_due(second)
        elif action is not None and live:
            until = (second + 300) * 1_000_000
            commands = (IncidentCommand(live[0], action, "ada", until),)
        down = (outage(),) if is_out else ()
        router.at(second, *faults, *down, commands=commands, by_owner=by_owner)
        unsent += [each.id for each in router.incidents if is_unsent(router, each)]
    for pause in (50, 50, 400, 4_000, 8_000):
        second += pause
        router.route_due(second)
        router.at(second)
        router.route_due(second)
    return unsent


def is_unsent(router, incident):
    """Return whether an open incident was not sent to its owner or the platform."""
    if incident.state not in {"open", "acknowledged"}:
        return False
    state = router.states[incident.id]
    if not state.is_notified:
        return state.hold_until is None
    address = router.context.address(incident.owner, incident.severity.level)
    known = {channel_state.channel for channel_state in state.open_channels}
    slack = {channel for channel in address.channels if channel.startswith("slack:")}
    return not slack <= known or state.addressee != address.owner


def by_alert(router):
    """Return the kinds of messages in order, by channel and incident."""
    kinds = defaultdict(list)
    for each in router.post:
        if each.message.kind != "notice":
            kinds[each.channel, each.message.incident_id].append(each.message.kind)
    return kinds


@settings(max_examples=examples(150))
@given(_STEPS, st.sampled_from(["direct", "alertmanager"]))
@example(
    [(40, [make_fault("a", owner="pay", level="page")], False, None)] * 3
    + [(100, [], False, None)] * 2
    + [(40, [make_fault("a", owner="pay", level="page")], False, None)] * 3,
    "direct",
)
def test_any_life_pages_each_person_once_and_sends_all(steps, mode):
    """Page owners twice at most without waiting; end all that was sent, and nothing else."""
    router = MemoryRouter(mode=mode, again_seconds=86_400)

    assert walk(router, steps) == []
    assert all(count == 1 for count in router.page_counts.values())
    for state in router.states.values():
        assert state.owner_page_count <= 2
        assert not state.open_channels
    for kinds in by_alert(router).values():
        assert kinds[0] in {"opened", "changed"}
        assert kinds[-1] in {"resolved", "handed_over"}


@settings(max_examples=examples(100))
@given(_STEPS)
def test_fault_that_comes_back_pages_twice_at_most(steps):
    """Page no third time with the usual settings."""
    router = MemoryRouter()

    walk(router, steps)

    assert all(count <= 2 for count in router.page_counts.values())
    assert all(state.owner_page_count <= 3 for state in router.states.values())


@settings(max_examples=examples(60))
@given(_STEPS)
def test_downstream_owner_gets_one_notice_an_hour(steps):
    """Send none to the platform or the root's owner."""
    router = MemoryRouter()
    walk(router, steps)
    notices = defaultdict(list)
    for each in router.post:
        if each.message.kind == "notice":
            notices[each.channel, each.message.incident_id].append(each.message.at)

    assert all(
        later - earlier >= 3_600_000_000
        for instants in notices.values()
        for earlier, later in pairwise(instants)
    )
    assert "slack:#platform" not in {channel for channel, _ in notices}

"""Random sequences of changes, faults, crashes and time: all is sent once."""

from itertools import count

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.alerts.notify.conftest import DATA, PAGER, TICKETS, Fakes, Notifier
from tests.alerts.notify.messages import message
from tests.alerts.notify.test_crashes import ANYWHERE, IN_SLACK, die

_KINDS = ("opened", "changed", "acknowledged", "resolved")
_TITLES = {"opened": "Page", "changed": "Page", "acknowledged": "Acknowledged"}
_FAULTS = ("down", "limited", "lost", "well")
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("notify"), st.sampled_from(_KINDS)),
        st.tuples(st.just("fault"), st.sampled_from(_FAULTS)),
        st.tuples(st.just("die"), st.sampled_from(sorted(IN_SLACK))),
        st.tuples(st.just("wait"), st.sampled_from((1, 20, 60, 400))),
        st.tuples(st.just("run"), st.none()),
    ),
    min_size=4,
    max_size=25,
)
_numbers = count(1)


class Course:
    """Incident that is sent step by step to all channels."""

    def __init__(self, notifier: Notifier, fakes: Fakes) -> None:
        self.notifier = notifier
        self.fakes = fakes
        self.incident_id = f"course-{next(_numbers)}"
        self.sent: list[str] = []

    def notify(self, kind: str) -> None:
        """Enqueue the next revision."""
        self.sent.append(kind)
        one = message(len(self.sent), kind, incident_id=self.incident_id)
        self.notifier.notify(one, DATA, PAGER, TICKETS)

    def fault(self, fault: str) -> None:
        """Set a fault at all providers."""
        for fake in self.fakes:
            fake.status = 503 if fault == "down" else None
            fake.lost_answers = 1 if fault == "lost" else 0
        self.fakes.slack.limited = {"C0000001": 90} if fault == "limited" else {}

    def die(self, name: str) -> None:
        """Kill a sender at a failpoint, if it gets there."""
        die(self.notifier, IN_SLACK[name])

    def wait(self, seconds: int) -> None:
        """Let time pass without a sender."""
        self.notifier.clock.pass_(seconds)

    def run(self, _: None = None) -> None:
        """Run one pass."""
        self.notifier.run()

    def settle(self) -> None:
        """Let all providers work for longer than the longest wait."""
        self.fault("well")
        for _ in range(8):
            self.notifier.clock.pass_(self.notifier.settings.longest_wait_seconds)
            self.notifier.run()

    def slack_shows(self) -> list[str]:
        """Return the first words of its messages."""
        return [
            each["text"].split(":")[0]
            for each in self.fakes.slack.posts("C0000001")
            if each["metadata"]["event_payload"]["incident_id"] == self.incident_id
        ]

    def slack_replies(self) -> list[int]:
        """Return the revisions in the thread."""
        payloads = [
            each["metadata"]["event_payload"]
            for each in self.fakes.slack.messages["C0000001"]
            if "thread_ts" in each
        ]
        ours = [each for each in payloads if each["incident_id"] == self.incident_id]
        return [each["revision"] for each in ours]

    def page_count(self) -> int:
        """Return how many times PagerDuty opened an alert."""
        return sum(key == self.incident_id for _, key in self.fakes.pagerduty.pages)

    def tickets(self) -> list[int]:
        """Return the revisions that the receiver accepted."""
        taken = self.fakes.receiver.tickets
        return [each["revision"] for each in taken if each["incident_id"] == self.incident_id]


def _allowed_pages(sent: list[str]) -> tuple[range, bool]:
    """Return how many pages are allowed, and whether the alert is open at the end.

    An incident that is over before PagerDuty accepted it pages nobody.
    """
    pages, is_open = 0, False
    for kind in sent:
        if kind == "opened":  # what only changed pages nobody again
            pages, is_open = pages + (not is_open), True
        elif kind == "resolved":
            is_open = False
    return range(int(is_open), pages + 1), is_open


# An incident that ended before it was sent stays closed, whatever changes then.
_OVER = [("notify", "resolved"), ("die", "after posting"), ("notify", "changed")]


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
@example(steps=[("notify", "opened"), *_OVER])
@example(steps=[*_OVER, ("run", None), ("notify", "opened")])
def test_any_sequence_ends_with_all_sent_once(notifier, fakes, steps):
    """Show one message in its last state, no reply or page twice, each ticket in order."""
    course = Course(notifier, fakes)
    course.notify("opened")
    for step, given_to_it in steps:
        getattr(course, step)(given_to_it)
    course.settle()

    assert course.slack_shows() == [_TITLES.get(course.sent[-1], "Resolved")]
    assert course.slack_replies() == sorted(set(course.slack_replies()))
    pages, is_open = _allowed_pages(course.sent)
    assert course.page_count() in pages
    state = fakes.pagerduty.alerts.get(("R" * 32, course.incident_id), "resolved")
    assert (state != "resolved") is is_open
    assert course.tickets() == list(range(1, len(course.sent) + 1))
    assert {row[2] for row in notifier.rows()} <= {"sent", "superseded"}


def test_failpoints_of_a_sequence_are_reached(notifier, fakes):
    """Show that crashes happen."""
    course = Course(notifier, fakes)
    course.notify("opened")

    assert die(notifier, ANYWHERE["between send and mark"])


@pytest.mark.parametrize("fault", ["down", "limited", "lost"])
def test_faults_of_a_sequence_have_an_effect(notifier, fakes, fault):
    """Show that faults fail attempts."""
    course = Course(notifier, fakes)
    course.fault(fault)
    course.notify("opened")
    course.run()

    assert "waiting" in {row[2] for row in notifier.rows()}

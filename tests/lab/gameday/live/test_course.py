"""Phases of a fault: it ends once notified, and is over once its incident is resolved."""

import msgspec
import pytest

from lab.gameday.fake_receivers import ReceivedMessage
from lab.gameday.live.course import Faults
from lab.gameday.live.estate import PACE
from lab.gameday.live.plan import PlannedFault
from lab.gameday.scorer import first_message_at, score
from lab.gameday.truth_shapes import NamePattern
from lineage.process.clock import SECOND_MICROS
from tests.lab.gameday.live.days import BEGINS, ESTATE, at, build_chains

RAW = ESTATE.jobs[1]
ROOT = NamePattern("gameday-orders", RAW.name)


def message(second, what="page", **changed: object):
    given = {"by": "slack", "to": "#gameday-orders", "incident": "i", "owner": "gameday-orders"}
    return ReceivedMessage(at=at(second), what=what, root=ROOT, full_list="all", **given | changed)


class Day:
    """Walk by the second, as messages arrive."""

    def __init__(self, *planned: PlannedFault) -> None:
        self.running = build_chains()
        self.faults = Faults(ESTATE, self.running, planned, at(60))
        self.messages: list[ReceivedMessage] = []
        self._at = 0

    def until(self, second: int) -> "Day":
        """Walk up to this second."""
        for each in range(self._at, second + 1):
            self.running.until(at(each))
            self.faults.step(at(each), self.messages)
        self._at = second + 1
        return self

    def stages(self):
        """Count the faults by stage."""
        return {stage: count for stage, count in self.faults.counts().items() if count}

    def score(self):
        """Return the truth, and its score."""
        truth = self.faults.truth(BEGINS, at(self._at))
        impact = {NamePattern(*ESTATE.datasets[each].full_name) for each in ESTATE.descendants({1})}
        return truth, score(truth, self.messages, (), lambda _link, _at: impact)


def killed(kind="killed_job", variant="fail"):
    return PlannedFault(kind, 1, 0.0, variant)


def test_a_failed_critical_run_is_detectable_from_its_fail():
    """Detect a failed run of a critical dataset at once, and of an optional one at its limit."""
    day = Day(killed()).until(130)
    [fault] = day.score()[0].faults

    first = day.running.failures[1][0]
    assert at(60) <= first == fault.starts_at < at(60 + PACE.limit_seconds)
    assert day.faults.failed_at() == [first]
    assert first_message_at(fault, [message(59), message(100, "ticket"), message(110)]) == at(100)


@pytest.mark.parametrize(("kind", "variant"), [("killed_job", "lost"), ("silent_listener", "")])
def test_a_fault_is_detectable_from_its_limit(kind, variant):
    """Begin with the FAIL, not with the injection: no message was possible before."""
    day = Day(killed(kind, variant)).until(110)
    day.messages.append(message(115))
    day.until(130)
    [fault], found = day.score()[0].faults, day.score()[1]

    last = max(one.written_at for one in day.running.writes[1] if one.begun_at < at(60))
    assert fault.starts_at == last + PACE.limit_seconds * SECOND_MICROS
    assert day.faults.injected_at() == [at(60)]
    assert found.faults[0].seconds_to_delivery == (at(115) - fault.starts_at) / SECOND_MICROS
    assert found.faults[0].root_right
    assert found.faults[0].owner_right


def test_a_fault_ends_when_notified_and_is_over_when_resolved():
    """Check each step."""
    day = Day(killed()).until(59)
    assert day.stages() == {"planned": 1}
    assert day.until(100).stages() == {"begun": 1}
    day.messages.append(message(101))
    assert day.until(102).stages() == {"ended": 1}
    assert not day.faults.is_over
    day.messages.append(message(150, "resolved"))
    assert day.until(151).faults.is_over
    assert day.score()[1].faults[0].seconds_to_resolved == pytest.approx(49, abs=1)


def test_another_fault_s_message_ends_nothing():
    """Ignore it, as a ticket where a page is due."""
    day = Day(killed()).until(100)
    day.messages += [
        message(101, "ticket"),
        msgspec.structs.replace(message(101), root=NamePattern("x", "y")),
    ]

    assert day.until(120).stages() == {"begun": 1}


def test_a_fault_without_a_message_ends_as_well():
    """Leave it undetected."""
    day = Day(killed()).until(900)

    assert day.faults.is_over
    assert not day.score()[1].faults[0].detected


def test_a_page_before_the_limit_is_a_false_one():
    """Count it as false: nobody could know of a fault yet."""
    day = Day(killed(variant="lost")).until(70)
    day.messages.append(message(71))
    day.until(200)

    assert day.score()[1].false_pages == 1


@pytest.mark.parametrize("kind", ["retried_run", "retired_job"])
def test_a_silent_fault_is_injected_once(kind):
    """Fail one run, or remove the job; then do nothing until the end."""
    job = 3 if kind == "retired_job" else 1
    day = Day(PlannedFault(kind, job, 0.0)).until(400)
    [fault] = day.score()[0].faults

    assert day.faults.is_over
    assert (fault.kind, fault.expect) == (kind, "silence")
    last = day.running.writes[job][-1].written_at
    assert (last > at(380)) == (kind == "retried_run")


def test_a_schema_that_drifts_is_known_with_its_first_write():
    """Detect it without waiting for a limit."""
    day = Day(killed("schema_drift", "")).until(120)
    [fault] = day.score()[0].faults

    first = min(one.written_at for one in day.running.writes[1] if one.begun_at >= at(60))
    assert fault.starts_at == first < at(60 + PACE.limit_seconds)

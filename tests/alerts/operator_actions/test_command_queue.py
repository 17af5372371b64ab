"""What people want of an incident, from the asking to the answer."""

import pytest

from alerts.operator_actions import command_queue, verdicts
from alerts.operator_actions.command_queue import complete, pending, pending_escalations
from alerts.operator_actions.command_requests import (
    CommandError,
    InvalidCommandError,
    InvalidStateError,
    UnknownIncidentError,
    record_rejection,
    submit,
)
from lineage.catalog.engine import write_transaction
from lineage.catalog.reader import open_reader
from tests.alerts.operator_actions.incident_catalog import SECOND, START

pytestmark = pytest.mark.postgres_nightly

_HOUR = 3_600 * SECOND
_AUDIT = "SELECT who, via, action, detail, answer FROM audit ORDER BY id"


def _asked(desk, action, seconds=40, **said):  # noqa: ANN003
    with write_transaction(desk.engine) as connection:
        return submit(connection, desk.ask(action, **said), START + seconds * SECOND)


def _answers(desk):
    return desk.rows("SELECT action, answer FROM incident_command ORDER BY id")


def _counts(desk):
    url = desk.engine.url.render_as_string(hide_password=False)
    with open_reader(url) as reader:
        return {(one.kind, one.verdict): one.count for one in verdicts.count_verdicts(reader)}


def test_a_command_is_applied_by_the_next_step(desk):
    """Acknowledged by whom it was, answered with nothing to say, once."""
    number = _asked(desk, "acknowledge", note="on it")
    with write_transaction(desk.engine) as connection:
        ((waits, command),) = pending(connection)
    assert (waits, command.by, command.note) == (number, "ann", "on it")

    desk.turn(41)
    desk.turn(42)

    assert (desk.one.state, desk.one.acknowledged_by) == ("acknowledged", "ann")
    assert _answers(desk) == [("acknowledge", "")]
    with write_transaction(desk.engine) as connection:
        assert pending(connection) == []


def test_everything_is_in_the_audit_log(desk):
    """The asking and the answer, in rows of their own: who, by what way, what, and why."""
    _asked(desk, "acknowledge", note="on it")
    desk.turn(41)
    _asked(desk, "acknowledge", by="bob", via="slack")
    desk.turn(43)

    of = f"incident {desk.one.id}"
    refused = "rejected: it is acknowledged: to acknowledge it, it must be one of open"
    assert desk.rows(_AUDIT) == [
        ("ann", "api", "acknowledge", f"{of}: on it", None),
        ("ann", "api", "acknowledge", of, "done"),
        ("bob", "slack", "acknowledge", of, None),
        ("bob", "slack", "acknowledge", of, refused),
    ]


def test_one_of_two_equal_commands_is_rejected(desk):
    """Both acknowledge before the next step: every word is the same, and one of them was second."""
    for _ in range(2):
        _asked(desk, "acknowledge")
    desk.turn(41)

    first, second = _answers(desk)
    assert first == ("acknowledge", "")
    assert second[1].startswith("it is acknowledged")


def test_a_suppression_ends_at_its_end(desk):
    """And what is still bad then is told."""
    _asked(desk, "suppress", until=START + _HOUR)
    desk.turn(41)
    assert (desk.one.state, desk.one.suppressed_until) == ("suppressed", START + _HOUR)

    desk.turn(3_600)

    assert desk.one.state == "open"


@pytest.mark.parametrize(
    ("action", "said", "error", "words"),
    [
        ("acknowledge", {"incident_id": "0" * 16}, UnknownIncidentError, "no incident has the id"),
        ("acknowledge", {"incident_id": "x' OR 1"}, UnknownIncidentError, "no incident has the id"),
        ("suppress", {}, InvalidCommandError, "until: a suppression needs an end"),
        ("suppress", {"until": START}, InvalidCommandError, "until: is in the past"),
        ("suppress", {"until": START + 721 * _HOUR}, InvalidCommandError, "until: at most 30 days"),
        ("resolve", {"until": START + _HOUR}, InvalidCommandError, "until: of a suppression only"),
        (
            "resolve",
            {"note": "x" * 501},
            InvalidCommandError,
            "note: at most 500 characters, got 501",
        ),
    ],
)
def test_an_impossible_command_is_rejected_at_once(desk, action, said, error, words):
    """Nothing waits, and the refusal is audited."""
    with write_transaction(desk.engine) as connection, pytest.raises(error, match=words) as refused:
        submit(connection, desk.ask(action, **said), START + 40 * SECOND)
    with write_transaction(desk.engine) as connection:
        record_rejection(connection, desk.ask(action, **said), refused.value, START)
        assert pending(connection) == []

    ((_, _, what, _, answer),) = desk.rows(_AUDIT)
    assert (what, answer[: 10 + len(words)]) == (action, f"rejected: {words}")


@pytest.mark.postgres_always
def test_text_that_no_catalog_can_hold_is_stored_cleaned(desk):
    """A NUL, or half of a character, from a terminal: the row is written."""
    _asked(desk, "resolve", note="a\0b\ud800", by="\udcff")
    desk.turn(41)

    assert _answers(desk) == [("resolve", "")]


@pytest.mark.postgres_always
def test_the_same_request_is_queued_once(desk):
    """Whoever repeats it gets the first one's number, and nothing happens again."""
    first = _asked(desk, "acknowledge", request_id="r1")
    desk.turn(41)
    assert _asked(desk, "acknowledge", request_id="r1") == first
    assert _asked(desk, "acknowledge", request_id="r2") != first

    assert len(desk.rows("SELECT id FROM incident_command")) == 2


def test_an_escalation_waits_for_the_notification_worker(desk):
    """No life knows it: it is not among what a step is given, and is answered like the rest."""
    number = _asked(desk, "escalate", note="nobody answers")
    with write_transaction(desk.engine) as connection:
        assert pending(connection) == []
        (wanted,) = pending_escalations(connection)
        assert (wanted.id, wanted.incident_id, wanted.by) == (number, desk.one.id, "ann")
        complete(connection, [number], {number: "there is no further step"}, START)
        assert pending_escalations(connection) == []

    assert _answers(desk) == [("escalate", "there is no further step")]


def test_a_resolved_incident_is_not_escalated(desk):
    """Refused at the door: nobody would be told."""
    _asked(desk, "resolve")
    desk.turn(41)

    with pytest.raises(
        InvalidStateError, match="it is resolved: to escalate it, it must be open or"
    ):
        _asked(desk, "escalate")


def test_a_false_alarm_resolves_and_counts(desk):
    """Once an incident, by the kind of its root."""
    _asked(desk, "false_alarm", note="a drill")
    desk.turn(41)

    assert (desk.one.state, desk.verdict) == ("resolved", True)
    assert _counts(desk) == {("failed", "judged"): 1.0, ("failed", "false_alarm"): 1.0}


@pytest.mark.postgres_always
def test_a_resolved_incident_may_be_a_false_alarm(desk):
    """Acknowledged first, and found out later: judged once, false once, and never twice."""
    _asked(desk, "acknowledge")
    desk.turn(41)
    assert (desk.verdict, _counts(desk)) == (False, {("failed", "judged"): 1.0})
    for seconds in (50, 100):
        desk.turn(seconds, is_bad=False)
    assert desk.one.state == "resolved"

    for _ in range(2):
        _asked(desk, "false_alarm")
        desk.turn(110, is_bad=False)

    assert _answers(desk)[1:] == [("false_alarm", "")] * 2
    assert _counts(desk) == {("failed", "judged"): 1.0, ("failed", "false_alarm"): 1.0}


def test_a_rejected_command_is_no_verdict(desk):
    """An acknowledgement that came to nothing says nothing of the incident."""
    _asked(desk, "unsuppress")
    desk.turn(41)

    assert _answers(desk)[0][1].startswith("it is open")
    assert (desk.verdict, _counts(desk)) == (None, {})


def test_without_the_audit_row_a_command_leaves_no_trace(desk, monkeypatch):
    """The mutant of the audit: the row that says what became of it is missing."""
    monkeypatch.setattr(command_queue, "record", lambda *_: None)
    _asked(desk, "acknowledge")
    desk.turn(41)

    assert [row[-1] for row in desk.rows(_AUDIT)] == [None]


def test_all_rejections_are_one_kind_of_error():
    """Who asks catches one."""
    for error in (UnknownIncidentError, InvalidCommandError, InvalidStateError):
        assert issubclass(error, CommandError)

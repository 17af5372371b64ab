"""Commands for incidents, from the request to the answer."""

import pytest

from alerts.operator_actions import command_queue, verdicts
from alerts.operator_actions.command_queue import (
    complete_commands,
    pending_commands,
    pending_escalations,
)
from alerts.operator_actions.command_requests import (
    record_rejected_request,
    submit_command,
)
from lineage.catalog.engine import write_transaction
from lineage.catalog.reader import open_reader
from lineage.errors import InvalidRequestError, NotNowError, UnknownIncidentError
from tests.alerts.operator_actions.incident_catalog import SECOND, START

pytestmark = pytest.mark.postgres_nightly

_HOUR = 3_600 * SECOND
_AUDIT = "SELECT who, via, action, detail, answer FROM audit ORDER BY id"


def _submit(incidents, action, seconds=40, **fields):  # noqa: ANN003
    with write_transaction(incidents.engine) as connection:
        return submit_command(connection, incidents.ask(action, **fields), START + seconds * SECOND)


def _answers(incidents):
    return incidents.rows("SELECT action, answer FROM incident_command ORDER BY id")


def _counts(incidents):
    url = incidents.engine.url.render_as_string(hide_password=False)
    with open_reader(url) as reader:
        return {(one.kind, one.verdict): one.count for one in verdicts.count_verdicts(reader)}


def test_a_command_is_applied_by_the_next_step(incidents):
    """Acknowledge once as the person who requested it, and answer without an error."""
    number = _submit(incidents, "acknowledge", note="on it")
    with write_transaction(incidents.engine) as connection:
        ((waits, command),) = pending_commands(connection)
    assert (waits, command.by, command.note) == (number, "ann", "on it")

    incidents.turn(41)
    incidents.turn(42)

    assert (incidents.one.state, incidents.one.acknowledged_by) == ("acknowledged", "ann")
    assert _answers(incidents) == [("acknowledge", "")]
    with write_transaction(incidents.engine) as connection:
        assert pending_commands(connection) == []


def test_everything_is_in_the_audit_log(incidents):
    """Write one row for the request and one for the answer, with person, interface and reason."""
    _submit(incidents, "acknowledge", note="on it")
    incidents.turn(41)
    _submit(incidents, "acknowledge", by="bob", via="slack")
    incidents.turn(43)

    of = f"incident {incidents.one.id}"
    rejection = "rejected: it is acknowledged: to acknowledge it, it must be one of open"
    assert incidents.rows(_AUDIT) == [
        ("ann", "api", "acknowledge", f"{of}: on it", None),
        ("ann", "api", "acknowledge", of, "done"),
        ("bob", "slack", "acknowledge", of, None),
        ("bob", "slack", "acknowledge", of, rejection),
    ]


def test_one_of_two_equal_commands_is_rejected(incidents):
    """Reject the second of two acknowledgements before the next step."""
    for _ in range(2):
        _submit(incidents, "acknowledge")
    incidents.turn(41)

    first, second = _answers(incidents)
    assert first == ("acknowledge", "")
    assert second[1].startswith("it is acknowledged")


def test_a_suppression_ends_at_its_end(incidents):
    """Open what is still bad at the end of the suppression."""
    _submit(incidents, "suppress", until=START + _HOUR)
    incidents.turn(41)
    assert (incidents.one.state, incidents.one.suppressed_until) == ("suppressed", START + _HOUR)

    incidents.turn(3_600)

    assert incidents.one.state == "open"


@pytest.mark.parametrize(
    ("action", "fields", "error", "words"),
    [
        ("acknowledge", {"incident_id": "0" * 16}, UnknownIncidentError, "no incident has the id"),
        ("acknowledge", {"incident_id": "x' OR 1"}, UnknownIncidentError, "no incident has the id"),
        ("suppress", {}, InvalidRequestError, "until: a suppression needs an end"),
        ("suppress", {"until": START}, InvalidRequestError, "until: is in the past"),
        ("suppress", {"until": START + 721 * _HOUR}, InvalidRequestError, "until: at most 30 days"),
        ("resolve", {"until": START + _HOUR}, InvalidRequestError, "until: of a suppression only"),
        (
            "resolve",
            {"note": "x" * 501},
            InvalidRequestError,
            "note: at most 500 characters, got 501",
        ),
    ],
)
def test_an_impossible_command_is_rejected_at_once(incidents, action, fields, error, words):
    """Reject it without a wait, and record the rejection."""
    with (
        write_transaction(incidents.engine) as connection,
        pytest.raises(error, match=words) as rejected,
    ):
        submit_command(connection, incidents.ask(action, **fields), START + 40 * SECOND)
    with write_transaction(incidents.engine) as connection:
        record_rejected_request(connection, incidents.ask(action, **fields), rejected.value, START)
        assert pending_commands(connection) == []

    ((_, _, what, _, answer),) = incidents.rows(_AUDIT)
    assert (what, answer[: 10 + len(words)]) == (action, f"rejected: {words}")


@pytest.mark.postgres_always
def test_text_that_no_catalog_can_hold_is_stored_cleaned(incidents):
    """Store a row whose text from a terminal has a NUL or half a character."""
    _submit(incidents, "resolve", note="a\0b\ud800", by="\udcff")
    incidents.turn(41)

    assert _answers(incidents) == [("resolve", "")]


@pytest.mark.postgres_always
def test_the_same_request_is_queued_once(incidents):
    """Return the first number for a repeated request, and do nothing again."""
    first = _submit(incidents, "acknowledge", request_id="r1")
    incidents.turn(41)
    assert _submit(incidents, "acknowledge", request_id="r1") == first
    assert _submit(incidents, "acknowledge", request_id="r2") != first

    assert len(incidents.rows("SELECT id FROM incident_command")) == 2


def test_an_escalation_waits_for_the_notification_worker(incidents):
    """Leave it out of the commands of a step, and answer it like the others."""
    number = _submit(incidents, "escalate", note="nobody answers")
    with write_transaction(incidents.engine) as connection:
        assert pending_commands(connection) == []
        (wanted,) = pending_escalations(connection)
        assert (wanted.id, wanted.incident_id, wanted.by) == (number, incidents.one.id, "ann")
        complete_commands(connection, [number], {number: "there is no further step"}, START)
        assert pending_escalations(connection) == []

    assert _answers(incidents) == [("escalate", "there is no further step")]


def test_a_resolved_incident_is_not_escalated(incidents):
    """Reject it in the queue, as nobody would be notified."""
    _submit(incidents, "resolve")
    incidents.turn(41)

    with pytest.raises(NotNowError, match="it is resolved: to escalate it, it must be open or"):
        _submit(incidents, "escalate")


def test_a_false_alarm_resolves_and_counts(incidents):
    """Count one false alarm for the incident, by the kind of its root."""
    _submit(incidents, "false_alarm", note="a drill")
    incidents.turn(41)

    assert (incidents.one.state, incidents.verdict) == ("resolved", True)
    assert _counts(incidents) == {("failed", "judged"): 1.0, ("failed", "false_alarm"): 1.0}


@pytest.mark.postgres_always
def test_a_resolved_incident_may_be_a_false_alarm(incidents):
    """Count one verdict and one false alarm, also if it was acknowledged before."""
    _submit(incidents, "acknowledge")
    incidents.turn(41)
    assert (incidents.verdict, _counts(incidents)) == (False, {("failed", "judged"): 1.0})
    for seconds in (50, 100):
        incidents.turn(seconds, is_bad=False)
    assert incidents.one.state == "resolved"

    for _ in range(2):
        _submit(incidents, "false_alarm")
        incidents.turn(110, is_bad=False)

    assert _answers(incidents)[1:] == [("false_alarm", "")] * 2
    assert _counts(incidents) == {("failed", "judged"): 1.0, ("failed", "false_alarm"): 1.0}


def test_a_rejected_command_is_no_verdict(incidents):
    """Count no verdict for a command that was rejected."""
    _submit(incidents, "unsuppress")
    incidents.turn(41)

    assert _answers(incidents)[0][1].startswith("it is open")
    assert (incidents.verdict, _counts(incidents)) == (None, {})


def test_without_the_audit_row_a_command_leaves_no_trace(incidents, monkeypatch):
    """Run the mutant: write no audit row for the answer."""
    monkeypatch.setattr(command_queue, "add_entry", lambda *_: None)
    _submit(incidents, "acknowledge")
    incidents.turn(41)

    assert [row[-1] for row in incidents.rows(_AUDIT)] == [None]

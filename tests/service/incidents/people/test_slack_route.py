"""Posts of Slack when a person presses a button, and forged posts."""

from datetime import timedelta

import msgspec
import pytest

from lineage.process.clock import to_micros
from service.api.access.access_auditor import DENIED_METRIC, UNAUTHORIZED_METRIC
from service.api.routes import webhooks as route
from service.incidents import inboxes
from tests.service.api.access.estate import NOW
from tests.service.incidents.people.answering import PATH, press_body

_PEOPLE = "people: [{name: Ann Smith, slack: U012AB3CD}]\n"
_HOUR = timedelta(hours=1)


def _queued_commands(answering):
    return answering.rows('SELECT "by", via, action, until FROM incident_command ORDER BY id')


def _with(answering, more):
    answering.write_policy(answering.policy.read_text().replace("%", "%%") + more)


@pytest.mark.parametrize(
    ("action", "choice", "until"),
    [
        ("acknowledge", None, None),
        ("false_alarm", None, None),
        ("suppress", None, NOW + _HOUR),
        ("suppress", "1h", NOW + _HOUR),
        ("suppress", "4h", NOW + 4 * _HOUR),
        ("suppress", "tomorrow", NOW.replace(day=22, hour=7)),  # 8:00 in Berlin, in winter
    ],
)
def test_a_press_is_stored_and_answered_at_once(answering, action, choice, until):
    """Answer 200 without a text, and apply it once a service leads."""
    answer = answering.press(action, choice=choice)

    assert (answer.status_code, answer.content) == (200, b"")
    end = None if until is None else to_micros(until)
    assert _queued_commands(answering) == [("ann (U012AB3CD)", "slack", action, end)]
    answering.incidents.turn(61)
    assert answering.audit_rows()[-1] == ("ann (U012AB3CD)", "slack", action, "done")


def test_people_of_the_policy_are_audited_by_name(answering):
    """Record the name that the policy has."""
    _with(answering, _PEOPLE)

    assert answering.press().status_code == 200
    assert _queued_commands(answering)[0][0] == "Ann Smith"


def test_a_person_outside_the_policy_is_rejected(answering):
    """Answer 401 although Slack signed it, and record the person in both logs."""
    _with(answering, _PEOPLE)

    answer = answering.press(user="U0STRANGE")

    assert answer.status_code == 401
    assert _queued_commands(answering) == []
    rejection = "rejected: the policy has no such person"
    assert answering.audit_rows() == [("ann (U0STRANGE)", "slack", "acknowledge", rejection)]
    assert answering.rows("SELECT who, action, decision, reason, status FROM access_audit") == [
        ("U0STRANGE", "slack", "deny", "unknown_user", 401)
    ]


@pytest.mark.parametrize(
    "wrong",
    [
        {"secret": "another"},
        {"signed": b"payload=%7B%7D"},
        {"signature": ""},
        {"signature": "v0=" + "0" * 64},
        {"timestamp": int(NOW.timestamp()) - 301},
        {"timestamp": int(NOW.timestamp()) + 301},
        {"timestamp": "soon"},
    ],
)
def test_a_post_without_slack_s_current_signature_is_rejected(answering, wrong):
    """Answer 401 to forged and old posts, count and audit them, and queue nothing."""
    body = press_body("acknowledge", incident_id=answering.incidents.one.id)

    answer = answering.post_signed(body, **wrong)

    assert answer.status_code == 401
    assert _queued_commands(answering) == []
    answering.judge()
    assert answering.counts(DENIED_METRIC) == {"bad_signature": 1.0}


def test_a_recorded_press_is_not_replayed(answering):
    """Queue nothing new within five minutes, and answer 401 after that."""
    body = press_body("suppress", incident_id=answering.incidents.one.id)
    seconds = int(NOW.timestamp())
    codes = []
    for after in (0, 10, 299, 301):
        answering.now = NOW + timedelta(seconds=after)
        codes.append(answering.post_signed(body, timestamp=seconds).status_code)

    assert codes == [200, 200, 200, 401]
    assert len(_queued_commands(answering)) == 1


def test_a_second_press_is_a_second_command(answering):
    """Queue a command for the same button a second later."""
    answering.press()
    answering.now += timedelta(seconds=1)
    answering.press()

    assert len(_queued_commands(answering)) == 2


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (press_body("acknowledge", incident_id="0123456789abcdef"), 404),
        (press_body("acknowledge", incident_id="'; DROP TABLE incident; --"), 404),
        (press_body("acknowledge", incident_id="x" * 100_000), 404),
        (press_body("explode", incident_id="0123456789abcdef"), 400),
        (b"payload=%7B%7D", 400),
        (b"", 400),
        (b"x" * (inboxes.MAX_INBOX_BYTES + 1), 413),
    ],
)
def test_a_signed_press_for_something_unknown_is_rejected(answering, body, status):
    """Look up each id from outside, and do not read an oversized body."""
    assert answering.post_signed(body).status_code == status
    assert _queued_commands(answering) == []


def test_slack_needs_no_token_and_is_no_unauthorized_access(answering):
    """Accept a press with or without a slash at the end, and leave it out of M10."""
    assert answering.press().status_code == 200
    answering.now += timedelta(seconds=1)
    body = press_body("suppress", incident_id=answering.incidents.one.id)
    assert answering.post_signed(body, path=f"{PATH}/").status_code == 200
    answering.get("/api/v1/datasets", "clerk")

    answering.judge()

    assert answering.m10 == (1.0, 1.0, 0.0)
    assert answering.counts(UNAUTHORIZED_METRIC) == {}


def test_rejections_are_counted_and_pruned_without_an_access_section(answering, monkeypatch):
    """Bound the rows, so that a flood of posts fills no disk."""
    monkeypatch.setattr("service.api.access.access_auditor._MOST_DENIED", 2)
    monkeypatch.setattr("service.api.access.access_auditor._LOOK_AFTER", 5)
    answering.write_policy("retention_days: 30\n")
    answering.judge()
    for _ in range(5):
        answering.post_signed(b"payload=x", signature="")
    answering.judge(after=timedelta(days=2))

    assert answering.counts(DENIED_METRIC) == {"bad_signature": 5.0}
    assert len(answering.rows("SELECT id FROM access_audit")) == 2


def test_without_a_secret_there_are_no_buttons(answering):
    """Answer 404 with the name of the setting, and treat an empty file as no secret."""
    answering.secret_file.write_text(" ")
    assert answering.press().status_code == 503
    answering.secret_file = None
    answering.restart()
    answer = answering.press()

    assert answer.status_code == 404
    assert "LINEWARD_DELIVERY_SLACK_SIGNING_SECRET_FILE" in answer.json()["detail"]


def test_a_secret_is_replaced_without_a_restart(answering):
    """Read it for each request: the old secret is invalid at once."""
    answering.secret_file.write_text("a new one")

    assert answering.press().status_code == 401
    body = press_body("acknowledge", incident_id=answering.incidents.one.id)
    assert answering.post_signed(body, secret="a new one").status_code == 200  # noqa: S106


def test_a_busy_catalog_is_answered_before_slack_s_timeout(answering, monkeypatch):
    """Answer 503 within Slack's three seconds, although the row may still be written."""
    monkeypatch.setattr(route, "_SLACK_WRITE_SECONDS", 0.0)

    answer = answering.press()

    assert answer.status_code == 503
    assert "may have been done" in answer.json()["detail"]


def test_no_rejection_is_left_unaudited(answering, monkeypatch):
    """Answer 503 instead of 401 if the log cannot be written."""

    def full(_recorder: object, _rows: object) -> None:
        message = "disk full"
        raise OSError(message)

    monkeypatch.setattr("service.api.access.audit_log.Recorder.write", full)

    assert answering.press(user="x").status_code == 200
    assert answering.post_signed(b"payload=x", signature="").status_code == 503


def test_without_the_signature_a_forged_press_is_queued(answering, monkeypatch):
    """Run the mutant: accept every signature."""
    monkeypatch.setattr(inboxes, "verify_slack_signature", lambda *_, **__: True)
    body = press_body("acknowledge", incident_id=answering.incidents.one.id)

    assert answering.post_signed(body, signature="v0=forged").status_code == 200
    assert len(_queued_commands(answering)) == 1


def test_without_its_id_a_press_is_replayed(answering, monkeypatch):
    """Run the mutant: treat each press as a new one."""
    known = inboxes.put_command

    def forgetful(settings, wanted, now):
        return known(settings, msgspec.structs.replace(wanted, request_id=None), now)

    monkeypatch.setattr(inboxes, "put_command", forgetful)
    body = press_body("acknowledge", incident_id=answering.incidents.one.id)
    for _ in range(2):
        answering.post_signed(body)

    assert len(_queued_commands(answering)) == 2


def test_without_its_time_a_press_is_valid_for_ever(answering, monkeypatch):
    """Run the mutant: accept a press that was recorded an hour ago."""

    def timeless(body, *, timestamp, now, **rest):  # noqa: ANN003
        then = now.fromtimestamp(int(timestamp), tz=now.tzinfo)
        return known(body, timestamp=timestamp, now=then, **rest)

    known = inboxes.verify_slack_signature
    monkeypatch.setattr(inboxes, "verify_slack_signature", timeless)
    body = press_body("acknowledge", incident_id=answering.incidents.one.id)
    answering.now += _HOUR

    assert answering.post_signed(body, timestamp=int(NOW.timestamp())).status_code == 200

"""What Slack posts when somebody presses a button, and what others post in its name."""

from datetime import timedelta

import msgspec
import pytest

from lineage.process.clock import to_micros
from service.api.access.access_auditor import DENIED, UNAUTHORIZED
from service.api.routes import slack as route
from service.incidents import slack_buttons
from tests.service.api.access.estate import NOW
from tests.service.incidents.people.answering import PATH, pressed

_PEOPLE = "people: [{name: Ann Smith, slack: U012AB3CD}]\n"
_HOUR = timedelta(hours=1)


def _asked(answering):
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
def test_a_press_is_written_down_and_answered_at_once(answering, action, choice, until):
    """200 and no words; the next evaluation does it."""
    answer = answering.press(action, choice=choice)

    assert (answer.status_code, answer.content) == (200, b"")
    end = None if until is None else to_micros(until)
    assert _asked(answering) == [("ann (U012AB3CD)", "slack", action, end)]
    answering.desk.turn(61)
    assert answering.audited()[-1] == ("ann (U012AB3CD)", "slack", action, "done")


def test_the_policys_people_are_called_by_their_names(answering):
    """As the audit log has them."""
    _with(answering, _PEOPLE)

    assert answering.press().status_code == 200
    assert _asked(answering)[0][0] == "Ann Smith"


def test_whom_the_policy_does_not_name_is_not_let_in(answering):
    """401 though Slack signed it; nothing is asked, and who tried is in both logs."""
    _with(answering, _PEOPLE)

    answer = answering.press(user="U0STRANGE")

    assert answer.status_code == 401
    assert _asked(answering) == []
    rejected = "rejected: the policy has no such person"
    assert answering.audited() == [("ann (U0STRANGE)", "slack", "acknowledge", rejected)]
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
def test_what_slack_did_not_sign_now_is_refused(answering, wrong):
    """Forged, or signed for another time: 401, counted and audited, and never asked."""
    body = pressed("acknowledge", incident_id=answering.desk.one.id)

    answer = answering.post_signed(body, **wrong)

    assert answer.status_code == 401
    assert _asked(answering) == []
    answering.judge()
    assert answering.counts(DENIED) == {"bad_signature": 1.0}


def test_what_slack_signed_may_not_be_played_again(answering):
    """Recorded: within five minutes it asks nothing new, after that it is nobody's."""
    body = pressed("suppress", incident_id=answering.desk.one.id)
    seconds = int(NOW.timestamp())
    codes = []
    for after in (0, 10, 299, 301):
        answering.now = NOW + timedelta(seconds=after)
        codes.append(answering.post_signed(body, timestamp=seconds).status_code)

    assert codes == [200, 200, 200, 401]
    assert len(_asked(answering)) == 1


def test_another_press_is_another(answering):
    """The same button a second later."""
    answering.press()
    answering.now += timedelta(seconds=1)
    answering.press()

    assert len(_asked(answering)) == 2


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (pressed("acknowledge", incident_id="0123456789abcdef"), 404),
        (pressed("acknowledge", incident_id="'; DROP TABLE incident; --"), 404),
        (pressed("acknowledge", incident_id="x" * 100_000), 404),
        (pressed("explode", incident_id="0123456789abcdef"), 400),
        (b"payload=%7B%7D", 400),
        (b"", 400),
        (b"x" * (slack_buttons.MAX_BODY_BYTES + 1), 413),
    ],
)
def test_what_is_signed_and_asks_for_nothing_that_there_is(answering, body, status):
    """An id from outside is looked up, never believed; an oversized body is not read."""
    assert answering.post_signed(body).status_code == status
    assert _asked(answering) == []


def test_slack_needs_no_token_and_is_no_unauthorized_access(answering):
    """Outside the gate, with or without a slash at the end; M10 counts neither answer."""
    assert answering.press().status_code == 200
    answering.now += timedelta(seconds=1)
    body = pressed("suppress", incident_id=answering.desk.one.id)
    assert answering.post_signed(body, path=f"{PATH}/").status_code == 200
    answering.get("/api/v1/datasets", "clerk")

    answering.judge()

    assert answering.m10 == (1.0, 1.0, 0.0)
    assert answering.counts(UNAUTHORIZED) == {}


def test_refusals_are_counted_and_pruned_where_nobody_needs_a_token(answering, monkeypatch):
    """Without an access section too: whoever floods the route fills no disk."""
    monkeypatch.setattr("service.api.access.access_auditor._MOST_DENIED", 2)
    monkeypatch.setattr("service.api.access.access_auditor._LOOK_AFTER", 5)
    answering.write_policy("retention_days: 30\n")
    answering.judge()
    for _ in range(5):
        answering.post_signed(b"payload=x", signature="")
    answering.judge(after=timedelta(days=2))

    assert answering.counts(DENIED) == {"bad_signature": 5.0}
    assert len(answering.rows("SELECT id FROM access_audit")) == 2


def test_without_a_secret_there_are_no_buttons(answering):
    """404 that names the setting, and an empty file is no secret."""
    answering.secret_file.write_text(" ")
    assert answering.press().status_code == 503
    answering.secret_file = None
    answering.restart()
    answer = answering.press()

    assert answer.status_code == 404
    assert "LINEWARD_DELIVERY_SLACK_SIGNING_SECRET_FILE" in answer.json()["detail"]


def test_a_secret_is_replaced_without_a_restart(answering):
    """Read for each request: the old one is none at once."""
    answering.secret_file.write_text("a new one")

    assert answering.press().status_code == 401
    body = pressed("acknowledge", incident_id=answering.desk.one.id)
    assert answering.post_signed(body, secret="a new one").status_code == 200  # noqa: S106


def test_a_catalog_that_is_busy_is_told_before_slack_gives_up(answering, monkeypatch):
    """Slack waits for three seconds: 503 before that, and the row may come all the same."""
    monkeypatch.setattr(route, "_WRITE_SECONDS", 0.0)

    answer = answering.press()

    assert answer.status_code == 503
    assert "may have been done" in answer.json()["detail"]


def test_nobody_is_refused_unaudited(answering, monkeypatch):
    """A log that cannot be written: 503 in the place of the 401."""

    def full(_recorder: object, _rows: object) -> None:
        message = "disk full"
        raise OSError(message)

    monkeypatch.setattr("service.api.access.audit.Recorder.write", full)

    assert answering.press(user="x").status_code == 200
    assert answering.post_signed(b"payload=x", signature="").status_code == 503


def test_without_the_signature_anybody_would_be_slack(answering, monkeypatch):
    """The mutant of the verification: a forged press asks."""
    monkeypatch.setattr(slack_buttons, "verify_signature", lambda *_, **__: True)
    body = pressed("acknowledge", incident_id=answering.desk.one.id)

    assert answering.post_signed(body, signature="v0=forged").status_code == 200
    assert len(_asked(answering)) == 1


def test_without_its_id_a_press_would_be_played_again(answering, monkeypatch):
    """The mutant of the replay: each is taken for a new one."""
    known = slack_buttons.put

    def forgetful(settings, wanted, now):
        return known(settings, msgspec.structs.replace(wanted, request_id=None), now)

    monkeypatch.setattr(slack_buttons, "put", forgetful)
    body = pressed("acknowledge", incident_id=answering.desk.one.id)
    for _ in range(2):
        answering.post_signed(body)

    assert len(_asked(answering)) == 2


def test_without_its_time_a_press_would_be_good_for_ever(answering, monkeypatch):
    """The mutant of the five minutes: what was recorded an hour ago asks today."""

    def timeless(body, *, timestamp, now, **rest):  # noqa: ANN003
        then = now.fromtimestamp(int(timestamp), tz=now.tzinfo)
        return known(body, timestamp=timestamp, now=then, **rest)

    known = slack_buttons.verify_signature
    monkeypatch.setattr(slack_buttons, "verify_signature", timeless)
    body = pressed("acknowledge", incident_id=answering.desk.one.id)
    answering.now += _HOUR

    assert answering.post_signed(body, timestamp=int(NOW.timestamp())).status_code == 200

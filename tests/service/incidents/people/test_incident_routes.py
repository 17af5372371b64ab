"""What somebody does about an incident by the API."""

import pytest

from service.api.access import decision, gate
from service.api.access.access_auditor import UNAUTHORIZED
from service.api.access.decision import Decision
from service.api.access.visibility import EVERYTHING


@pytest.mark.parametrize(
    ("action", "body", "state"),
    [
        ("acknowledge", {"note": "on it"}, "acknowledged"),
        ("suppress", {"for": "2h"}, "suppressed"),
        ("suppress", {"until": "2026-11-21T15:00:00+01:00"}, "suppressed"),
        ("resolve", {"note": "mended"}, "resolved"),
        ("false-alarm", {}, "resolved"),
    ],
)
def test_an_action_is_answered_when_it_is_done(answering, action, body, state):
    """200 with the number it was asked by; the incident is as it was wanted."""
    with answering.evaluated():
        answer = answering.act(action, body)

    assert (answer.status_code, answering.desk.one.state) == (200, state)
    text = answer.json()
    assert (text["is_done"], text["incident_id"]) == (True, answering.desk.one.id)
    asked = answering.audited()[0]
    assert asked == ("shop", "api", action.replace("-", "_"), None)
    assert answering.audited()[-1][-1] == "done"


def test_a_suppression_ends_when_it_was_said_to(answering):
    """Two hours from noon."""
    with answering.evaluated():
        answering.act("suppress", {"for": "2h"})

    assert answering.rows("SELECT until FROM incident_command") == [(1_795_269_600_000_000,)]


def test_what_the_incident_refuses_is_a_409_with_the_reason(answering):
    """It is open: there is no suppression to end."""
    with answering.evaluated():
        answer = answering.act("unsuppress")

    assert answer.status_code == 409
    assert answer.json()["detail"].startswith("it is open: to unsuppress it")
    assert answering.audited()[-1][-1].startswith("rejected: it is open")


@pytest.mark.usefixtures("impatient")
def test_what_nobody_takes_in_time_is_a_202_that_says_so(answering):
    """Written down all the same, and done by the next evaluation."""
    answer = answering.act("acknowledge")

    assert (answer.status_code, answer.json()["is_done"]) == (202, False)
    assert "takes effect at the next evaluation" in answer.json()["detail"]
    answering.desk.turn(61)
    assert answering.desk.one.state == "acknowledged"


def test_an_escalation_waits_for_whoever_tells_people(answering, monkeypatch):
    """No evaluation answers it: 202 until routing has."""
    monkeypatch.setattr("service.incidents.incident_commands.WAIT_SECONDS", 0.0)

    assert answering.act("escalate").status_code == 202


@pytest.mark.parametrize(
    ("path", "body", "status", "words"),
    [
        ("0123456789abcdef/acknowledge", {}, 404, "no incident has the id '0123456789abcdef'"),
        ("%27%20OR%201/acknowledge", {}, 404, "no incident has the id"),
        ("ID/explode", {}, 400, "action: one of acknowledge"),
        ("ID/suppress", {}, 400, "until: a suppression needs an end"),
        ("ID/suppress", {"for": "soon"}, 400, "for: expected a duration"),
        ("ID/suppress", {"for": "31d"}, 400, "until: at most 30 days"),
        ("ID/suppress", {"until": "2026-11-21T15:00:00"}, 400, "until: '2026-11-21T15:00:00' has"),
        ("ID/suppress", {"until": "x", "for": "1h"}, 400, "until, for: give exactly one"),
        (
            "ID/suppress",
            {"until": "9999-12-31T23:59:59-14:00"},
            400,
            "until: expected a time of",
        ),
        ("ID/acknowledge", {"for": "1h"}, 400, "until: of a suppression only"),
        ("ID/resolve", {"nte": "x"}, 400, "body: Object contains unknown field `nte`"),
        ("ID/resolve", {"note": 5}, 400, "body: Expected `str`, got `int` - at `$.note`"),
        ("ID/resolve", {"note": "x" * 501}, 400, "note: at most 500 characters"),
        ("ID/resolve", {"note": "x" * 70_000}, 413, ""),
    ],
)
def test_what_cannot_be_done_is_refused_with_its_place(answering, path, body, status, words):
    """And nothing waits for an evaluation."""
    path = path.replace("ID", answering.desk.one.id)

    answer = answering.send("POST", f"/api/v1/incidents/{path}", body)

    assert answer.status_code == status
    assert words in answer.json()["detail"]
    assert answering.rows("SELECT id FROM incident_command") == []


def test_what_is_refused_at_the_door_is_audited(answering):
    """Somebody tried, and it is known who."""
    answering.send("POST", "/api/v1/incidents/0123456789abcdef/acknowledge")

    ((who, via, action, answer),) = answering.audited()
    assert (who, via, action) == ("shop", "api", "acknowledge")
    assert answer == "rejected: no incident has the id '0123456789abcdef'"


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_a_page_of_another_site_can_make_nobodys_browser_act(answering, kind):
    """What a browser sends without asking first is never JSON: refused, with access open too."""
    answering.write_policy("retention_days: 30\n")
    path = f"/api/v1/incidents/{answering.desk.one.id}/resolve"

    answer = answering.send("POST", path, {}, None, **{"Content-Type": kind})

    assert answer.status_code == 415
    assert answering.rows("SELECT id FROM incident_command") == []


@pytest.mark.usefixtures("impatient")
def test_roles_say_who_may_act_and_who_may_read(answering):
    """Who responds needs no admin; who reads may not act; who sees a part only may not either."""
    found = {
        (who, action): answering.act(action, {}, who).status_code
        for who in ("boss", "shop", "clerk", "late", None)
        for action in ("acknowledge",)
    }
    read = {
        (who, path): answering.get(f"/api/v1/{path}", who).status_code
        for who in ("boss", "shop", "clerk")
        for path in ("suppressions", "audit")
    }

    assert list(found.values()) == [202, 202, 403, 403, 401]
    assert list(read.values()) == [200, 200, 403, 403, 200, 403]
    answering.judge()
    assert answering.m10 == (5.0, 5.0, 0.0)
    assert answering.counts(UNAUTHORIZED) == {}


@pytest.mark.usefixtures("impatient")
def test_a_role_that_the_gate_forgets_is_found(answering, monkeypatch):
    """The judge has a list of its own: a reader who acknowledges is an unauthorized access."""
    monkeypatch.setitem(decision.NEEDS, "answer", "read")
    assert answering.act("acknowledge", {}, "clerk").status_code == 202

    answering.judge()

    assert answering.counts(UNAUTHORIZED) == {"role": 1.0}


@pytest.mark.usefixtures("impatient")
def test_whoever_is_let_in_without_a_name_is_called_anybody(answering):
    """Without an access section nobody is known; by what way it was is."""
    answering.write_policy("retention_days: 30\n")
    answering.act("acknowledge", {}, None)

    assert answering.audited() == [("anybody", "api", "acknowledge", None)]


@pytest.mark.usefixtures("impatient")
def test_a_gate_that_lets_anybody_act_is_found(answering, monkeypatch):
    """The mutant of the gate, for what changes something."""
    nobody = Decision("", "clerk", "", EVERYTHING)
    monkeypatch.setattr(gate, "decide", lambda *_, **__: nobody)
    answering.act("resolve", {"note": "x"}, None)

    answering.judge()

    assert answering.m10 == (0.0, 1.0, 0.0)

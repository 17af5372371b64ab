"""Actions on an incident by the API."""

import pytest

from service.api.access import decision, gate
from service.api.access.access_auditor import UNAUTHORIZED_METRIC
from service.api.access.decision import AccessDecision
from service.queries.visibility import EVERYTHING


@pytest.mark.parametrize(
    ("action", "body", "state"),
    [
        ("acknowledge", {"note": "on it"}, "acknowledged"),
        ("suppress", {"for": "2h"}, "suppressed"),
        ("suppress", {"until": "2026-11-21T15:00:00+01:00"}, "suppressed"),
        ("resolve", {"note": "fixed"}, "resolved"),
        ("false-alarm", {}, "resolved"),
    ],
)
def test_an_action_is_answered_when_it_is_done(answering, action, body, state):
    """Answer 200 with the number of the request, after the change."""
    with answering.evaluating():
        answer = answering.act(action, body)

    assert (answer.status_code, answering.incidents.one.state) == (200, state)
    text = answer.json()
    assert (text["is_done"], text["incident_id"]) == (True, answering.incidents.one.id)
    asked = answering.audit_rows()[0]
    assert asked == ("shop", "api", action.replace("-", "_"), None)
    assert answering.audit_rows()[-1][-1] == "done"


def test_a_suppression_has_the_requested_end(answering):
    """Suppress for two hours from noon."""
    with answering.evaluating():
        answering.act("suppress", {"for": "2h"})

    assert answering.rows("SELECT until FROM incident_command") == [(1_795_269_600_000_000,)]


def test_an_impossible_action_is_a_409_with_the_reason(answering):
    """Reject the end of a suppression, as there is none."""
    with answering.evaluating():
        answer = answering.act("unsuppress")

    assert answer.status_code == 409
    assert answer.json()["detail"].startswith("it is open: to unsuppress it")
    assert answering.audit_rows()[-1][-1].startswith("rejected: it is open")


@pytest.mark.usefixtures("impatient")
def test_an_action_without_an_evaluation_is_a_202(answering):
    """Store it, and apply it once a service leads."""
    answer = answering.act("acknowledge")

    assert (answer.status_code, answer.json()["is_done"]) == (202, False)
    assert "waits for the leading service" in answer.json()["detail"]
    answering.incidents.turn(61)
    assert answering.incidents.one.state == "acknowledged"


def test_an_escalation_waits_for_the_notification_worker(answering, monkeypatch):
    """Answer 202, as no evaluation answers it."""
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
def test_an_invalid_action_is_rejected_with_its_path(answering, path, body, status, words):
    """Answer without a wait for an evaluation."""
    path = path.replace("ID", answering.incidents.one.id)

    answer = answering.send("POST", f"/api/v1/incidents/{path}", body)

    assert answer.status_code == status
    assert words in answer.json()["detail"]
    assert answering.rows("SELECT id FROM incident_command") == []


def test_an_unknown_incident_is_audited(answering):
    """Write an audit row with the person."""
    answering.send("POST", "/api/v1/incidents/0123456789abcdef/acknowledge")

    ((who, via, action, answer),) = answering.audit_rows()
    assert (who, via, action) == ("shop", "api", "acknowledge")
    assert answer == "rejected: no incident has the id '0123456789abcdef'"


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_a_page_of_another_site_cannot_act(answering, kind):
    """Reject all that a browser sends without a preflight request, also with open access."""
    answering.write_policy("retention_days: 30\n")
    path = f"/api/v1/incidents/{answering.incidents.one.id}/resolve"

    answer = answering.send("POST", path, {}, None, **{"Content-Type": kind})

    assert answer.status_code == 415
    assert answering.rows("SELECT id FROM incident_command") == []


@pytest.mark.usefixtures("impatient")
def test_roles_decide_who_may_act_and_who_may_read(answering):
    """Let responders act without the admin role, and not readers or limited tokens."""
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
    assert answering.counts(UNAUTHORIZED_METRIC) == {}


@pytest.mark.usefixtures("impatient")
def test_a_role_that_the_gate_forgets_is_found(answering, monkeypatch):
    """Count a reader's acknowledgement as unauthorized, as the judge has its own list."""
    monkeypatch.setitem(decision.NEEDS, "answer", "read")
    assert answering.act("acknowledge", {}, "clerk").status_code == 202

    answering.judge()

    assert answering.counts(UNAUTHORIZED_METRIC) == {"role": 1.0}


@pytest.mark.usefixtures("impatient")
def test_a_user_of_an_open_api_is_called_anybody(answering):
    """Record `anybody` and the interface if there is no access section."""
    answering.write_policy("retention_days: 30\n")
    answering.act("acknowledge", {}, None)

    assert answering.audit_rows() == [("anybody", "api", "acknowledge", None)]


@pytest.mark.usefixtures("impatient")
def test_a_gate_that_lets_anybody_act_is_found(answering, monkeypatch):
    """Run the mutant: allow everybody an action."""
    nobody = AccessDecision("", "clerk", "", EVERYTHING)
    monkeypatch.setattr(gate, "decide", lambda *_, **__: nobody)
    answering.act("resolve", {"note": "x"}, None)

    answering.judge()

    assert answering.m10 == (0.0, 1.0, 0.0)

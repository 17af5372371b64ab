"""Posts of PagerDuty when a person acts there, and forged posts."""

import json

import pytest
from sqlalchemy import insert, select

from lineage.catalog.engine import write_transaction
from lineage.catalog.tables import incident
from service.api.access.budget import RequestBudget
from tests.fakes.pagerduty import signature, webhook
from tests.service.incidents.people.answering import SECRET

_PATH = "/api/v1/pagerduty/events"
_ACK, _RESOLVE = "incident.acknowledged", "incident.resolved"


def _post(answering, body, signatures=None):
    signed = signature(body, SECRET) if signatures is None else signatures
    headers = {"Content-Type": "application/json", "X-PagerDuty-Signature": signed}
    return answering.client.post(_PATH, content=body, headers=headers)


def _queued_commands(answering):
    return answering.rows('SELECT "by", via, action FROM incident_command ORDER BY id')


@pytest.mark.parametrize(
    ("event", "action", "state"),
    [(_ACK, "acknowledge", "acknowledged"), (_RESOLVE, "resolve", "resolved")],
)
def test_an_event_becomes_the_command_of_its_person(answering, event, action, state):
    """Queue the command as for a button of Slack, and audit person and interface."""
    answer = _post(answering, webhook(event, answering.incidents.one.id))

    assert (answer.status_code, answer.content) == (200, b"")
    assert _queued_commands(answering) == [("Ada Byron (PLH1HKV)", "pagerduty", action)]
    number = answering.incidents.one.id
    answering.incidents.turn(61)
    assert answering.audit_rows()[-1] == ("Ada Byron (PLH1HKV)", "pagerduty", action, "done")
    rows = answering.rows(f"SELECT state FROM incident WHERE incident_id = '{number}'")  # noqa: S608
    assert rows == [(state,)]


def test_a_repeated_event_is_one_command(answering):
    """Queue one command, as PagerDuty repeats unanswered posts."""
    body = webhook(_ACK, answering.incidents.one.id)

    assert [_post(answering, body).status_code for _ in range(3)] == [200] * 3
    assert len(_queued_commands(answering)) == 1


@pytest.mark.parametrize(
    "body",
    [
        webhook("incident.unacknowledged", "0" * 16),
        webhook("incident.reopened", "0" * 16),
        webhook("incident.triggered", "0" * 16),
        webhook("pagey.ping", "0" * 16),
        webhook(_RESOLVE, "an alert of somebody else"),
        webhook(_RESOLVE, "f" * 16),
        webhook(_RESOLVE, "0" * 16, None),
        webhook(_RESOLVE, "0" * 16, agent="inbound_integration_reference"),
        webhook(_RESOLVE, "0" * 16, agent="service_reference"),
    ],
)
def test_other_events_are_accepted_and_change_nothing(answering, body):
    """Answer 200, as PagerDuty ends a subscription whose events are rejected."""
    known = body.replace(b"0" * 16, answering.incidents.one.id.encode())

    assert _post(answering, known).status_code == 200
    assert _queued_commands(answering) == []


@pytest.mark.parametrize("secrets", [[SECRET, "old"], ["old", SECRET], ["a", "b", SECRET]])
def test_one_of_several_signatures_is_enough(answering, secrets):
    """Accept either of two while the secret is rotated."""
    body = webhook(_ACK, answering.incidents.one.id)
    signed = ",".join(signature(body, each) for each in secrets)

    assert _post(answering, body, signed).status_code == 200
    assert len(_queued_commands(answering)) == 1


@pytest.mark.parametrize(
    "signed",
    [
        lambda _: "",
        lambda body: signature(body, "another"),
        lambda body: signature(body + b" ", SECRET),
        lambda body: signature(body, SECRET).removeprefix("v1="),
        lambda body: signature(body, SECRET).replace("v1=", "v2="),
        lambda body: signature(body, SECRET).upper(),
        lambda body: signature(body, SECRET)[:-1],
        lambda body: ",".join(["v1=" + "0" * 64] * 10 + [signature(body, SECRET)]),
    ],
)
def test_a_post_without_pagerduty_s_signature_is_rejected(answering, signed):
    """Answer 401, audit it, and queue no command."""
    body = webhook(_RESOLVE, answering.incidents.one.id)

    assert _post(answering, body, signed(body)).status_code == 401
    assert _queued_commands(answering) == []
    assert answering.rows("SELECT action, decision, reason, status FROM access_audit") == [
        ("pagerduty", "deny", "bad_signature", 401)
    ]


def test_a_rejected_post_is_counted_for_its_address(answering, monkeypatch):
    """Take it from the budget of the sender, and from the budget of no other address."""
    addresses, spend = [], RequestBudget.spend

    def spend_and_note(budget, address):
        addresses.append(address)
        return spend(budget, address)

    monkeypatch.setattr(RequestBudget, "spend", spend_and_note)
    _post(answering, webhook(_RESOLVE, answering.incidents.one.id), "")

    assert addresses == ["testclient"]


@pytest.mark.parametrize(
    "body", [b"", b"{}", b"[]", b"\xff", b'{"event": {"id": 1}}', b"[" * 5_000]
)
def test_a_signed_body_that_is_no_event_is_a_400(answering, body):
    """Name the expected type of event."""
    answer = _post(answering, body)

    assert answer.status_code == 400
    assert "webhook v3" in answer.json()["detail"]


def test_an_event_of_a_merged_incident_is_of_the_older_one(answering, embedded):
    """Apply it to the older incident, although PagerDuty has the id of the younger."""
    number, younger = answering.incidents.one.id, "a" * 16
    with write_transaction(embedded) as connection:
        row = dict(connection.execute(select(incident)).mappings().one())
        merged = {"incident_id": younger, "state": "resolved", "is_remembered": False}
        connection.execute(insert(incident).values({**row, **merged, "merged_into": number}))

    assert _post(answering, webhook(_ACK, younger)).status_code == 200
    assert answering.rows("SELECT incident_id FROM incident_command") == [(number,)]


def test_without_a_secret_the_route_is_not_set_up(answering):
    """Name the setting in the answer."""
    answering.client.app.state.pagerduty._secret_file = None  # noqa: SLF001
    answer = _post(answering, json.dumps({}).encode())

    assert "LINEWARD_DELIVERY_PAGERDUTY_WEBHOOK_SECRET_FILE" in answer.json()["detail"]

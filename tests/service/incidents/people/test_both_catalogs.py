"""Requests of users, stored in SQLite and in PostgreSQL."""

from pathlib import Path

from sqlalchemy import Engine

from tests.service.incidents.people.answering import Answering


def test_actions_lists_and_the_audit_log_are_alike_in_both(catalog: Engine, tmp_path: Path):
    """Compare an answer, a window, and a page of the audit log."""
    answering = Answering(catalog, tmp_path)
    action_request = {"pattern": "s3://shop/*", "reason": "a move", "for": "1h"}

    with answering.evaluating():
        done = answering.act("acknowledge", {"note": "on it"})
    begun = answering.send("POST", "/api/v1/suppressions", action_request)
    listed = answering.get("/api/v1/suppressions", "clerk").json()["suppressions"]
    newest = answering.get("/api/v1/audit?who=shop&limit=1", "boss").json()
    onwards = f"limit=2&cursor={newest['next_cursor']}"
    page = answering.get(f"/api/v1/audit?who=shop&{onwards}", "boss").json()
    ended = answering.send("DELETE", f"/api/v1/suppressions/{begun.json()['id']}")
    press_body = answering.press("false_alarm").status_code

    assert (done.status_code, begun.status_code, ended.status_code) == (200, 201, 204)
    assert [(row["state"], row["by"]) for row in listed] == [("active", "shop")]
    assert [(row["action"], row["answer"]) for row in page["rows"]] == [
        ("acknowledge", "done"),
        ("acknowledge", None),
    ]
    assert press_body == 200

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from litestar.testing import TestClient
from sqlalchemy import Engine, select

from lineage.catalog import tables
from runbooks.actions.errors import FailedActionError
from runbooks.actions.registry import ACTIONS
from service.api.app import create_app
from service.runtime.settings import Settings
from tests.service import shop
from tests.service.api.access.estate import Estate

WINDOW = {"pattern": "s3://shop/*", "until": "2026-11-22T00:00:00Z", "reason": "reload"}
URL = "/api/v1/actions/open-suppression"


def _audit_rows(engine: Engine) -> list[tuple[str, ...]]:
    t = tables.audit.c
    with engine.connect() as connection:
        rows = connection.execute(select(t.who, t.via, t.action, t.answer).order_by(t.id)).all()
    return [tuple(row) for row in rows]


def _windows(engine: Engine) -> list[tuple[str, ...]]:
    with engine.connect() as connection:
        t = tables.suppression.c
        return [tuple(row) for row in connection.execute(select(t.pattern, t.by, t.via)).all()]


def _post(estate, who: str | None = "boss", *, url: str = URL, **window: str):
    shown = {} if who is None else {"Authorization": estate.shown(who)}
    return estate.client.post(url, json=WINDOW | window, headers=shown)


def test_a_call_is_a_dry_run_by_default(estate):
    """Return the plan, and write an audit row with the token's name."""
    answer = _post(estate)

    assert answer.status_code == 200
    assert (answer.json()["dry_run"], answer.json()["done"]) == (True, None)
    assert answer.json()["plan"]["figures"]["datasets"] == 4
    assert _windows(estate.catalog) == []
    assert _audit_rows(estate.catalog) == [("boss", "api", "act open-suppression", "dry run")]


def test_an_admin_runs_an_action(estate):
    """Record the token's name, and judge the access as authorized."""
    answer = _post(estate, url=f"{URL}?dry_run=false")
    estate.judge()

    assert answer.json()["done"]["is_whole"] is True
    assert _windows(estate.catalog) == [("s3://shop/*", "boss", "api")]
    assert _audit_rows(estate.catalog)[0][3] is None
    assert estate.m10 == (1.0, 1.0, 0.0)


@pytest.mark.parametrize(("who", "status"), [("clerk", 403), ("shop", 403), (None, 401)])
@pytest.mark.parametrize("dry", ["true", "false"])
def test_only_admins_may_call_actions(estate, who, status, dry):
    """Reject readers and requests without a token in the gate, which has its own log."""
    assert _post(estate, who, url=f"{URL}?dry_run={dry}").status_code == status
    assert _windows(estate.catalog) == []
    (row,) = estate.rows("SELECT decision, action FROM access_audit")
    assert row == ("deny", "act")


def test_a_rejected_action_is_problem_json_with_its_status(estate):
    """Answer 400 for invalid and 409 for unsafe requests, and log both."""
    wrong = _post(estate, until="2020-01-01T00:00:00Z")
    unknown = _post(estate, url="/api/v1/actions/nothing")
    idle = estate.client.post(
        "/api/v1/actions/restart-role?dry_run=false",
        json={"role": "pipeline"},
        headers={"Authorization": estate.shown("boss")},
    )

    assert [one.status_code for one in (wrong, unknown, idle)] == [400, 400, 409]
    assert all(one.headers["content-type"] == "application/problem+json" for one in (wrong, idle))
    assert [row[3][:9] for row in _audit_rows(estate.catalog)] == ["rejected:"] * 3


def test_a_dependency_that_does_not_answer_is_a_bad_gateway(estate, monkeypatch):
    """Answer 502, and log the reason."""

    def fails(*_arguments: object):
        raise FailedActionError("the collector does not answer")

    monkeypatch.setattr("runbooks.actions.open_suppression.create_window", fails)
    answer = _post(estate, url=f"{URL}?dry_run=false")

    assert (answer.status_code, answer.json()["title"]) == (502, "Failed")
    assert _audit_rows(estate.catalog)[-1][3] == "failed: the collector does not answer"


@pytest.fixture
def estate(embedded: Engine, tmp_path: Path) -> Estate:
    """Return a guarded API whose clock the test sets."""
    return Estate(embedded, tmp_path)


@pytest.fixture
def client(embedded: Engine) -> Iterator[TestClient]:
    """Start an API without an `access` section, which is open to everybody."""
    shop.fill(embedded)
    url = embedded.url.render_as_string(hide_password=False)
    with TestClient(create_app(Settings(catalog_url=url)), base_url="http://127.0.0.1") as client:
        yield client


def test_an_open_api_plans_and_does_nothing(client, embedded):
    """Reject the action, as an open API has no admins, and log the attempt."""
    planned = client.post(URL, json=_later())
    done = client.post(f"{URL}?dry_run=false", json=_later())

    assert (planned.status_code, done.status_code) == (200, 403)
    assert "lineward act" in done.json()["detail"]
    assert _windows(embedded) == []
    assert [row[0] for row in _audit_rows(embedded)] == ["anybody", "anybody"]


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_a_body_that_a_foreign_page_can_post_is_rejected(client, embedded, kind):
    """Reject content types that a browser sends across origins without a preflight request."""
    answer = client.post(URL, content=json.dumps(_later()), headers={"Content-Type": kind})

    assert answer.status_code == 415
    assert _audit_rows(embedded) == []


@pytest.mark.parametrize("body", [b"[1]", b"{", b"\xff", b'"x"', b'{"run": ' + b"[" * 60_000])
def test_arguments_are_one_json_object(client, body):
    """Answer 400 with an error that names the body."""
    answer = client.post(URL, content=body, headers={"Content-Type": "application/json"})

    assert answer.status_code == 400
    assert answer.json()["detail"].startswith("body: ")


def test_a_body_that_is_too_large_is_rejected(client):
    """Answer 413 above 64 KiB, which is enough for all arguments."""
    answer = client.post(
        URL, content=b" " * 70_000 + b"{}", headers={"Content-Type": "application/json"}
    )

    assert answer.status_code == 413


def test_the_list_describes_each_action(client):
    """List names, a description, and a JSON Schema of the arguments."""
    found = {one["name"]: one for one in client.get("/api/v1/actions").json()["actions"]}

    assert set(found) == set(ACTIONS)
    assert "until" in json.dumps(found["open-suppression"]["arguments"])


def _later() -> dict[str, str]:
    """Return arguments with an end within a year of the real clock."""
    until = datetime.now(UTC) + timedelta(days=1)
    return WINDOW | {"until": until.isoformat()}

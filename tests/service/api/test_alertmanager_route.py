"""Route for the webhook of Alertmanager: permissions and accepted posts."""

import hashlib
import re

import pytest
from litestar.testing import TestClient
from sqlalchemy import select

from alerts.notify.settings import RoutingSettings
from lineage.catalog.tables import notification, received_alert
from service.api.access.served_counts import OPEN_PATHS
from service.api.app import create_app
from service.runtime.settings import Settings
from tests.alerts.notify.alertmanager_calls import BURN, alert, body
from tests.service.api.access.estate import TOKENS, Estate

_PATH = "/api/v1/alertmanager"
JSON = {"Content-Type": "application/json"}
_OWNERS = 'owners: [{name: platform, slack: "#platform"}]\n'


def client_of(engine, policy):
    """Return a client of a service whose policy has no access rules."""
    url = engine.url.render_as_string(hide_password=False)
    settings = Settings(catalog_url=url, policy=policy)
    routing = RoutingSettings(public_url="https://lineward.test")
    return TestClient(create_app(settings, routing=routing), base_url="http://127.0.0.1")


def rows(engine, column):
    """Return all values of a column."""
    with engine.connect() as connection:
        return list(connection.scalars(select(column)))


@pytest.fixture
def policy(tmp_path):
    """Return a policy with one owner."""
    file = tmp_path / "lineward.yaml"
    file.write_text(_OWNERS)
    return file


def test_an_alert_is_in_the_outbox_before_it_is_answered(embedded, policy):
    """Answer 200 once the notification of the owner is durable."""
    answer = client_of(embedded, policy).post(_PATH, content=body(alert(BURN)), headers=JSON)

    assert (answer.status_code, answer.json()) == (
        200,
        {"released": 0, "notifications": 1, "told": 1},
    )
    assert rows(embedded, received_alert.c.fingerprint) == ["f1"]
    assert rows(embedded, notification.c.channel) == ["slack:#platform"]


def test_an_invalid_post_is_a_400_that_names_the_path(embedded, policy):
    """Name the error, since Alertmanager logs the answer."""
    answer = client_of(embedded, policy).post(
        _PATH, content=body(alert({"alertname": 7})), headers=JSON
    )

    assert answer.status_code == 400
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["detail"] == "$.alerts[0].labels[...]: Expected `str`, got `int`"
    assert rows(embedded, received_alert.c.fingerprint) == []


def test_an_invalid_policy_makes_alertmanager_repeat_the_post(embedded, policy):
    """Answer 503, since Alertmanager repeats only what is answered 5xx."""
    policy.write_text("owners: 7\n")

    answer = client_of(embedded, policy).post(_PATH, content=body(alert(BURN)), headers=JSON)

    assert answer.status_code == 503


def test_a_post_without_a_catalog_is_repeated_and_creates_none(tmp_path):
    """Answer 503, and leave the catalog to the pipeline."""
    settings = Settings(data_dir=tmp_path / "none")

    client = TestClient(create_app(settings), base_url="http://127.0.0.1")

    assert client.post(_PATH, content=body(alert(BURN)), headers=JSON).status_code == 503
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("who", "status"), [(None, 401), ("wrong-0123456789abcdef", 401), ("clerk", 403), ("boss", 200)]
)
def test_only_a_token_with_the_alerts_role_may_post(embedded, tmp_path, who, status):
    """Reject other tokens, as an alert may page people, and audit each post."""
    estate = Estate(embedded, tmp_path)
    headers = {} if who is None else {"Authorization": f"Bearer {TOKENS.get(who, who)}"}

    answer = estate.client.post(_PATH, content=body(alert(BURN)), headers={**JSON, **headers})

    assert answer.status_code == status
    assert len(rows(embedded, received_alert.c.fingerprint)) == (status == 200)
    audited = estate.rows("SELECT action, status FROM access_audit")
    assert audited == [("alertmanager", status)]


def test_alertmanagers_own_token_posts_alerts_and_nothing_else(embedded, tmp_path):
    """Reject all else, so that a leaked secret reads nothing and does nothing."""
    estate = Estate(embedded, tmp_path)
    token = "alertmanager-0123456789"  # noqa: S105 - of this test
    digest = hashlib.sha256(token.encode()).hexdigest()
    own = f"    - {{name: alertmanager, sha256: {digest}, roles: [alerts]}}\n"
    estate.policy.write_text(estate.policy.read_text() + own)
    headers = {**JSON, "Authorization": f"Bearer {token}"}

    posted = estate.client.post(_PATH, content=body(alert(BURN)), headers=headers)

    assert posted.status_code == 200
    assert len(rows(embedded, received_alert.c.fingerprint)) == 1
    asked = {
        (route.path, method)
        for route in estate.client.app.routes
        for method in getattr(route, "methods", ())
        if method in {"GET", "POST", "DELETE"}
    } - {(_PATH, "POST")}
    for path, method in sorted(asked):
        if OPEN_PATHS.fullmatch(path.replace("{name:str}", "x")):
            continue
        spelled = re.sub(r"{\w+:int}", "1", re.sub(r"{\w+:str}", "x", path))
        answer = estate.client.request(method, spelled, headers=headers)
        assert answer.status_code == 403, (method, path)
    estate.judge()
    assert estate.m10 == (1.0, 1.0, 0.0)


def test_a_post_from_another_site_notifies_nobody(embedded, policy):
    """Reject text that a form may send, and JSON, also on a service without access rules."""
    foreign = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
    client = client_of(embedded, policy)
    for kind in ("text/plain", "application/json", "application/x-www-form-urlencoded"):
        answer = client.post(
            _PATH, content=body(alert(BURN)), headers={**foreign, "Content-Type": kind}
        )
        assert answer.status_code == 403, kind

    assert rows(embedded, notification.c.channel) == []

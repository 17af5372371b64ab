"""Answers that a client has already: not sent again, and audited all the same."""

import pytest
from litestar.testing import TestClient
from sqlalchemy import Engine

from service.api import app, etags
from service.api.access import gate
from service.api.app import create_app
from service.runtime.settings import Settings
from tests.service import shop
from tests.service.api.access.estate import Estate as Guarded

_PATH = "/api/v1/dataset?dataset=core/orders"


@pytest.fixture
def guarded(embedded: Engine, tmp_path) -> Guarded:
    """Return the guarded API on SQLite, since tags depend on the bytes only."""
    return Guarded(embedded, tmp_path)


def _status_of(guarded: Guarded, path: str = _PATH, who: str = "boss", **headers: str) -> int:
    return guarded.get(path, who, **headers).status_code


def test_a_known_answer_is_not_sent_again(guarded):
    """Answer 304 without a body, with the headers of a cache."""
    first = guarded.get(_PATH)
    again = guarded.get(_PATH, **{"If-None-Match": first.headers["etag"]})

    assert (first.status_code, again.status_code, again.content) == (200, 304, b"")
    for answer in (first, again):
        texts = [answer.headers[name] for name in ("etag", "cache-control", "vary")]
        assert texts == [first.headers["etag"], "private, no-cache", "Authorization"]
    assert "content-type" not in again.headers
    assert again.headers["x-content-type-options"] == "nosniff"


def test_a_change_is_another_answer(guarded):
    """Send it by its content, independent of clocks and versions of the catalog."""
    path = "/api/v1/datasets"
    tag = guarded.get(path).headers["etag"]
    shop.add_dataset(guarded.catalog, shop.NAMESPACE, "another")

    changed = guarded.get(path, **{"If-None-Match": tag})

    assert (changed.status_code, changed.json()["total"]) == (200, 6)
    assert changed.headers["etag"] != tag


@pytest.mark.parametrize(
    ("given", "status"),
    [("{tag}", 304), ("W/{tag}", 304), ('"other", {tag}', 304), ("*", 304), ('"other"', 200)],
)
def test_the_client_may_send_its_tag_in_several_forms(guarded, given, status):
    """Accept a list, a weak tag, and `*`."""
    tag = guarded.get(_PATH).headers["etag"]

    assert _status_of(guarded, **{"If-None-Match": given.format(tag=tag)}) == status


def test_an_answer_that_is_known_is_audited_with_all_that_it_names(guarded):
    """Write one row each with the same namespaces, and judge it as any other."""
    path = "/api/v1/datasets"
    tag = guarded.get(path).headers["etag"]
    assert _status_of(guarded, path, **{"If-None-Match": tag}) == 304

    rows = guarded.rows("SELECT who, action, namespaces, decision FROM access_audit ORDER BY id")
    assert rows == [("boss", "datasets", '["s3://shop","s3://shop-secret"]', "allow")] * 2
    guarded.judge()
    assert guarded.m10 == (2, 2, 0)


def test_tags_within_the_gate_would_hide_names_from_the_audit(guarded, monkeypatch):
    """Run the mutant of the test above: reverse the order."""
    of_guard = guarded.guard.middleware()
    monkeypatch.setattr(guarded.guard, "middleware", lambda: [*of_guard, etags.ETags])
    monkeypatch.setattr(app, "ETags", lambda app: app)
    inner = create_app(guarded.settings, clock=lambda: guarded.now, guard=guarded.guard)
    guarded.client = TestClient(inner, base_url="http://127.0.0.1")
    tag = guarded.get(_PATH).headers["etag"]

    assert _status_of(guarded, **{"If-None-Match": tag}) == 304

    rows = guarded.rows("SELECT namespaces FROM access_audit ORDER BY id")
    assert rows == [('["hive://shop","s3://shop"]',), ("[]",)]


def test_a_tag_gives_no_permission(guarded):
    """Reject it without a token, and send another answer to a token that sees less."""
    path = "/api/v1/lineage?dataset=core/orders"
    tag = guarded.get(path).headers["etag"]
    any_at_all = {"If-None-Match": "*"}

    assert _status_of(guarded, path, "shop", **{"If-None-Match": tag}) == 200
    rejected = guarded.get(path, None, **any_at_all)
    assert (rejected.status_code, rejected.headers.get("etag")) == (401, None)
    assert _status_of(guarded, "/api/v1/status", "clerk", **any_at_all) == 403
    missing = guarded.get("/api/v1/runs/none", **any_at_all)
    assert (missing.status_code, missing.headers["cache-control"]) == (404, "no-store")


def test_an_answer_that_could_not_be_audited_is_no_answer(guarded, monkeypatch):
    """Answer 503, whatever tag the client sends."""

    async def fails(*_arguments: object) -> None:
        raise gate.UnauditedError("the disk is full")

    tag = guarded.get(_PATH).headers["etag"]
    monkeypatch.setattr("service.api.access.audit_log.Recorder.record", fails)

    assert _status_of(guarded, **{"If-None-Match": tag}) == 503


def test_pages_and_open_paths_have_no_tag(embedded):
    """Send no tag with pages, probes and runbooks."""
    shop.fill(embedded)
    url = embedded.url.render_as_string(hide_password=False)
    with TestClient(create_app(Settings(catalog_url=url)), base_url="http://127.0.0.1") as client:
        answers = [client.get(path) for path in ("/", "/datasets", "/livez", "/runbooks/")]
        without_gate = client.get("/api/v1/slis")

    assert [(one.status_code, one.headers.get("etag")) for one in answers] == [(200, None)] * 4
    assert without_gate.headers["etag"]

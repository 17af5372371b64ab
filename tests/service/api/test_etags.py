"""Who has an answer already is not sent it again, and stands in the audit log all the same."""

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
    """The guarded API, on SQLite: what is told by the bytes is alike in both."""
    return Guarded(embedded, tmp_path)


def _known(guarded: Guarded, path: str = _PATH, who: str = "boss", **headers: str) -> int:
    return guarded.get(path, who, **headers).status_code


def test_what_is_known_already_is_not_sent_again(guarded):
    """304, without a body, with what a cache must know."""
    first = guarded.get(_PATH)
    again = guarded.get(_PATH, **{"If-None-Match": first.headers["etag"]})

    assert (first.status_code, again.status_code, again.content) == (200, 304, b"")
    for answer in (first, again):
        texts = [answer.headers[name] for name in ("etag", "cache-control", "vary")]
        assert texts == [first.headers["etag"], "private, no-cache", "Authorization"]
    assert "content-type" not in again.headers
    assert again.headers["x-content-type-options"] == "nosniff"


def test_a_change_is_another_answer(guarded):
    """By the content: not by a clock, nor by a version of the catalog."""
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
def test_the_client_may_name_its_answer_in_several_ways(guarded, given, status):
    """A list, a weak tag, any at all."""
    tag = guarded.get(_PATH).headers["etag"]

    assert _known(guarded, **{"If-None-Match": given.format(tag=tag)}) == status


def test_an_answer_that_is_known_is_audited_with_all_that_it_names(guarded):
    """One row each, with the same namespaces; and judged as any other."""
    path = "/api/v1/datasets"
    tag = guarded.get(path).headers["etag"]
    assert _known(guarded, path, **{"If-None-Match": tag}) == 304

    rows = guarded.rows("SELECT who, action, namespaces, decision FROM access_audit ORDER BY id")
    assert rows == [("boss", "datasets", '["s3://shop","s3://shop-secret"]', "allow")] * 2
    guarded.judge()
    assert guarded.m10 == (2, 2, 0)


def test_within_the_gate_it_would_be_audited_as_if_it_named_nothing(guarded, monkeypatch):
    """The mutant of the test above: the other order."""
    of_guard = guarded.guard.middleware()
    monkeypatch.setattr(guarded.guard, "middleware", lambda: [*of_guard, etags.ETags])
    monkeypatch.setattr(app, "ETags", lambda app: app)
    inner = create_app(guarded.settings, clock=lambda: guarded.now, guard=guarded.guard)
    guarded.client = TestClient(inner, base_url="http://127.0.0.1")
    tag = guarded.get(_PATH).headers["etag"]

    assert _known(guarded, **{"If-None-Match": tag}) == 304

    rows = guarded.rows("SELECT namespaces FROM access_audit ORDER BY id")
    assert rows == [('["hive://shop","s3://shop"]',), ("[]",)]


def test_a_tag_opens_nothing(guarded):
    """Neither without a token, nor to one that sees less: its answer is another."""
    path = "/api/v1/lineage?dataset=core/orders"
    tag = guarded.get(path).headers["etag"]
    any_at_all = {"If-None-Match": "*"}

    assert _known(guarded, path, "shop", **{"If-None-Match": tag}) == 200
    rejected = guarded.get(path, None, **any_at_all)
    assert (rejected.status_code, rejected.headers.get("etag")) == (401, None)
    assert _known(guarded, "/api/v1/status", "clerk", **any_at_all) == 403
    missing = guarded.get("/api/v1/runs/none", **any_at_all)
    assert (missing.status_code, missing.headers["cache-control"]) == (404, "no-store")


def test_an_answer_that_could_not_be_audited_is_no_answer(guarded, monkeypatch):
    """503, whatever the client has."""

    async def fails(*_arguments: object) -> None:
        raise gate.UnauditedError("the disk is full")

    tag = guarded.get(_PATH).headers["etag"]
    monkeypatch.setattr("service.api.access.audit.Recorder.record", fails)

    assert _known(guarded, **{"If-None-Match": tag}) == 503


def test_pages_and_what_is_open_have_no_tag(embedded):
    """Pages are drawn for one who looks; nobody keeps whether a process lives."""
    shop.fill(embedded)
    url = embedded.url.render_as_string(hide_password=False)
    with TestClient(create_app(Settings(catalog_url=url)), base_url="http://127.0.0.1") as client:
        answers = [client.get(path) for path in ("/", "/datasets", "/livez", "/runbooks/")]
        without_gate = client.get("/api/v1/slis")

    assert [(one.status_code, one.headers.get("etag")) for one in answers] == [(200, None)] * 4
    assert without_gate.headers["etag"]

"""Who may see which page, and who may press a button."""

import pytest
from sqlalchemy import insert

from alerts.routing.settings import RoutingSettings
from lineage.catalog import tables
from lineage.catalog.engine import writing
from lineage.keys import key
from service.access import gate
from service.access.sight import Sight
from tests.service import shop
from tests.service.access.estate import HIDDEN, PAYROLL, TOKENS, Estate
from tests.service.explorer import estate
from tests.service.people.conftest import answering

__all__ = ["answering"]
OWN = {"Origin": "http://127.0.0.1"}
_PATHS = (
    "/",
    "/datasets",
    "/datasets?find=salar",
    "/dataset?dataset=core/orders",
    "/dataset?dataset=raw/orders",
    "/dataset?dataset=zzz",
    "/incidents?all=true",
    f"/runs/{shop.RUN_ID}",
)


@pytest.fixture
def guarded(embedded, tmp_path):
    """Pages that ask for a token."""
    return Estate(embedded, tmp_path)


def _by_cookie(who):
    return {"Cookie": f"theme=dark; lineward_token={TOKENS[who]}"}


@pytest.mark.parametrize("path", _PATHS)
def test_no_page_names_what_may_not_be_seen(guarded, path):
    """A token of one namespace, in a browser's cookie."""
    told = guarded.get(path, None, **_by_cookie("shop"))

    assert told.status_code in (200, 404)
    assert HIDDEN not in told.text
    assert "shop-secret" not in told.text
    assert PAYROLL not in told.text


def test_who_sees_some_namespaces_is_told_that_something_is_left_out(guarded):
    """History may name anything, and so may what differs."""
    page = guarded.get("/dataset?dataset=core/orders", None, **_by_cookie("shop"))
    diff = guarded.get(f"/runs/{shop.RUN_ID}/diff/{shop.RUN_ID}", None, **_by_cookie("shop"))

    assert "Not shown to a token of some namespaces." in page.text
    assert "1 more that you may not see" in page.text
    assert diff.status_code == 403


def test_an_incident_names_nothing_that_may_not_be_seen(guarded):
    """Of its datasets and what hangs on its root; its root, evidence and runs stay untold."""
    core, hidden = shop.dataset_key(shop.CORE), key(HIDDEN, PAYROLL)
    root = estate.incident_row(estate.INCIDENT, "open", "page", f"{PAYROLL} failed", 1)
    named = {"root_name": PAYROLL, "evidence": f"{HIDDEN} is to blame"}
    with writing(guarded.catalog) as connection:
        connection.execute(insert(tables.incident), root | named)
        for dataset, steps in ((hidden, 0), (core, 1)):
            member = estate.member_row(dataset, steps, hidden if steps else None)
            connection.execute(insert(tables.incident_member), member)
            hurt = {"incident_id": estate.INCIDENT, "dataset_key": dataset, "hops": steps}
            connection.execute(insert(tables.incident_impact), hurt)
    pages = [
        guarded.get(path, None, **_by_cookie("shop")).text
        for path in ("/", "/incidents", f"/incidents/{estate.INCIDENT}")
    ]

    assert all("a fault of the kind failed" in page for page in pages)
    assert [
        word for word in (HIDDEN, PAYROLL, "4f1c0de", "Resolve") if word in "".join(pages)
    ] == []
    assert "core/orders" in pages[2]


def test_an_audit_row_holds_the_namespaces_that_a_page_named(guarded):
    """Read from its links; each access is judged, and was right."""
    guarded.get("/dataset?dataset=core/orders", None, **_by_cookie("shop"))
    guarded.get("/datasets", "boss")
    guarded.judge()

    rows = guarded.rows("SELECT who, action, namespaces FROM access_audit ORDER BY id")
    assert rows == [
        ("shop", "dataset", '["s3://shop"]'),
        ("boss", "datasets", '["s3://shop","s3://shop-secret"]'),
    ]
    assert guarded.m10 == (2.0, 2.0, 0.0)


def test_a_page_that_shows_too_much_is_found(guarded, monkeypatch):
    """The mutant: sight is blind to nothing, and the judge sees it in the links."""
    monkeypatch.setattr(Sight, "sees", lambda *_: True)
    guarded.get("/dataset?dataset=core/orders", None, **_by_cookie("shop"))
    guarded.judge()

    assert guarded.counts("lineage_access_unauthorized") == {"namespace": 1.0}


def test_what_somebody_searches_for_is_no_namespace_that_a_page_named(guarded):
    """No text can look like a link."""
    text = 'href="/dataset?dataset_namespace=s3://other'
    guarded.client.get("/datasets", params={"find": text}, headers=_by_cookie("shop"))
    guarded.judge()

    assert guarded.rows("SELECT namespaces FROM access_audit") == [("[]",)]
    assert gate.namespaces_in(f'<a {text}">'.encode()) == ["s3://other"]


def test_without_a_token_a_page_asks_for_one_and_knows_where_to_go_on(guarded):
    """401 as a page; an address that would lead elsewhere is text."""
    answer = guarded.get("/dataset?dataset=core%2Forders", None)

    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
    assert 'action="/login"' in answer.text
    assert 'name="next" value="/dataset?dataset=core%2Forders"' in answer.text
    assert "core/orders" not in answer.text
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")


def test_the_api_does_not_believe_a_cookie(guarded):
    """Only pages do: a browser sends cookies for whoever makes it."""
    assert guarded.get("/api/v1/slis", None, **_by_cookie("boss")).status_code == 401
    assert guarded.get("/schema", None, **_by_cookie("boss")).status_code == 401


def test_the_mutant_gate_that_takes_every_path_for_a_page_would(guarded, monkeypatch):
    """What is a page is said by its handler."""
    monkeypatch.setattr(gate, "is_page", lambda _: True)

    assert guarded.get("/api/v1/slis", None, **_by_cookie("boss")).status_code == 200


def _sign_in(guarded, token, wanted="/", **headers: str):
    return guarded.client.post(
        "/login",
        data={"token": token, "next": wanted},
        headers=headers or OWN,
        follow_redirects=False,
    )


def test_one_signs_in_sees_and_signs_out(guarded):
    """The token stands in a cookie that no script can read and no other site has sent along."""
    answer = _sign_in(guarded, TOKENS["boss"], "/incidents?all=true")
    kept = answer.headers["set-cookie"]

    assert (answer.status_code, answer.headers["location"]) == (303, "/incidents?all=true")
    assert "HttpOnly" in kept
    assert "SameSite=lax" in kept
    assert "Secure" not in kept
    assert "Signed in as <bdi>boss</bdi>" in guarded.client.get("/").text
    gone = guarded.client.post("/logout", headers=OWN, follow_redirects=False)
    assert gone.status_code == 303
    assert guarded.client.get("/").status_code == 401


@pytest.mark.parametrize(
    "wanted", ["//evil.test", "/\\evil.test", "https://evil.test", "/\t/evil.test", "", "x"]
)
def test_signing_in_leads_to_no_other_host(guarded, wanted):
    """What is no path of ours leads to the first page."""
    assert _sign_in(guarded, TOKENS["boss"], wanted).headers["location"] == "/"


@pytest.mark.parametrize("token", ["", "two words", "x" * 5_000, "\u00e4" * 20])
def test_what_can_be_no_token_is_refused(guarded, token):
    """400, as a page, and no cookie."""
    answer = _sign_in(guarded, token)

    assert answer.status_code == 400
    assert "set-cookie" not in answer.headers


def test_a_wrong_token_is_judged_where_it_is_shown(guarded):
    """Signing in says nothing of it; the next page does, and the audit log."""
    answer = _sign_in(guarded, "not-a-token-of-anybody")

    assert answer.status_code == 303
    assert guarded.client.get("/").status_code == 401
    assert guarded.rows("SELECT reason FROM access_audit") == [("unknown_token",)]


def test_a_token_that_is_taken_out_of_the_policy_ends_the_session_at_once(guarded):
    """The cookie holds the token, and the policy is looked at with each page."""
    _sign_in(guarded, TOKENS["boss"])
    assert guarded.client.get("/").status_code == 200
    guarded.write_policy("access: {tokens: [{name: late, sha256: %(late)s}]}\n")

    assert guarded.client.get("/").status_code == 401


def test_where_people_come_by_tls_no_cookie_goes_without(guarded):
    """The address that people are told begins with https."""
    guarded.client.app.state.routing = RoutingSettings(public_url="https://lineward.test")

    assert (
        "Secure"
        in _sign_in(guarded, TOKENS["boss"], Origin="https://lineward.test").headers["set-cookie"]
    )


_FOREIGN = (
    {},
    {"Origin": "null"},
    {"Origin": "http://evil.test"},
    {"Origin": "http://127.0.0.1.evil.test"},
    {"Origin": "http://127.0.0.1:9999"},
    {"Origin": "http://127.0.0.1", "Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "none"},
)


@pytest.mark.parametrize("headers", _FOREIGN)
def test_a_form_of_another_site_does_nothing(answering, headers):
    """Though the browser has a cookie of somebody who may."""
    number = answering.desk.one.id
    with answering.evaluated():
        for path in (f"/incidents/{number}/resolve", "/login", "/logout"):
            answer = answering.client.post(path, headers={**headers, **_by_cookie("shop")})
            assert answer.status_code == 403, path
            assert "set-cookie" not in answer.headers

    assert answering.desk.one.state == "open"
    assert answering.audited() == []
    kept = answering.rows("SELECT who, decision, reason, status FROM access_audit")
    assert kept == [("shop", "deny", "foreign_form", 403)]


def _press(answering, action, who="shop", **form: str):
    path = f"/incidents/{answering.desk.one.id}/{action}"
    headers = {"Sec-Fetch-Site": "same-origin", **_by_cookie(who)}
    with answering.evaluated():
        return answering.client.post(path, data=form, headers=headers, follow_redirects=False)


@pytest.mark.parametrize(
    ("action", "form", "state"),
    [
        ("acknowledge", {"note": "on it", "for": "1h"}, "acknowledged"),
        ("suppress", {"for": "4h", "note": ""}, "suppressed"),
        ("resolve", {"note": "mended"}, "resolved"),
    ],
)
def test_a_button_does_what_the_api_does(answering, action, form, state):
    """In the name of the token, and the log says that it was a page."""
    answer = _press(answering, action, **form)

    where = f"/incidents/{answering.desk.one.id}?did={action}"
    assert (answer.status_code, answer.headers["location"]) == (303, where)
    assert answering.desk.one.state == state
    assert answering.audited()[0] == ("shop", "page", action, None)


def test_what_the_incident_refuses_is_told_on_a_page(answering):
    """409 with the reason."""
    answer = _press(answering, "unsuppress")

    assert answer.status_code == 409
    assert "it is open: to unsuppress it" in answer.text


@pytest.mark.parametrize("who", ["clerk", "late"])
def test_who_only_reads_or_sees_some_namespaces_presses_nothing(answering, who):
    """403; whoever sees some namespaces has no button either."""
    assert _press(answering, "acknowledge", who).status_code == 403
    assert answering.desk.one.state == "open"


def test_pages_need_no_token_where_the_api_needs_none(answering):
    """Who presses then is anybody, and the page says so before."""
    answering.write_policy("time_zone: Europe/Berlin\n")
    with answering.evaluated():
        path = f"/incidents/{answering.desk.one.id}"
        page = answering.client.get(path)
        done = answering.client.post(f"{path}/acknowledge", headers=OWN, follow_redirects=False)

    assert "as anybody" in page.text
    assert done.status_code == 303
    assert answering.audited()[0][0] == "anybody"


def test_the_first_page_shows_a_cut_token_its_own_counts(guarded):
    """Four datasets, not five: the hidden one is in no number."""
    own = guarded.get("/", None, **_by_cookie("shop")).text
    every = guarded.get("/", "boss").text

    assert "<b>1</b>" in own
    assert ("2 datasets are bad" in every, "2 datasets are bad" in own) == (True, False)

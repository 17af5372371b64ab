"""Tokens of a browser: how one signs in, and what a cookie is good for."""

import pytest

from alerts.notify.settings import RoutingSettings
from service.api.access import gate
from tests.service.api.access.estate import TOKENS
from tests.service.explorer.asked import OWN, by_cookie


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
    assert guarded.get("/api/v1/slis", None, **by_cookie("boss")).status_code == 401
    assert guarded.get("/schema", None, **by_cookie("boss")).status_code == 401


def test_the_mutant_gate_that_takes_every_path_for_a_page_would(guarded, monkeypatch):
    """What is a page is said by its handler."""
    monkeypatch.setattr(gate, "is_page", lambda _: True)

    assert guarded.get("/api/v1/slis", None, **by_cookie("boss")).status_code == 200


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
    guarded.write_policy("access: {tokens: [{name: late, sha256: %(late)s}]}\n...\n")

    assert guarded.client.get("/").status_code == 401


def test_where_people_come_by_tls_no_cookie_goes_without(guarded):
    """The address that people are told begins with https."""
    guarded.client.app.state.routing = RoutingSettings(public_url="https://lineward.test")

    assert (
        "Secure"
        in _sign_in(guarded, TOKENS["boss"], Origin="https://lineward.test").headers["set-cookie"]
    )

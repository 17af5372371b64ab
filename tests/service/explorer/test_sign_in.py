"""Tokens of a browser: how one signs in, and what a cookie is good for."""

import pytest

from alerts.notify.settings import RoutingSettings
from service.api.access import gate
from tests.service.api.access.estate import TOKENS
from tests.service.explorer.browser_headers import OWN, by_cookie


def test_a_page_without_a_token_asks_for_one_and_returns(guarded):
    """Answer 401 as a page, and treat a foreign address as text."""
    answer = guarded.get("/dataset?dataset=core%2Forders", None)

    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
    assert 'action="/login"' in answer.text
    assert 'name="next" value="/dataset?dataset=core%2Forders"' in answer.text
    assert "core/orders" not in answer.text
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")


def test_the_api_accepts_no_cookie(guarded):
    """Accept it on pages only, as browsers send cookies with requests of any site."""
    assert guarded.get("/api/v1/slis", None, **by_cookie("boss")).status_code == 401
    assert guarded.get("/schema", None, **by_cookie("boss")).status_code == 401


def test_a_gate_that_takes_every_path_for_a_page_accepts_a_cookie(guarded, monkeypatch):
    """Run the mutant: treat every path as a page."""
    monkeypatch.setattr(gate, "is_page", lambda _: True)

    assert guarded.get("/api/v1/slis", None, **by_cookie("boss")).status_code == 200


def _sign_in(guarded, token, wanted="/", **headers: str):
    return guarded.client.post(
        "/login",
        data={"token": token, "next": wanted},
        headers=headers or OWN,
        follow_redirects=False,
    )


def test_a_user_signs_in_and_out(guarded):
    """Store the token in a cookie for which scripts and other sites have no access."""
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
    """Lead to the first page if the address is no path of the service."""
    assert _sign_in(guarded, TOKENS["boss"], wanted).headers["location"] == "/"


@pytest.mark.parametrize("token", ["", "two words", "x" * 5_000, "\u00e4" * 20])
def test_an_impossible_token_is_rejected(guarded, token):
    """Answer 400 as a page, and set no cookie."""
    answer = _sign_in(guarded, token)

    assert answer.status_code == 400
    assert "set-cookie" not in answer.headers


def test_a_wrong_token_is_rejected_by_the_next_page(guarded):
    """Accept the form, answer 401 to the next page, and audit it."""
    answer = _sign_in(guarded, "not-a-token-of-anybody")

    assert answer.status_code == 303
    assert guarded.client.get("/").status_code == 401
    assert guarded.rows("SELECT reason FROM access_audit") == [("unknown_token",)]


def test_a_token_removed_from_the_policy_ends_the_session(guarded):
    """Check the token of the cookie against the policy for each page."""
    _sign_in(guarded, TOKENS["boss"])
    assert guarded.client.get("/").status_code == 200
    guarded.write_policy("access: {tokens: [{name: late, sha256: %(late)s}]}\n...\n")

    assert guarded.client.get("/").status_code == 401


def test_the_cookie_needs_tls_if_the_address_has_it(guarded):
    """Set `Secure` if the public address begins with https."""
    guarded.client.app.state.routing = RoutingSettings(public_url="https://lineward.test")

    assert (
        "Secure"
        in _sign_in(guarded, TOKENS["boss"], Origin="https://lineward.test").headers["set-cookie"]
    )

"""Buttons of pages: permissions and effects."""

import pytest

from tests.service.explorer.browser_headers import OWN, by_cookie
from tests.service.incidents.people.conftest import answering

__all__ = ["answering"]
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
def test_form_of_another_site_is_rejected(answering, headers):
    """Reject the form although the browser has a valid cookie."""
    number = answering.incidents.one.id
    with answering.evaluating():
        for path in (f"/incidents/{number}/resolve", "/login", "/logout"):
            answer = answering.client.post(path, headers={**headers, **by_cookie("shop")})
            assert answer.status_code == 403, path
            assert "set-cookie" not in answer.headers

    assert answering.incidents.one.state == "open"
    assert answering.audit_rows() == []
    kept = answering.rows("SELECT who, decision, reason, status FROM access_audit")
    assert kept == [("shop", "deny", "foreign_form", 403)]


def _press(answering, action, who="shop", **form: str):
    path = f"/incidents/{answering.incidents.one.id}/{action}"
    headers = {"Sec-Fetch-Site": "same-origin", **by_cookie(who)}
    with answering.evaluating():
        return answering.client.post(path, data=form, headers=headers, follow_redirects=False)


@pytest.mark.parametrize(
    ("action", "form", "state"),
    [
        ("acknowledge", {"note": "on it", "for": "1h"}, "acknowledged"),
        ("suppress", {"for": "4h", "note": ""}, "suppressed"),
        ("resolve", {"note": "fixed"}, "resolved"),
    ],
)
def test_button_has_the_effect_of_the_api(answering, action, form, state):
    """Record the name of the token, and `page` as the source."""
    answer = _press(answering, action, **form)

    where = f"/incidents/{answering.incidents.one.id}?did={action}"
    assert (answer.status_code, answer.headers["location"]) == (303, where)
    assert answering.incidents.one.state == state
    assert answering.audit_rows()[0] == ("shop", "page", action, None)


@pytest.mark.parametrize("note", ["", "  "])
def test_resolve_needs_a_reason(answering, note):
    """Reject an empty reason on the server too: a slip would hide a bad dataset."""
    answer = _press(answering, "resolve", note=note)

    assert (answer.status_code, "reason: missing" in answer.text) == (400, True)
    assert answering.incidents.one.state == "open"


def test_conflicting_action_is_explained_on_a_page(answering):
    """Answer 409 with the reason."""
    answer = _press(answering, "unsuppress")

    assert answer.status_code == 409
    assert "it is open: to unsuppress it" in answer.text


@pytest.mark.parametrize("who", ["clerk", "late"])
def test_readers_and_limited_tokens_may_not_act(answering, who):
    """Answer 403; a token of some namespaces sees no buttons either."""
    assert _press(answering, "acknowledge", who).status_code == 403
    assert answering.incidents.one.state == "open"


def test_pages_need_no_token_without_access_rules(answering):
    """Record `anybody` as the user."""
    answering.write_policy("time_zone: Europe/Berlin\n")
    with answering.evaluating():
        path = f"/incidents/{answering.incidents.one.id}"
        page = answering.client.get(path)
        done = answering.client.post(f"{path}/acknowledge", headers=OWN, follow_redirects=False)

    assert "<h2>Actions</h2>" in page.text
    assert done.status_code == 303
    assert answering.audit_rows()[0][0] == "anybody"

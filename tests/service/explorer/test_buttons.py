"""Who may press a button of a page, and what it does."""

import pytest

from tests.service.explorer.asked import OWN, by_cookie
from tests.service.people.conftest import answering

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
def test_a_form_of_another_site_does_nothing(answering, headers):
    """Though the browser has a cookie of somebody who may."""
    number = answering.desk.one.id
    with answering.evaluated():
        for path in (f"/incidents/{number}/resolve", "/login", "/logout"):
            answer = answering.client.post(path, headers={**headers, **by_cookie("shop")})
            assert answer.status_code == 403, path
            assert "set-cookie" not in answer.headers

    assert answering.desk.one.state == "open"
    assert answering.audited() == []
    kept = answering.rows("SELECT who, decision, reason, status FROM access_audit")
    assert kept == [("shop", "deny", "foreign_form", 403)]


def _press(answering, action, who="shop", **form: str):
    path = f"/incidents/{answering.desk.one.id}/{action}"
    headers = {"Sec-Fetch-Site": "same-origin", **by_cookie(who)}
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


@pytest.mark.parametrize("note", ["", "  "])
def test_nothing_is_resolved_without_a_word_why(answering, note):
    """One slip would hide what is still bad; the browser asks first, and so do we."""
    answer = _press(answering, "resolve", note=note)

    assert (answer.status_code, "why: missing" in answer.text) == (400, True)
    assert answering.desk.one.state == "open"


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

"""Suppression windows by the API."""

import pytest

_PATH = "/api/v1/suppressions"
_WISH = {"pattern": "s3://shop/core/*", "reason": "a move", "for": "2h"}


def _listed(answering, query=""):
    return answering.get(f"{_PATH}{query}", "boss").json()["suppressions"]


def test_a_window_is_begun_listed_and_ended(answering):
    """201 with its number, there from now for two hours, gone with 204."""
    begun = answering.send("POST", _PATH, _WISH)
    number = begun.json()["id"]

    assert (begun.status_code, begun.json()["datasets"]) == (201, 1)
    assert _listed(answering) == [
        {
            "id": number,
            "name": "s3://shop/core/*",
            "pattern": "s3://shop/core/*",
            "from": "2026-11-21T12:00:00.000Z",
            "until": "2026-11-21T14:00:00.000Z",
            "state": "active",
            "cron": None,
            "by": "shop",
            "via": "api",
            "reason": "a move",
        }
    ]
    assert answering.send("DELETE", f"{_PATH}/{number}").status_code == 204
    assert _listed(answering) == []
    assert [row["state"] for row in _listed(answering, "?ended=true")] == ["ended"]
    assert answering.audited() == [
        ("shop", "api", "suppress_pattern", "done"),
        ("shop", "api", "end_suppression", "done"),
    ]


def test_the_policys_windows_are_listed_beside_them(answering):
    """One that comes by cron with its present window, or its next; what is over is left out."""
    policy = answering.policy.read_text().replace("%", "%%") + (
        "suppressions:\n"
        "- {name: gone, match: x, from: 2026-11-20T00:00:00Z, until: 2026-11-20T01:00:00Z}\n"
        "- {name: soon, match: x, from: 2026-11-22T00:00:00Z, until: 2026-11-23T00:00:00Z}\n"
        "- {name: night, match: {namespace: db}, cron: 0 2 * * *, for: 1h}\n"
    )
    answering.write_policy(policy)

    found = [
        (row["name"], row["pattern"], row["from"], row["state"], row["cron"], row["id"])
        for row in _listed(answering)
    ]

    assert found == [
        ("night", "db *", "2026-11-22T01:00:00.000Z", "planned", "0 2 * * *", None),
        ("soon", "x", "2026-11-22T00:00:00.000Z", "planned", None, None),
    ]


@pytest.mark.parametrize(
    ("action_request", "status", "words"),
    [
        ({}, 400, "body: Object missing required field `pattern`"),
        ({"pattern": "x", "reason": "y"}, 400, "until: missing; an open window"),
        ({**_WISH, "until": "2026-11-21T15:00:00Z"}, 400, "until, for: give exactly one"),
        ({**_WISH, "for": "31d"}, 400, "until: a window lasts 30 days at most"),
        ({**_WISH, "pattern": ""}, 400, "pattern: empty"),
        ({**_WISH, "pattern": "a\u0007"}, 400, "pattern: holds U+0007"),
        ({**_WISH, "reason": "a\u0000"}, 400, "body: contains a NUL character"),
        ({**_WISH, "from": "tomorrow"}, 400, "from: expected a timestamp"),
        ({**_WISH, "from": "0001-01-01T00:00:00+14:00"}, 400, "from: expected a time of the years"),
        ({**_WISH, "from": "9999-12-31T23:59:59Z"}, 400, "from: expected a time of the years"),
        ({**_WISH, "from": "2999-12-31T23:59:59Z"}, 400, "from: 2999-12-31 23:59:59 UTC is more"),
        (
            {"pattern": "x", "reason": "y", "until": "9999-12-31T23:59:59-14:00"},
            400,
            "until: expected a time of the years 1970 to 2999, got '9999-12-31T23:59:59-14:00'",
        ),
        (
            {"pattern": "x", "reason": "y", "until": "2026-11-21T11:59:59Z"},
            400,
            "until: 2026-11-21 11:59:59 UTC is in the past",
        ),
    ],
)
def test_a_window_that_is_refused_names_the_place(answering, action_request, status, words):
    """Nothing is hidden by it."""
    answer = answering.send("POST", _PATH, action_request)

    assert answer.status_code == status
    assert words in answer.json()["detail"]
    assert answering.rows("SELECT id FROM suppression") == []


def test_a_refused_window_is_audited(answering):
    """Who wanted to hide everything for ever."""
    answering.send("POST", _PATH, {"pattern": "*", "reason": "peace"})

    ((who, _, action, answer),) = answering.audited()
    assert (who, action) == ("shop", "suppress_pattern")
    assert answer.startswith("rejected: until: missing")


def test_a_window_that_is_not_there_or_over_cannot_be_ended(answering):
    """404 for the one, 409 for the other, and both are audited."""
    number = answering.send("POST", _PATH, _WISH).json()["id"]
    codes = [
        answering.send("DELETE", f"{_PATH}/{which}").status_code for which in (77, number, number)
    ]

    assert codes == [404, 204, 409]
    assert [row[-1].partition(":")[0] for row in answering.audited()] == [
        *("done", "rejected", "done", "rejected"),
    ]


def test_the_audit_log_is_read_by_page_and_by_person(answering):
    """The newest first; `next_cursor` leads on."""
    for _ in range(3):
        answering.send("POST", _PATH, _WISH)
    answering.send("POST", _PATH, _WISH, "boss")

    page = answering.get("/api/v1/audit?limit=2", "boss").json()
    older = answering.get(f"/api/v1/audit?cursor={page['next_cursor']}", "boss").json()
    boss = answering.get("/api/v1/audit?who=boss&action=suppress_pattern", "boss").json()

    assert [row["id"] for row in page["rows"] + older["rows"]] == [4, 3, 2, 1]
    assert (page["partial"], older["partial"], len(boss["rows"])) == (True, False, 1)
    assert boss["rows"][0]["answer"] == "done"

"""Requests that the gate of the API allows or rejects."""

import json

import pytest
from sqlalchemy import text

from lineage.catalog.engine import write_transaction
from service.api.access.access_auditor import DENIED_METRIC
from tests.service import shop
from tests.service.api.access.estate import HIDDEN, PAYROLL, POLICY, TOKENS, Estate
from tests.suite.disks import fill

pytestmark = pytest.mark.postgres_nightly

_QUERY = "/api/v1/lineage?dataset=core/orders"


@pytest.mark.postgres_always
@pytest.mark.parametrize(
    ("shown", "reason"),
    [
        (None, "no_token"),
        ("", "malformed_token"),
        ("Bearer", "malformed_token"),
        (f"Basic {TOKENS['boss']}", "malformed_token"),
        (f"Bearer {TOKENS['boss']} {TOKENS['boss']}", "malformed_token"),
        (f"Bearer {TOKENS['boss'][:-1]}", "unknown_token"),
        (f"Bearer {TOKENS['boss']}x", "unknown_token"),
        (f"Bearer {TOKENS['boss'].upper()}", "unknown_token"),
        ("Bearer eyJhbGciOiJub25lIn0.e30.", "unknown_token"),
    ],
)
def test_without_a_known_token_nothing_is_answered(estate, shown, reason):
    """Answer 401 without the token in it, write an audit row, and count."""
    answer = estate.client.get(_QUERY, headers={} if shown is None else {"Authorization": shown})

    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
    assert answer.headers["content-type"] == "application/problem+json"
    assert TOKENS["boss"][:-1] not in answer.text
    estate.judge()
    assert estate.counts(DENIED_METRIC) == {reason: 1.0}
    rows = estate.rows("SELECT who, action, decision, reason, status FROM access_audit")
    assert rows == [("", "lineage", "deny", reason, 401)]
    assert estate.m10 is None


def test_two_authorization_headers_are_rejected(estate):
    """Answer 401, as readers disagree on which header counts."""
    both = [("Authorization", f"Bearer {TOKENS[name]}") for name in ("boss", "shop")]

    assert estate.client.get(_QUERY, headers=both).status_code == 401


@pytest.mark.postgres_always
def test_a_token_in_the_query_is_ignored_and_not_stored(estate):
    """Audit the request without the token, since addresses end in logs."""
    answer = estate.get(f"{_QUERY}&access_token={TOKENS['boss']}&token={TOKENS['boss']}", None)

    assert answer.status_code == 401
    assert estate.rows("SELECT subject FROM access_audit") == [("dataset=core/orders",)]
    assert TOKENS["boss"] not in json.dumps(estate.rows("SELECT * FROM access_audit"))


@pytest.mark.parametrize("odd", ["%00", "%ED%A0%80", "%FF", "x" * 5_000, "%1b[2J%0a"])
def test_any_subject_can_be_audited(estate, odd):
    """Store a row for any text, and reject the request like any other."""
    assert estate.get(f"/api/v1/lineage?dataset={odd}", None).status_code == 401

    ((subject,),) = estate.rows("SELECT subject FROM access_audit")
    assert subject.startswith("dataset=")
    assert len(subject) <= 300


def test_no_token_is_stored_and_no_hash_that_leads_to_one(estate):
    """Store fingerprints only: hashes of hashes, cut."""
    estate.get(_QUERY)

    held = json.dumps(
        estate.rows("SELECT * FROM access_audit") + estate.rows("SELECT * FROM access_version")
    )
    assert not any(token in held for token in TOKENS.values())
    assert estate.policy.read_text().split("sha256: ")[1][:64] not in held


def test_each_path_needs_its_role(estate):
    """Answer 403 to a reader for the status, and for paths without a handler's rule."""
    found = {
        (who, path): estate.get(path, who).status_code
        for who in ("clerk", "boss")
        for path in ("/api/v1/datasets", "/api/v1/status", "/schema")
    }

    assert found == {
        ("clerk", "/api/v1/datasets"): 200,
        ("clerk", "/api/v1/status"): 403,
        ("clerk", "/schema"): 403,
        ("boss", "/api/v1/datasets"): 200,
        ("boss", "/api/v1/status"): 200,
        ("boss", "/schema"): 200,
    }


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/lineage/?dataset=core/orders",
        "//api/v1/lineage?dataset=core/orders",
        "/api//v1///lineage?dataset=core/orders",
        "/api/v1/%6Cineage?dataset=core/orders",
        "/api%2Fv1%2Flineage?dataset=core/orders",
        "/API/v1/lineage?dataset=core/orders",
        "/livez/../api/v1/lineage?dataset=core/orders",
        "/livez/..%2fapi/v1/lineage?dataset=core/orders",
        "/livez%2F..%2Fapi%2Fv1%2Flineage?dataset=core/orders",
        "/livez;/api/v1/lineage?dataset=core/orders",
        "/api/v1/lineage%00?dataset=core/orders",
        "/api/v1/runs/..%2f..%2flivez",
        "/schema/openapi.json",
    ],
)
def test_no_spelling_of_a_path_leads_around_the_gate(estate, path):
    """Bind the gate to the handler: every spelling is rejected or not found."""
    answer = estate.get(path, None)

    assert answer.status_code in {400, 401, 404}
    assert shop.CORE not in answer.text


@pytest.mark.parametrize("path", ["/livez", "/readyz"])
def test_probes_stay_open(estate, path):
    """Answer without a token and without an audit row, as no dataset is named."""
    assert estate.get(path, None).status_code == 200
    estate.judge()
    assert estate.rows("SELECT * FROM access_audit") == []


def test_a_token_expires(estate):
    """Answer 401 from the second of its expiry."""
    assert estate.get(_QUERY, "late").status_code == 200
    estate.now = estate.now.replace(minute=30)

    rejected = estate.get(_QUERY, "late")

    assert (rejected.status_code, rejected.json()["detail"]) == (401, "the token has expired")


def test_a_token_removed_from_the_policy_is_rejected_at_once(estate):
    """Read again at the next request; the others stay."""
    assert estate.get(_QUERY, "shop").status_code == 200
    kept = [line for line in _lines(estate) if "name: shop" not in line]
    estate.write_policy("\n".join([*kept, ""]))

    assert estate.get(_QUERY, "shop").status_code == 401
    assert estate.get(_QUERY, "boss").status_code == 200


def test_a_token_is_replaced_by_replacing_its_file(estate):
    """Reject the old token at once, without a change of the policy."""
    assert estate.get(_QUERY, "clerk").status_code == 200
    estate.token_file.write_text("clerk-another-0123456789")

    assert estate.get(_QUERY, "clerk").status_code == 401
    assert estate.get(_QUERY, "clerk-another-0123456789").status_code == 200


@pytest.mark.parametrize("content", ["", "short", None])
def test_a_token_file_without_a_valid_token_admits_nobody(estate, content):
    """Reject the token of an empty, short or missing file, and accept the others."""
    if content is None:
        estate.token_file.unlink()
    else:
        estate.token_file.write_text(content)

    assert estate.get(_QUERY, content or "clerk").status_code == 401
    assert estate.get(_QUERY, "boss").status_code == 200


@pytest.mark.parametrize(
    "wrong",
    [
        *("access: {tokens: [{name: x}]}", "acces: {}", "access:\n", "{"),
        *("", "\n  \n", "# nothing\n", "access: {tok", "access:\n  tokens:\n    - {name: boss"),
    ],
)
def test_a_wrong_policy_opens_nothing(estate, wrong):
    """Keep the policy before it; a service that starts with it answers 503 and is not ready."""
    assert estate.get(_QUERY).status_code == 200
    estate.policy.write_text(wrong)

    assert estate.get(_QUERY, None).status_code == 401
    assert estate.get(_QUERY).status_code == 200
    assert estate.get("/readyz", None).status_code == 200
    estate.restart()
    assert estate.get(_QUERY).status_code == 503
    assert estate.get("/readyz", None).status_code == 503
    assert estate.get("/livez", None).status_code == 200


def test_no_beginning_of_the_policy_opens_the_api(estate):
    """Keep the policy before it for each cut at a line's end or within a line."""
    whole = estate.policy.read_text()
    assert estate.get(_QUERY).status_code == 200
    for length in range(0, len(whole), 7):
        estate.policy.write_text(whole[:length])
        assert estate.get(_QUERY, None).status_code == 401, whole[:length]
        hidden = estate.get("/api/v1/datasets", "shop")
        assert PAYROLL not in hidden.text, whole[:length]


def test_only_access_off_opens_the_api_again(estate):
    """Reject a policy that lacks the section, and report it in the status."""
    assert estate.get(_QUERY).status_code == 200
    estate.policy.write_text("retention_days: 30\n")
    assert estate.get(_QUERY, None).status_code == 401
    (answer,) = estate.get("/api/v1/status").json()["policies"]
    assert (answer["role"], "access: off" in answer["error"]) == ("service", True)

    estate.policy.write_text("retention_days: 30\naccess: off\n")

    assert estate.get(_QUERY, None).status_code == 200
    (answer,) = estate.get("/api/v1/status", None).json()["policies"]
    assert answer["error"] is None


def test_a_policy_that_goes_away_opens_nothing(estate):
    """Keep the policy in force when its file is deleted."""
    assert estate.get(_QUERY).status_code == 200
    estate.policy.unlink()

    assert estate.get(_QUERY, None).status_code == 401


def test_without_an_access_section_requests_are_open_and_not_counted(estate):
    """Write no audit row, no version and no sample."""
    estate.write_policy("retention_days: 30\n")

    assert estate.get(_QUERY, None).status_code == 200
    estate.judge()
    assert estate.m10 is None
    assert estate.rows("SELECT * FROM access_audit") == []
    assert estate.rows("SELECT * FROM access_version") == []


def test_a_full_disk_that_prevents_the_audit_is_answered_503(on_disk, disk, tmp_path):
    """Answer 503 until there is space; then answer, and write the row and its version."""
    estate = Estate(on_disk, tmp_path)
    assert estate.get(_QUERY).status_code == 200
    before = _accesses(estate), _versions(estate)
    estate.write_policy(POLICY.replace("T12:30:00Z", "T12:29:00Z"))
    ballast = fill(disk, on_disk)

    rejected = estate.get(_QUERY)
    assert (rejected.status_code, shop.CORE in rejected.text) == (503, False)
    assert (_accesses(estate), _versions(estate)) == before

    ballast.unlink()
    assert estate.get(_QUERY).status_code == 200
    assert (_accesses(estate), _versions(estate)) == (before[0] + 1, before[1] + 1)


@pytest.mark.parametrize("catalogs", ["postgresql"], indirect=True)
def test_a_full_postgresql_that_prevents_the_audit_is_answered_503(estate):
    """Raise the error of a server whose disk is full."""
    assert estate.get(_QUERY).status_code == 200
    before = _accesses(estate), _versions(estate)
    estate.write_policy(POLICY.replace("T12:30:00Z", "T12:29:00Z"))
    with write_transaction(estate.catalog) as connection:
        connection.execute(text(_FULL))
        connection.execute(text(_RAISES))

    rejected = estate.get(_QUERY)
    assert (rejected.status_code, shop.CORE in rejected.text) == (503, False)
    assert (_accesses(estate), _versions(estate)) == before

    with write_transaction(estate.catalog) as connection:
        connection.execute(text("DROP TRIGGER full_disk ON access_audit"))
    assert estate.get(_QUERY).status_code == 200
    assert (_accesses(estate), _versions(estate)) == (before[0] + 1, before[1] + 1)


def _accesses(estate):
    return estate.rows("SELECT count(*) FROM access_audit")[0][0]


def _versions(estate):
    return estate.rows("SELECT count(*) FROM access_version")[0][0]


_FULL = """
    CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'No space left on device' USING ERRCODE = '53100'; END $$
"""
_RAISES = """
    CREATE TRIGGER full_disk BEFORE INSERT ON access_audit
    FOR EACH STATEMENT EXECUTE FUNCTION full_disk()
"""


@pytest.mark.postgres_always
def test_an_audit_row_has_token_action_subject_and_version(estate):
    """Write the subject, the namespaces in the answer, and the hash of the policy in force."""
    estate.get("/api/v1/dataset?dataset=core/orders", "boss")

    ((who, action, subject, named, decision, version),) = estate.rows(
        "SELECT who, action, subject, namespaces, decision, version FROM access_audit"
    )

    assert (who, action, subject, decision) == (
        *("boss", "dataset", "dataset=core/orders"),
        "allow",
    )
    assert json.loads(named) == ["hive://shop", shop.NAMESPACE]
    assert [(version,)] == estate.rows("SELECT hash FROM access_version")


def test_a_hidden_namespace_is_rejected_whatever_it_contains(estate):
    """Answer 403 in the same words for datasets that exist and that do not."""
    answers = [
        estate.get("/api/v1/dataset", "shop").status_code,
        *(
            estate.get(
                f"/api/v1/dataset?dataset={name}&dataset_namespace=s3%3A%2F%2Fshop-secret", "shop"
            ).text
            for name in (PAYROLL, "nothing")
        ),
    ]

    assert answers[0] == 400
    assert answers[1] == answers[2]
    assert '"status":403' in answers[1]
    estate.judge()
    assert estate.counts(DENIED_METRIC) == {"namespace": 2.0}


def _lines(estate: Estate) -> list[str]:
    return estate.policy.read_text().splitlines()


def test_the_hidden_namespace_is_a_look_alike(estate):
    """Check what the tests below rely on: an admin sees it, and its name begins like the shop's."""
    assert HIDDEN.startswith(shop.NAMESPACE)
    assert PAYROLL in estate.get("/api/v1/datasets").text

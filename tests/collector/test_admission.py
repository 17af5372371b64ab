"""Permissions of senders: other hosts, other sites, and the headers of Lineward's senders."""

import stat

import pytest

from tests.collector.bodies import body, new_body, run_event
from tests.suite.http_client import CLIENT


def _stored_origins(collector, raw):
    rows = collector.rows("SELECT origin, body FROM event")
    return [origin for origin, kept in rows if kept == raw]


def _ignored_count(collector, header):
    text = CLIENT.get(f"{collector.url}/metrics").text
    name = f'lineage_collector_ignored_headers_total{{header="{header}"}}'
    return sum(float(row.split()[-1]) for row in text.splitlines() if row.startswith(name))


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example:8700", "10.1.2.3", "db"])
def test_another_host_is_rejected(collector, host):
    """Reject a page whose own name resolves to 127.0.0.1 (DNS rebinding)."""
    raw = new_body()

    answers = [
        collector.post(raw, host=host),
        CLIENT.get(f"{collector.url}/metrics", headers={"host": host}),
    ]

    assert [answer.status_code for answer in answers] == [400, 400]
    assert "LINEWARD_ALLOWED_HOSTS" in answers[0].json()["detail"]
    assert _stored_origins(collector, raw) == []


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:1", "[::1]:8700", "LOCALHOST:8700"])
def test_names_of_this_machine_are_served(collector, host):
    """Accept the spellings of senders on this machine."""
    assert collector.post(new_body(), host=host).status_code == 201


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example", "sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site", "content_type": "text/plain"},
        {"origin": "null"},
        {"origin": "http://localhost:3000"},
        {"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate"},
    ],
    ids=["fetch", "other port", "sandbox", "old browser", "form"],
)
def test_a_page_of_another_site_cannot_post(collector, headers):
    """Reject posts that any web page could send to 127.0.0.1 by a developer's browser."""
    raw = new_body()

    answer = collector.post(raw, **headers)

    assert (answer.status_code, answer.json()["error"]) == (403, "ForeignRequestError")
    assert _stored_origins(collector, raw) == []


@pytest.mark.parametrize("content_type", ["application/json", "application/x-www-form-urlencoded"])
def test_posts_of_programs_are_accepted(collector, content_type):
    """Accept `curl -d`, which declares its body as a form."""
    assert collector.post(new_body(), content_type=content_type).status_code == 201


def test_the_secret_of_own_senders_is_readable_by_its_owner_only(start):
    """Keep it over a restart, as senders on other machines have copies."""
    collector = start().ready()
    secret = collector.secret()
    modes = [
        stat.S_IMODE(path.stat().st_mode) for path in (collector.folder, collector.secret_file)
    ]
    collector.kill()

    assert modes == [0o700, 0o600]
    assert len(secret) >= 32
    assert start(port=collector.port).ready().secret() == secret


@pytest.mark.parametrize("origin", ["history", "marquez", "marquez-history", "file", "nonsense"])
def test_an_origin_that_another_sender_claims_is_ignored_and_counted(collector, origin):
    """Store the event as sent over HTTP: other origins count in no SLI or are not forwarded."""
    raw = new_body()
    before = _ignored_count(collector, "lineward-origin")

    answer = collector.post(raw, lineward_origin=origin)

    assert answer.status_code == 201
    assert _stored_origins(collector, raw) == ["http"]
    assert _ignored_count(collector, "lineward-origin") - before == 1


def test_other_headers_of_another_sender_are_ignored_and_counted(collector):
    """Judge the event as any other, and keep the rejected one."""
    raw = body(run_event(run=None))
    collector.post(raw)
    ((number,),) = collector.rows("SELECT max(id) FROM rejected")
    good = new_body()

    cut = collector.post(good, lineward_too_large="9 bytes at /etc/passwd")
    requeued = collector.post(raw, lineward_requeued=str(number))

    assert (cut.status_code, requeued.status_code) == (201, 400)
    assert (number,) in collector.rows("SELECT id FROM rejected")
    assert _ignored_count(collector, "lineward-too-large") == 1
    assert _ignored_count(collector, "lineward-requeued") == 1


@pytest.mark.parametrize("secret", ["", "x" * 43, "x" * 31 + "é"])
@pytest.mark.parametrize(
    "marks", [{"lineward_origin": "history"}, {"lineward_requeued": "1"}], ids=["origin", "number"]
)
def test_an_own_sender_with_a_wrong_secret_gets_the_setting_s_name(collector, secret, marks):
    """Reject it, as its history would count as current and burn error budgets."""
    raw = new_body()

    answer = CLIENT.post(
        f"{collector.url}/api/v1/lineage",
        content=raw,
        headers=[("lineward-reader", secret.encode())]
        + [(name.replace("_", "-"), value) for name, value in marks.items()],
    )

    assert answer.status_code == 401
    assert "LINEWARD_SENDER_SECRET_FILE" in answer.json()["detail"]
    assert _stored_origins(collector, raw) == []


@pytest.mark.parametrize("origin", ["file", "kafka"])
def test_shipped_events_are_accepted_with_a_wrong_secret(collector, origin):
    """Count it like an event over HTTP, so that no event waits for a setting."""
    raw = new_body()

    assert collector.post(raw, lineward_reader="", lineward_origin=origin).status_code == 201
    assert _stored_origins(collector, raw) == ["http"]


def test_an_own_sender_may_use_the_token(start, tmp_path):
    """Accept the token, which senders on other machines have already."""
    token = tmp_path / "token"
    token.write_text("s3cret-x")
    collector = start(token_file=token).ready()
    raw, other = new_body(), new_body()

    shown = collector.post(raw, authorization="Bearer s3cret-x", lineward_origin="history")
    hidden = collector.post_as_own(other, lineward_origin="history")

    assert (shown.status_code, hidden.status_code) == (201, 401)
    assert _stored_origins(collector, raw) == ["history"]


def test_an_invalid_secret_is_logged_and_no_event_accepted(start, tmp_path):
    """Reject a short secret, which would be easy to guess."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "reader.secret").write_text("short")
    collector = start()

    assert collector.post(new_body()).status_code == 503
    assert "reader.secret: expected at least 32" in collector.log()

"""Fakes of providers: they reject what the originals reject, so that tests prove something."""

import json
import ssl

import httpx
import pytest
import trustme

from tests.fakes.pagerduty import FakePagerDuty
from tests.fakes.receiver import FakeReceiver
from tests.fakes.slack import FakeSlack, fits
from tests.suite.http_client import CLIENT


def _section(text: str) -> dict[str, object]:
    return {"type": "section", "text": {"type": "plain_text", "text": text}}


@pytest.mark.parametrize(
    ("blocks", "is_taken"),
    [
        ([_section("x" * 3_000)] * 50, True),
        ([_section("x" * 3_001)], False),
        ([_section("")], False),
        ([_section("x")] * 51, False),
        ([{"type": "header", "text": {"text": "x" * 151}}], False),
        ([{"type": "section", "fields": [{"text": "x" * 2_001}]}], False),
    ],
)
def test_slack_rejects_blocks_beyond_its_limits(blocks, is_taken):
    """Limit 50 blocks, 3,000 characters a text, 150 a header, 2,000 a field."""
    assert fits(blocks) is is_taken


def test_slack_returns_history_by_id_and_metadata_on_request():
    """Require an id instead of a name, and leave metadata out by default, as documented."""
    fake = FakeSlack()
    fake.start()
    headers = {"Authorization": f"Bearer {fake.token}"}
    with httpx.Client(base_url=fake.url, headers=headers) as client:
        client.post("chat.postMessage", json={"channel": "#data", "metadata": {"event_type": "e"}})

        def history(**fields: str) -> dict[str, object]:
            return dict(client.post("conversations.history", data=fields).json())

        assert history(channel="#data")["error"] == "channel_not_found"
        assert "metadata" not in history(channel="C0000001")["messages"][0]
        page = history(channel="C0000001", include_all_metadata="1")
    fake.stop()

    assert page["messages"][0]["metadata"] == {"event_type": "e"}


def test_pagerduty_rejects_events_that_could_page_nobody(tmp_path):
    """Reject an unknown key, a missing summary, and a severity of another scale."""
    fake = FakePagerDuty(trustme.CA())
    fake.listen()
    context = ssl.create_default_context(cafile=fake.write_authority(tmp_path / "ca.pem"))
    payload = {"summary": "", "source": "s", "severity": "page"}
    event = {"routing_key": "?", "event_action": "trigger", "dedup_key": "k", "payload": payload}
    answer = httpx.post(f"{fake.url}/v2/enqueue", json=event, verify=context)
    fake.stop()

    assert answer.status_code == 400
    assert answer.json()["errors"] == [
        "'routing_key' is unknown",
        "'summary' is missing or too long",
        "'severity' is invalid",
    ]
    assert fake.pages == []


def test_a_receiver_rejects_unsigned_bodies():
    """Check the signature by the shared secret."""
    fake = FakeReceiver()
    fake.start()
    headers = {"webhook-id": "1", "webhook-timestamp": "1", "webhook-signature": "v1,AAAA"}
    answer = CLIENT.post(fake.url, content=json.dumps({}), headers=headers)
    fake.stop()

    assert answer.status_code == 401
    assert fake.tickets == []

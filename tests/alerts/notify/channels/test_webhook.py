"""Signature of a webhook, as libraries of the specification make it."""

import pytest

from alerts.notify.channels.channel import ChannelTask, PermanentFailure
from alerts.notify.channels.registry import build_channels
from alerts.notify.channels.webhook.delivery import sign
from tests.alerts.notify.conftest import TICKETS
from tests.alerts.notify.messages import BEGAN, message


def test_signature_matches_the_specification():
    """Use the example of the specification's own libraries."""
    headers = sign(
        b'{"test": 2432232314}',
        "msg_p5jXN8AQM9LWM0D4loKWxJek",
        1614265330,
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    )

    assert headers == {
        "content-type": "application/json",
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }


def test_ticket_has_all_parts_of_a_message(notifier, receiver):
    """Post JSON under an id that stays the same for every attempt."""
    notifier.notify(message(1, severity="ticket"), TICKETS)
    notifier.run()

    [request] = receiver.requests
    assert request.headers["webhook-id"] == "inc-1.1"
    assert int(request.headers["webhook-timestamp"]) * 1_000_000 == BEGAN
    assert receiver.tickets[0]["severity"] == "ticket"
    assert receiver.tickets[0]["root"] == {
        "kind": "job",
        "name": "orders_daily",
        "namespace": "shop",
    }


@pytest.mark.parametrize("target", ["others", ""])
def test_webhook_that_is_not_configured_is_rejected(notifier, target):
    """Name it."""
    found = build_channels(notifier.settings)["webhook"].send(ChannelTask(message(), target))

    assert found == PermanentFailure(
        "unknown_webhook", f"no webhook named {target!r} is set", is_of_kind=True
    )


@pytest.mark.parametrize("secret", ["whsec_no+base64!", "whsec_"])
def test_secret_that_is_no_base64_is_final(notifier, tmp_path, secret):
    """Name the file and not the secret; do not retry for a day."""
    (tmp_path / "webhook").write_text(secret)
    found = build_channels(notifier.settings)["webhook"].send(ChannelTask(message(), "tickets"))

    error = f"{tmp_path / 'webhook'}: expected base64 after whsec_"
    assert found == PermanentFailure("no_token", error)

"""Client of Slack, which follows no redirect and bounds the response."""

from collections.abc import Iterator

import pytest

from alerts.notify.channels.channel import ChannelTask, Retryable
from alerts.notify.channels.registry import build_channels
from alerts.notify.channels.slack import delivery
from tests.alerts.notify.messages import message
from tests.fakes.http_server import Answer, FakeServer, Request


class Impostor(FakeServer):
    """Server that gives every request the same response."""

    def __init__(self, answer: Answer) -> None:
        super().__init__()
        self._answer = answer
        self.start()

    def answer(self, _: Request) -> Answer:
        """Return the response."""
        return self._answer


@pytest.fixture
def elsewhere() -> Iterator[Impostor]:
    """Start the server that a redirect would lead to."""
    found = Impostor(Answer(200, {"ok": True}))
    yield found
    found.stop()


def _outcome(notifier, answer: Answer):
    impostor = Impostor(answer)
    notifier.set(slack_url=f"http://{impostor.address}/api/")
    try:
        return build_channels(notifier.settings)["slack"].send(ChannelTask(message(), "C0000001"))
    finally:
        impostor.stop()


def _redirect_to(elsewhere: Impostor) -> Answer:
    return Answer(302, "", (("Location", f"http://{elsewhere.address}/"),))


def test_redirect_is_not_followed(notifier, elsewhere):
    """Keep the token from the other server."""
    assert _outcome(notifier, _redirect_to(elsewhere)).reason == "http_302"
    assert elsewhere.requests == []


def test_without_our_client_the_token_is_sent_along(notifier, elsewhere, monkeypatch):
    """Run the mutant: use the client of the library."""
    monkeypatch.setattr(delivery, "SafeWebClient", delivery.WebClient)
    _outcome(notifier, _redirect_to(elsewhere))

    assert elsewhere.requests[0].headers["authorization"] == "Bearer xoxb-right"


def test_response_over_the_limit_is_read_no_further(notifier):
    """Keep the doubt after 16 MiB: the message may have arrived."""
    found = _outcome(notifier, Answer(200, "x" * 17_825_792))

    assert isinstance(found, Retryable)
    assert found.is_in_doubt
    assert "over 16777216 bytes" in found.error

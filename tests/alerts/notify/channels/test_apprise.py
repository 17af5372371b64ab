"""E-mail and JSON through Apprise to local servers, from the policy to the message."""

import json
import subprocess
import sys
from collections.abc import Iterator

import msgspec
import pytest

from alerts.notify.channels.apprise import delivery
from alerts.notify.channels.apprise.channel import Apprise
from alerts.notify.channels.channel import ChannelTask, PermanentFailure, Retryable, Sent
from alerts.notify.channels.registry import build_channels, contact_channels
from alerts.notify.message import Impacted
from alerts.notify.settings import DeliverySettings
from lineage.policy import parse_policy
from tests.alerts.notify.messages import LINKS, full_message, message
from tests.fakes.http_server import Answer, FakeServer, Request
from tests.fakes.smtp import FakeMailServer

PASSWORD = "p%40ss"  # noqa: S105 - of a server in this test; `p@ss` as a URL has it


class FakeService(FakeServer):
    """Service that stores its posts."""

    def __init__(self) -> None:
        super().__init__()
        self.posts: list[dict[str, str]] = []
        self.status = 200
        self.headers: tuple[tuple[str, str], ...] = ()

    def answer(self, request: Request) -> Answer:
        """Answer with the status that is set."""
        if self.status == 200:
            self.posts.append(json.loads(request.body))
        return Answer(self.status, "", self.headers)


@pytest.fixture
def mail_server() -> Iterator[FakeMailServer]:
    server = FakeMailServer(("lineward", "p@ss"))
    server.start()
    yield server
    server.stop()


@pytest.fixture
def service() -> Iterator[FakeService]:
    fake = FakeService()
    fake.start()
    yield fake
    fake.stop()


@pytest.fixture
def send(tmp_path):
    """Send a message through a URL, with the secrets in a folder."""
    (tmp_path / "smtp").write_text(f"{PASSWORD}\n")
    apprise = build_channels(DeliverySettings(notify_keys=tmp_path))["apprise"]

    def send_once(url, what=None, doubt_since=None):
        return apprise.send(ChannelTask(what or message(), url, None, doubt_since))

    return send_once


def mail_url(server):
    sender = "from=lineward@b.test&mode=insecure"
    return f"mailto://lineward:{{smtp}}@{server.address}/shop@b.test?{sender}"


def test_owner_of_a_policy_gets_a_mail(notifier, mail_server, tmp_path):
    """Notify an owner by the URL in the policy, through the outbox and the sender."""
    policy = parse_policy(
        json.dumps({"owners": [{"name": "shop", "notify": [mail_url(mail_server)]}]})
    )
    (tmp_path / "smtp").write_text(PASSWORD)
    notifier.set(notify_keys=tmp_path)
    notifier.notify(full_message(), *contact_channels(policy.owners[0]))

    assert notifier.run() == 1
    (mail,) = mail_server.mails
    assert mail["To"] == "shop@b.test"
    assert mail["Subject"] == "Page: orders_daily failed: 2 critical datasets will be late"
    text = mail.get_body(("plain",)).get_content()
    assert "400 datasets affected: 2 critical, 98 important, 300 optional" in text
    assert "critical: postgres://db/orders (stale, deadline 2026-11-21 10:00 UTC)" in text
    assert f"Runbook: {LINKS.runbook}" in text
    assert PASSWORD not in str(notifier.rows())


def test_json_service_gets_the_same_text(send, service):
    """Post title and body as a webhook of Apprise has them."""
    assert send(f"json://{service.address}/hook", full_message()) == Sent()

    (post,) = service.posts
    assert post["title"].startswith("Page: ")
    assert "Root: job shop orders_daily" in post["message"]


def test_rejected_mail_is_tried_again(send, mail_server):
    """Retry each failure: Apprise says yes or no, and a no may pass."""
    mail_server.rejection = "550 no such mailbox"

    found = send(mail_url(mail_server))

    assert isinstance(found, Retryable)
    assert (found.reason, found.is_in_doubt) == ("not_accepted", True)
    assert "(550, b'no such mailbox')" in found.error
    assert mail_server.mails == []


def test_error_of_a_connection_is_shown(send):
    """Show why: Apprise itself logs the reason for debugging alone."""
    found = send("mailto://127.0.0.1:1/shop@b.test?from=lineward@b.test")

    assert isinstance(found, Retryable)
    assert "Connection refused" in found.error


def test_error_shows_no_secret(send, mail_server):
    """Mask the password as the URL has it and as it was sent: an answer may repeat either."""
    mail_server.rejection = f"550 not for p@ss or {PASSWORD}"

    found = send(mail_url(mail_server))

    assert isinstance(found, Retryable)
    assert "not for *** or ***" in found.error


def test_unreadable_url_shows_no_secret(send):
    """Leave out what a URL holds where Apprise cannot read it."""
    found = send("msteams://{smtp}/b/c")

    assert isinstance(found, PermanentFailure)
    assert PASSWORD not in found.error


def test_mail_after_a_doubt_counts_as_a_repeat(send, mail_server):
    """Send it again rather than never: a mail server cannot say whether it had it."""
    assert send(mail_url(mail_server), doubt_since=1) == Sent(is_repeat=True)
    assert len(mail_server.mails) == 1


def test_missing_secret_and_unknown_service_are_final(send):
    """Hand these to the fallback channel at once: no retry would change them."""
    missing = send("mailto://me:{nothing}@h/a@b.test")

    assert isinstance(missing, PermanentFailure)
    assert missing.reason == "no_token"
    unknown = send("msteams://a/b/c")
    assert isinstance(unknown, PermanentFailure)
    assert unknown.reason == "invalid_url"


def test_files_of_a_url_are_its_secrets(tmp_path):
    """Name each, so that failed messages are sent when one is replaced."""
    settings = DeliverySettings(pagerduty_keys=tmp_path)

    assert Apprise.secret_files(settings, "mailto://{user}:{smtp}@h") == (
        tmp_path / "user",
        tmp_path / "smtp",
    )
    assert Apprise.secret_files(settings, "mailto://h/a@b.test") == ()


def test_redirect_is_not_followed(send, service):
    """Keep the message from addresses that the policy does not name."""
    other = FakeService()
    other.start()
    service.status, service.headers = 307, (("Location", f"http://{other.address}/"),)
    found = send(f"json://{service.address}/hook")
    other.stop()

    assert isinstance(found, Retryable)
    assert other.posts == []


def test_names_notify_no_whole_channel(send, service):
    """Take the mention out of `@everyone` and `<!channel>`, and keep a name on its line."""
    named = Impacted("db", "a\n@everyone <!channel> @here", "critical", "bad")
    send(f"json://{service.address}/x", message(impacted=(named,), impacted_count=1))

    (post,) = service.posts
    assert "critical: db/a @ everyone < ! channel> @ here (bad)" in post["message"]


def test_without_the_rule_names_notify_a_whole_channel(send, service, monkeypatch):
    """Run the mutant: send names unchanged."""
    monkeypatch.setattr(delivery, "_plain", lambda text, _: text)
    send(f"json://{service.address}/x", message(what="@everyone"))

    assert "@everyone" in service.posts[0]["title"]


def test_apprise_is_imported_by_its_first_message_alone():
    """Leave out its second of import where no owner has a URL."""
    code = (
        "import sys; from alerts.notify.channels.registry import build_channels;"
        "from alerts.notify.settings import DeliverySettings;"
        "build_channels(DeliverySettings()); print('apprise' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert found.stdout.strip() == "False"


def test_state_of_a_message_is_its_type(send, service):
    """Let a service colour a resolved incident as a success."""
    for kind in ("opened", "resolved"):
        send(f"json://{service.address}/x", msgspec.structs.replace(message(), kind=kind))

    assert [each["type"] for each in service.posts] == ["failure", "success"]

"""Responses of providers: accepted, rejected for good, or to be retried."""

import pytest

from alerts.notify.channels.channel import PermanentFailure, Retryable
from tests.alerts.notify.conftest import DATA, PAGER, TICKETS
from tests.alerts.notify.messages import message

# All channels of the workspace share the token.
OF_THE_TOKEN = {
    "account_inactive",
    "invalid_auth",
    "missing_scope",
    "token_expired",
    "token_revoked",
}


@pytest.mark.parametrize(
    "code",
    [
        "channel_not_found",
        "not_in_channel",
        "is_archived",
        "invalid_auth",
        "token_expired",
        "token_revoked",
        "account_inactive",
        "missing_scope",
        "msg_too_long",
        "invalid_blocks",
        "a_code_of_tomorrow",
    ],
)
def test_error_code_of_slack_is_final(slack, outcome, code):
    """Expect the same response to a retry."""
    slack.errors["chat.postMessage"] = code

    assert outcome(DATA) == PermanentFailure(code, code, is_of_kind=code in OF_THE_TOKEN)


@pytest.mark.parametrize(
    ("code", "reason", "is_in_doubt"),
    [
        ("ratelimited", "rate_limited", False),
        ("rate_limited", "rate_limited", False),
        ("service_unavailable", "service_unavailable", False),
        ("internal_error", "internal_error", True),
        ("fatal_error", "fatal_error", True),
    ],
)
def test_passing_error_of_slack_is_retried(slack, outcome, code, reason, is_in_doubt):
    """Retry what Slack calls temporary; two of these codes leave a doubt."""
    slack.errors["chat.postMessage"] = code

    assert outcome(DATA) == Retryable(reason, code, is_in_doubt=is_in_doubt)


@pytest.mark.parametrize(
    ("status", "reason", "is_in_doubt"), [(200, "not_json", True), (502, "http_502", True)]
)
def test_page_of_a_proxy_is_no_response_of_slack(slack, outcome, status, reason, is_in_doubt):
    """Keep the doubt: HTML with status 200 shows neither success nor failure."""
    slack.page = "<html><body>Bad gateway</body></html>"
    slack.status = None if status == 200 else status

    found = outcome(DATA)

    assert isinstance(found, Retryable)
    assert (found.reason, found.is_in_doubt) == (reason, is_in_doubt)


@pytest.mark.parametrize(
    ("status", "retry_after", "expected"),
    [
        (429, 17, Retryable("rate_limited", '{"status": "error"}', 17.0)),
        (429, None, Retryable("rate_limited", '{"status": "error"}')),
        (500, None, Retryable("http_500", '{"status": "error"}', is_in_doubt=True)),
        (503, None, Retryable("http_503", '{"status": "error"}', is_in_doubt=True)),
        (400, None, PermanentFailure("http_400", '{"status": "error"}')),
        (302, None, PermanentFailure("http_302", '{"status": "error"}')),
    ],
)
def test_status_of_pagerduty(pagerduty, outcome, status, retry_after, expected):
    """Try once: the retries of the library are off."""
    pagerduty.status, pagerduty.retry_after = status, retry_after

    assert outcome(PAGER) == expected
    assert len(pagerduty.requests) == 1


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (429, Retryable("rate_limited", "", 9.0)),
        (503, Retryable("http_503", "", is_in_doubt=True)),
        (408, Retryable("http_408", "", is_in_doubt=True)),
        (410, PermanentFailure("http_410")),
        (302, PermanentFailure("http_302")),
    ],
)
def test_status_of_a_webhook(receiver, outcome, status, expected):
    """Follow no redirect: a receiver cannot send the message elsewhere."""
    receiver.status, receiver.retry_after = status, 9

    assert outcome(TICKETS) == expected


def test_error_shows_no_secret(receiver, outcome, tmp_path):
    """Mask what a response repeats of its request."""
    receiver.secret = "between others"  # noqa: S105 - of nobody
    (tmp_path / "webhook").write_text("between")

    assert outcome(TICKETS) == PermanentFailure("http_401", "no signature made with *** others")


def test_unreadable_secret_is_named_by_its_file(outcome, tmp_path):
    """Name the file and what to do."""
    (tmp_path / "orders.key").write_text("")
    (tmp_path / "slack").unlink()

    assert outcome(PAGER).error == f"{tmp_path}/orders.key: is empty; write the secret into it"
    assert outcome(DATA).error == f"{tmp_path}/slack: cannot be read (FileNotFoundError)"


def test_new_token_needs_no_restart(notifier, slack, outcome, tmp_path):
    """Read the file for each message."""
    slack.token = "xoxb-new"  # noqa: S105 - of nobody
    rejected = outcome(DATA)
    (tmp_path / "slack").write_text("xoxb-new")
    notifier.notify(message(1), DATA)
    notifier.run()

    assert rejected == PermanentFailure("invalid_auth", "invalid_auth", is_of_kind=True)
    assert len(slack.posts("C0000001")) == 1

"""What goes wrong at a provider: which is tried again, when, and that it holds up no other."""

import pytest

from alerts.delivery.outcomes import Later, Refused, Task
from alerts.delivery.transports import transports_of
from tests.alerts.delivery.conftest import DATA, PAGER, TICKETS
from tests.alerts.delivery.told import message

PAYMENTS = "slack:C0000002"


@pytest.fixture
def outcome(desk):
    """What one try of one message comes to."""

    def _of(channel: str):
        kind, _, target = channel.partition(":")
        with_fakes = transports_of(desk.settings, clock=desk.clock)
        return with_fakes[kind].send(Task(message(1), target))

    return _of


def test_a_429_of_one_slack_channel_holds_up_that_one_for_as_long_as_it_asks(desk, slack):
    """Retry-After 30: nothing is asked there before, and the other channel goes on."""
    slack.limited["C0000001"] = 30
    desk.tell(message(1), DATA, PAYMENTS)
    desk.run()
    slack.limited.clear()
    asked = slack.calls("chat.postMessage")
    desk.tell(message(1, incident_id="inc-2"), DATA, PAYMENTS)
    desk.run_for(29, step=1)

    assert asked == 2
    assert (len(slack.posts("C0000001")), len(slack.posts("C0000002"))) == (0, 2)
    desk.clock.pass_(1)
    desk.run()
    assert len(slack.posts("C0000001")) == 2
    assert slack.calls("conversations.history") == 0  # a 429 leaves no doubt


def test_without_retry_after_it_is_asked_too_soon(desk, slack, monkeypatch):
    """Mutant: the header is not read, and its first wait of 5 s is all that holds it back."""
    monkeypatch.setattr("alerts.delivery.slack_answers.retry_after_seconds", lambda _: 0.0)
    slack.limited["C0000001"] = 30
    desk.tell(message(1), DATA)
    desk.run_for(29, step=1)

    assert slack.calls("chat.postMessage") > 1


def test_a_wait_survives_a_restart(desk, slack):
    """Each pass here is made by a sender of its own: the waits stand in the table."""
    slack.status = 503
    desk.tell(message(1), DATA)
    desk.run_for(600, step=1)

    # Waits double from 5 s to 300 s, each half as long at the least.
    assert 7 <= len(slack.requests) <= 12


def test_pagerduty_is_rung_once_after_an_hour_of_500(desk, pagerduty, counted):
    """Nothing is lost, nobody is rung twice, and it is asked seldom."""
    pagerduty.status = 500
    desk.tell(message(1), PAGER)
    desk.run_for(3_600)
    asked = len(pagerduty.requests)
    pagerduty.status = None
    desk.run_for(300)

    assert 12 <= asked <= 30
    assert pagerduty.pages == [("R" * 32, "inc-1")]
    assert counted("sent") == {(PAGER, "opened"): 1}
    assert counted("failed")[PAGER, "http_500"] == asked


def test_a_provider_that_hangs_holds_up_no_other(desk, slack, pagerduty):
    """Slack takes the message and says nothing: PagerDuty is rung before Slack's time is up."""
    slack.stalled.clear()
    desk.set(timeout_seconds=1)
    desk.tell(message(1), DATA, PAGER)
    desk.run()
    slack.stalled.set()

    assert pagerduty.actions() == ["trigger"]
    assert (DATA, 1, "waiting", "timeout") in desk.rows()


def test_a_provider_that_hangs_holds_up_no_later_message_of_another(desk, slack, pagerduty):
    """Slack hangs in every channel; what comes up meanwhile for PagerDuty is sent at once."""
    slack.stalled.clear()
    for number in range(20):
        desk.tell(message(1), f"slack:#hangs-{number}")
    sender = desk.sender()
    hanging = sender.begin()
    desk.tell(message(1), PAGER)
    [pager] = sender.begin()

    assert pager.result(timeout=30) == 1
    assert pagerduty.actions() == ["trigger"]
    assert not all(each.done() for each in hanging)
    slack.stalled.set()
    sender.close()


@pytest.mark.parametrize("channel", [DATA, PAGER, TICKETS])
def test_a_timeout_leaves_a_doubt(desk, fakes, outcome, channel):
    """It may have been taken: the answer alone is missing."""
    for fake in fakes:
        fake.stalled.clear()
    desk.set(timeout_seconds=1)

    found = outcome(channel)

    assert (found.reason, found.is_in_doubt) == ("timeout", True)


@pytest.mark.parametrize("channel", [DATA, PAGER, TICKETS])
def test_a_refused_connection_leaves_none(fakes, outcome, channel):
    """Nobody listens: nothing was sent."""
    for fake in fakes:
        fake.stop()

    found = outcome(channel)

    assert (found.reason, found.is_in_doubt) == ("unreachable", False)


@pytest.mark.parametrize("channel", [DATA, PAGER, TICKETS])
def test_an_answer_that_got_lost_makes_no_second_message(desk, fakes, channel):
    """The connection broke after the message was taken."""
    slack, pagerduty, receiver = fakes
    slack.lost_answers = pagerduty.lost_answers = receiver.lost_answers = 1
    desk.tell(message(1), channel)
    desk.run_for(60)

    assert len(slack.posts("C0000001")) == (channel == DATA)
    assert len(pagerduty.pages) == (channel == PAGER)
    assert len(receiver.tickets) == (channel == TICKETS)
    assert receiver.repeats == (["inc-1.1"] if channel == TICKETS else [])


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
def test_what_slack_will_never_take_is_final(slack, outcome, code):
    """A code that Slack gives is an answer: trying again would be answered alike."""
    slack.errors["chat.postMessage"] = code

    assert outcome(DATA) == Refused(code, code)


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
def test_what_slack_may_take_later_is_tried_again(slack, outcome, code, reason, is_in_doubt):
    """Of these Slack says that they pass; two of them may have done some of the work."""
    slack.errors["chat.postMessage"] = code

    assert outcome(DATA) == Later(reason, code, is_in_doubt=is_in_doubt)


@pytest.mark.parametrize(
    ("status", "reason", "is_in_doubt"), [(200, "not_json", True), (502, "http_502", True)]
)
def test_a_page_of_a_proxy_is_no_answer_of_slack(slack, outcome, status, reason, is_in_doubt):
    """HTML with status 200 says neither that it was taken nor that it was not."""
    slack.page = "<html><body>Bad gateway</body></html>"
    slack.status = None if status == 200 else status

    found = outcome(DATA)

    assert isinstance(found, Later)
    assert (found.reason, found.is_in_doubt) == (reason, is_in_doubt)


@pytest.mark.parametrize(
    ("status", "retry_after", "expected"),
    [
        (429, 17, Later("rate_limited", '{"status": "error"}', 17.0)),
        (429, None, Later("rate_limited", '{"status": "error"}')),
        (500, None, Later("http_500", '{"status": "error"}', is_in_doubt=True)),
        (503, None, Later("http_503", '{"status": "error"}', is_in_doubt=True)),
        (400, None, Refused("http_400", '{"status": "error"}')),
        (302, None, Refused("http_302", '{"status": "error"}')),
    ],
)
def test_what_a_status_of_pagerduty_means(pagerduty, outcome, status, retry_after, expected):
    """One try each: the library's own retries, which sleep, are off."""
    pagerduty.status, pagerduty.retry_after = status, retry_after

    assert outcome(PAGER) == expected
    assert len(pagerduty.requests) == 1


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (429, Later("rate_limited", "", 9.0)),
        (503, Later("http_503", "", is_in_doubt=True)),
        (408, Later("http_408", "", is_in_doubt=True)),
        (410, Refused("http_410")),
        (302, Refused("http_302")),
    ],
)
def test_what_a_status_of_a_webhook_means(receiver, outcome, status, expected):
    """Redirects are not followed: a receiver cannot send us elsewhere."""
    receiver.status, receiver.retry_after = status, 9

    assert outcome(TICKETS) == expected


def test_no_secret_gets_into_an_error(receiver, outcome, tmp_path):
    """Whatever an answer repeats of what it was sent."""
    receiver.secret = "between others"  # noqa: S105 - of nobody
    (tmp_path / "webhook").write_text("between")

    assert outcome(TICKETS) == Refused("http_401", "no signature made with *** others")


def test_a_secret_that_cannot_be_read_is_told_with_its_file(outcome, tmp_path):
    """The file is named, and what to do."""
    (tmp_path / "orders.key").write_text("")
    (tmp_path / "slack").unlink()

    assert outcome(PAGER).error == f"{tmp_path}/orders.key: is empty; write the secret into it"
    assert outcome(DATA).error == f"{tmp_path}/slack: cannot be read (FileNotFoundError)"


def test_a_new_token_is_taken_up_without_a_restart(desk, slack, outcome, tmp_path):
    """The file is read for each message."""
    slack.token = "xoxb-new"  # noqa: S105 - of nobody
    refused = outcome(DATA)
    (tmp_path / "slack").write_text("xoxb-new")
    desk.tell(message(1), DATA)
    desk.run()

    assert refused == Refused("invalid_auth", "invalid_auth")
    assert len(slack.posts("C0000001")) == 1

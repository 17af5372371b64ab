"""Messages that were written or tried while the clock was wrong."""

import pytest

from tests.alerts.notify.conftest import DATA, PAGER
from tests.alerts.notify.messages import message

_DAY = 86_400


@pytest.mark.parametrize("jump", [60, 3_600, 30 * _DAY, 3_650 * _DAY])
def test_failed_attempt_under_a_clock_ahead_delays_nothing(notifier, slack, jump):
    """Reset the message and its channel, which were held until a time far ahead."""
    notifier.clock.pass_(jump)
    slack.status = 503
    notifier.notify(message(1), DATA)
    notifier.run()
    slack.status = None
    notifier.clock.pass_(-jump)

    notifier.run_for(700)

    assert len(slack.posts("C0000001")) == 1


@pytest.mark.parametrize("jump", [3_700, 30 * _DAY, -3_600])
def test_message_written_under_a_wrong_clock_is_sent(notifier, pagerduty, jump):
    """Let the clock jump between the message and its first attempt."""
    notifier.clock.pass_(jump)
    notifier.notify(message(1), PAGER)
    notifier.clock.pass_(-jump)

    notifier.run()

    assert pagerduty.pages == [("R" * 32, "inc-1")]

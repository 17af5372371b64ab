"""What the exporter shows of delivery."""

from alerts.delivery.figures import oldest_undelivered_seconds
from tests.alerts.delivery.conftest import DATA, PAGER
from tests.alerts.delivery.told import message


def _oldest(desk) -> float:
    with desk.reader() as reader:
        return oldest_undelivered_seconds(reader, desk.clock.micros)


def test_what_was_sent_and_what_failed_is_counted_by_channel(desk, slack, counted):
    """Attempts that fail are counted one by one, messages once."""
    slack.status = 503
    desk.tell(message(1), DATA, PAGER)
    desk.run()
    slack.status = None
    desk.tell(message(2, "resolved"), PAGER)
    desk.run_for(60)

    assert counted("sent") == {(DATA, "opened"): 1, (PAGER, "opened"): 1, (PAGER, "resolved"): 1}
    assert counted("failed") == {(DATA, "http_503"): 1}
    assert counted("repeated") == {}


def test_the_oldest_that_waits_is_as_old_as_what_it_stands_for(desk, slack):
    """A newer message that supersedes it does not make delivery look younger."""
    assert _oldest(desk) == 0
    slack.status = 503
    desk.tell(message(1), DATA)
    desk.run()
    desk.clock.pass_(100)
    desk.tell(message(2), DATA)
    desk.run()
    desk.clock.pass_(20)

    assert _oldest(desk) == 120
    slack.status = None
    desk.run_for(60)
    assert _oldest(desk) == 0

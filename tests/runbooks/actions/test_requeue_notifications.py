"""Failed notifications of one channel are sent again."""

import pytest

from alerts.notify.channels.name import parse_channel
from alerts.notify.outbox import enqueue
from lineage.catalog.engine import write_transaction
from runbooks.actions.errors import InvalidActionError, RejectedActionError
from tests.alerts.notify.messages import message

_CHANNEL = "slack:C0000001"


@pytest.fixture
def failed(world):
    """Fail two notifications of one incident in Slack, and one in PagerDuty."""
    with write_transaction(world.engine) as connection:
        for revision, kind in ((1, "opened"), (2, "changed")):
            enqueue(connection, message(revision, kind), parse_channel(_CHANNEL))
        enqueue(connection, message(1), parse_channel("pagerduty:keys/shop"))
        connection.exec_driver_sql("UPDATE notification SET state = 'failed', finished_at = 1")
    return world


def _states(world):
    with world.engine.connect() as connection:
        rows = connection.exec_driver_sql(
            "SELECT channel, revision, state FROM notification ORDER BY channel, revision"
        )
        return [tuple(row) for row in rows]


def test_a_plan_counts_them_and_changes_nothing(failed):
    """Send the newest of each incident."""
    before = failed.everything()
    plan = failed.plan("requeue-notifications", channel=_CHANNEL)

    assert plan.figures == {"notifications": 1}
    assert plan.does == (f"send 1 failed notifications of {_CHANNEL} again",)
    assert failed.everything() == before


def test_requeued_notifications_are_due_and_others_stay(failed):
    """Leave messages alone that a later one has replaced."""
    failed.act("requeue-notifications", channel=_CHANNEL)

    assert _states(failed) == [
        ("pagerduty:keys/shop", 1, "failed"),
        (_CHANNEL, 1, "failed"),
        (_CHANNEL, 2, "waiting"),
    ]


@pytest.mark.parametrize("channel", ["slack:C9999999", "webhook:tickets", "pagerduty:keys/other"])
@pytest.mark.parametrize("is_dry", [True, False])
def test_a_channel_without_any_is_rejected_with_those_that_have(failed, channel, is_dry):
    """Name the channels with failed notifications after a typing error."""
    expected = f"{channel}: .* failed are: pagerduty:keys/shop, {_CHANNEL}"
    with pytest.raises(RejectedActionError, match=expected):
        failed.act("requeue-notifications", is_dry=is_dry, channel=channel)


def test_a_channel_is_needed(failed):
    """Offer no way to send all of them at once."""
    with pytest.raises(InvalidActionError, match="channel"):
        failed.plan("requeue-notifications", channel="")

"""Fake Slack, PagerDuty and webhook for the sender: receivers in this process.

They are handed the very payloads that would go out, and what takes them knows their documents only.
"""

from alerts.notify.channels.channel import ChannelTask, Deliverer, DeliveryOutcome, Sent
from alerts.notify.channels.page_actions import action_of
from alerts.notify.channels.pagerduty.payload import build_event
from alerts.notify.channels.slack.blocks import build_blocks
from alerts.notify.message import to_json
from lab.gameday.fake_receivers import Receivers
from lineage.process.clock import Clock, to_micros


class _Slack:
    def __init__(self, receivers: Receivers, clock: Clock) -> None:
        self._receivers = receivers
        self._clock = clock

    def send(self, task: ChannelTask) -> DeliveryOutcome:
        """Post, or edit what was posted of this incident."""
        at, fields = to_micros(self._clock()), {"blocks": build_blocks(task.message)}
        if task.handle is None:
            return Sent(self._receivers.slack_post(task.target, fields, at))
        self._receivers.slack_update(task.target, fields, at)
        return Sent(task.handle)


class _PagerDuty:
    def __init__(self, receivers: Receivers, clock: Clock) -> None:
        self._receivers = receivers
        self._clock = clock

    def send(self, task: ChannelTask) -> DeliveryOutcome:
        """Trigger, acknowledge or resolve."""
        message = task.message
        event = {"event_action": action_of(message.kind), "dedup_key": message.incident_id}
        at = to_micros(self._clock())
        self._receivers.pagerduty(task.target, event | build_event(message), at)
        return Sent(message.incident_id)


class _Webhook:
    def __init__(self, receivers: Receivers, clock: Clock) -> None:
        self._receivers = receivers
        self._clock = clock

    def send(self, task: ChannelTask) -> DeliveryOutcome:
        """Post the whole message."""
        at = to_micros(self._clock())
        self._receivers.webhook(task.target, to_json(task.message).encode(), at)
        return Sent(f"{task.message.incident_id}.{task.message.revision}")


def transports(receivers: Receivers, clock: Clock) -> dict[str, Deliverer]:
    """Return the outlets by kind of channel, for `alerts.notify.sender.Sender`."""
    return {
        "slack": _Slack(receivers, clock),
        "pagerduty": _PagerDuty(receivers, clock),
        "webhook": _Webhook(receivers, clock),
    }

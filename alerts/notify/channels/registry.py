"""The channels that the settings speak of."""

from alerts.notify.channels.channel import Channel
from alerts.notify.channels.pagerduty.channel import PagerDuty
from alerts.notify.channels.slack.channel import Slack
from alerts.notify.channels.webhook.channel import Endpoint, Webhook
from alerts.notify.settings import DeliverySettings
from lineage.clock import Clock, system_clock

TICKETS = "tickets"


def build_channels(
    settings: DeliverySettings, *, clock: Clock = system_clock
) -> dict[str, Channel]:
    """By kind of channel. PagerDuty needs no setting: each owner's key is in a file of its own."""
    made: dict[str, Channel] = {
        "pagerduty": PagerDuty(
            url=settings.pagerduty_url,
            keys=settings.pagerduty_keys,
            timeout_seconds=settings.timeout_seconds,
            ca_file=settings.pagerduty_ca_file,
        )
    }
    if settings.slack_token_file is not None:
        made["slack"] = Slack(
            url=settings.slack_url,
            token_file=settings.slack_token_file,
            timeout_seconds=settings.timeout_seconds,
        )
    if settings.webhook_url is not None and settings.webhook_secret_file is not None:
        endpoint = Endpoint(settings.webhook_url, settings.webhook_secret_file)
        made["webhook"] = Webhook(
            {TICKETS: endpoint}, timeout_seconds=settings.timeout_seconds, clock=clock
        )
    return made

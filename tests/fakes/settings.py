"""Settings for the fakes instead of the real providers."""

from pathlib import Path
from typing import Any

from alerts.notify.settings import DeliverySettings
from tests.fakes.pagerduty import FakePagerDuty
from tests.fakes.slack import FakeSlack


def delivery_settings(
    slack: FakeSlack,
    pagerduty: FakePagerDuty,
    folder: Path,
    **more: Any,  # noqa: ANN401 - of the settings
) -> DeliverySettings:
    """Return settings with the fakes' URLs; write token and authority to the folder of keys."""
    (folder / "slack").write_text(f"{slack.token}\n")
    return DeliverySettings(
        slack_url=slack.url,
        slack_token_file=folder / "slack",
        pagerduty_url=pagerduty.url,
        pagerduty_keys=folder,
        pagerduty_ca_file=pagerduty.write_authority(folder / "authority.pem"),
        **more,
    )

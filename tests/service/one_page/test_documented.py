"""The page of alerting shows an incident of this shop as it was sent, whole."""

import json
from pathlib import Path

from tests.service.one_page.shop import SALES

_PAGE = Path(__file__).parents[3] / "docs" / "alerting.md"
_PLACES = {"public_url": "https://lineward.example", "dashboards_url": "https://grafana.example"}


def _shown(sent):
    return f"```json\n{json.dumps(sent, indent=2, ensure_ascii=False)}\n```\n"


def test_the_page_shows_what_slack_and_pagerduty_were_sent(shop, slack, pagerduty):
    """From a failed run in the catalog to the wire: to the letter."""
    shop.restart(**_PLACES)
    shop.run_with("3.5.6")
    shop.fail(engine_version="4.0.0")
    shop.go(40)
    page = _PAGE.read_text(encoding="utf-8")

    [post] = slack.posts(SALES)
    assert _shown({name: post[name] for name in ("text", "blocks")}) in page
    [event] = pagerduty.events
    assert _shown(event) in page

"""Incident of this shop, shown in docs/alerting.md as it was sent."""

import json
from pathlib import Path

from tests.service.one_page.shop import SALES

_PAGE = Path(__file__).parents[3] / "docs" / "alerting.md"
_PLACES = {"public_url": "https://lineward.example", "dashboards_url": "https://grafana.example"}


def _json_block(sent):
    return f"```json\n{json.dumps(sent, indent=2, ensure_ascii=False)}\n```\n"


def test_the_page_shows_the_messages_to_slack_and_pagerduty(shop, slack, pagerduty):
    """Compare the messages for a failed run in the catalog, word by word."""
    shop.restart(**_PLACES)
    shop.run_with("3.5.6")
    shop.fail(engine_version="4.0.0")
    shop.go(40)
    page = _PAGE.read_text(encoding="utf-8")

    [post] = slack.posts(SALES)
    assert _json_block({name: post[name] for name in ("text", "blocks")}) in page
    [event] = pagerduty.events
    assert _json_block(event) in page

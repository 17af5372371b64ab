"""The documents show the messages as they are sent."""

from pathlib import Path

import pytest

_FOLDER = Path(__file__).parent
_PAGE = Path(__file__).parents[3] / "docs" / "alerting.md"


@pytest.mark.parametrize("name", ["golden_slack.json", "golden_pagerduty.json"])
def test_the_page_shows_the_whole_message(name):
    """To the letter; other tests hold these files to what is sent."""
    shown = (_FOLDER / name).read_text(encoding="utf-8").rstrip()

    assert shown in _PAGE.read_text(encoding="utf-8")

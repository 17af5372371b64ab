"""Acknowledgement of an incident on all pages."""

from html import unescape

import pytest

from tests.service.explorer import estate

# The fixture's incident was acknowledged two minutes ago, and was reassigned or reopened since.
_AGAIN = f"/incidents/{estate.INCIDENT}"


@pytest.mark.parametrize("page", ["/", "/incidents"])
def test_reopened_incident_is_shown_as_unacknowledged(shop, page):
    """Check the row of this incident: other rows are unacknowledged too."""
    text = unescape(shop.get(page).text)
    row = text[text.index(_AGAIN) :]

    assert "nobody" in row[: row.index("</tr>")]


def test_incident_page_shows_reopened_incident_as_unacknowledged(shop):
    """Do not show the earlier acknowledgement as if it still held."""
    text = unescape(shop.get(_AGAIN).text)
    acknowledged = text[text.index("<dt>acknowledged</dt>") :]

    assert "not acknowledged" in acknowledged[: acknowledged.index("</dd>")]


def test_incident_page_names_each_timestamp(shop):
    """Show each time by its name, and none as `since`."""
    text = shop.get(_AGAIN).text
    named = [text.index(f"<dt>{name}</dt>") for name in ("first failed at", "detected at")]

    assert named == sorted(named)
    assert "<dt>since</dt>" not in text


def test_incident_list_names_who_acknowledged(shop):
    """Check the acknowledged incident of the fixture."""
    text = unescape(shop.get("/incidents").text)
    row = text[text.index(f"/incidents/{estate.OTHER}") :]

    assert "ada" in row[: row.index("</tr>")]

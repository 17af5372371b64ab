"""Who is on an incident: all pages say the same of it."""

from html import unescape

import pytest

from tests.service.explorer import estate

# Of the fixture: open, acknowledged two minutes ago, and handed over or back again since.
_AGAIN = f"/incidents/{estate.INCIDENT}"


@pytest.mark.parametrize("page", ["/", "/incidents"])
def test_what_was_acknowledged_once_and_is_open_again_is_nobodys(shop, page):
    """In its own row: others are nobody's too."""
    text = unescape(shop.get(page).text)
    row = text[text.index(_AGAIN) :]

    assert "nobody yet" in row[: row.index("</tr>")]


def test_its_own_page_says_so_too(shop):
    """Not the instant of long ago, as if somebody were on it."""
    text = unescape(shop.get(_AGAIN).text)
    told = text[text.index("<dt>acknowledged</dt>") :]

    assert "by nobody" in told[: told.index("</dd>")]


def test_its_own_page_names_its_times(shop):
    """Show each time by its name, and none as `since`."""
    text = shop.get(_AGAIN).text
    named = [text.index(f"<dt>{name}</dt>") for name in ("first failed at", "detected at")]

    assert named == sorted(named)
    assert "<dt>since</dt>" not in text


def test_who_took_it_on_is_named(shop):
    """The one of the fixture that is acknowledged."""
    text = unescape(shop.get("/incidents").text)
    row = text[text.index(f"/incidents/{estate.OTHER}") :]

    assert "ada" in row[: row.index("</tr>")]

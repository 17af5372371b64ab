"""List of incidents over several pages."""

import re
from html import unescape

from litestar.testing import TestClient

from service.api.app import create_app
from service.runtime.settings import Settings
from tests.service import shop as small
from tests.service.api_lists import add_incident


def _cuts(text: str) -> list[str]:
    """Return each note of the page on an incomplete part, in order."""
    parts = text.split("Incomplete: <bdi>")[1:]
    return [unescape(part.partition("</bdi>")[0]) for part in parts]


def test_pages_of_incidents_lead_to_all_of_them(embedded):
    """Show 100 of 130 open incidents, and the other 30 on the second page."""
    small.fill(embedded)
    add_incident(embedded, range(130))
    settings = Settings(catalog_url=embedded.url.render_as_string(hide_password=False))
    with TestClient(create_app(settings), base_url="http://127.0.0.1") as client:
        first = client.get("/incidents?all=true").text
        second = client.get(_next(first) or "").text

    assert (_ids(first) & _ids(second), _next(second)) == (set(), None)
    assert _ids(first) | _ids(second) == {f"inc-{number:03}" for number in range(130)}
    assert (len(_ids(first)), len(_ids(second))) == (100, 30)
    assert (_cuts(first), _cuts(second)) == (["100 of 130 shown"], ["30 of 130 shown"])
    assert 'rel="first" href="/incidents?all=true"' in second
    assert 'rel="first"' not in first


def _ids(text: str) -> set[str]:
    return set(re.findall(r'href="/incidents/(inc-\d+)"', text))


def _next(text: str) -> str | None:
    found = re.search(r'rel="next" href="([^"]*)"', text)
    return found and unescape(found[1])

"""Incomplete parts of pages are marked."""

import re
from html import unescape

import pytest

from tests.service import shop as small
from tests.service.api_lists import add_incident
from tests.service.explorer import estate

_CORE = "/dataset?dataset=core/orders"
_INCIDENT = f"/incidents/{estate.INCIDENT}"
_RUN = f"/runs/{small.RUN_ID}"


def _part(page, heading):
    """Return the page from the heading with this id to the next part."""
    begun = page[page.index(f'id="{heading}"') :]
    return re.split(r"<section|</main>", begun)[0]


def _cuts(page, heading):
    """Return the notes about incomplete content, without markup."""
    found = re.findall(r'<p class="cut">(.*?)</p>', _part(page, heading))
    return [unescape(re.sub("<.*?>", "", each)) for each in found]


@pytest.mark.parametrize(
    ("place", "bounds", "says"),
    [
        ((_CORE, "graph"), {"explorer.graph.MOST_BESIDE": 1}, "3 of 9 datasets shown"),
        ((_CORE, "impact"), {"queries.walk.MOST_NODES": 3}, "more than 3 datasets"),
        ((_CORE, "impact"), {"api.routes.datasets.MOST_AFFECTED": 2}, "the most severe 2 of 6"),
        ((_CORE, "evidence"), {"queries.dataset_checks._MOST": 1}, "the first 1"),
        (
            (_CORE, "writes"),
            {"explorer.dataset._MOST_OF_HISTORY": 1},
            "only the newest 1 of these are shown: schemas, writes",
        ),
        ((_CORE, "aliases"), {"queries.dataset._MOST_ALIASES": 0}, "the first 0 aliases"),
        ((_INCIDENT, "response"), {"queries.incident_notifications._MOST": 1}, "the newest 1"),
        (
            (_INCIDENT, "members"),
            {"api.routes.incidents.MOST_MEMBERS": 1},
            "the nearest 1 of 2",
        ),
        (
            (_INCIDENT, "members"),
            {"queries.incident.MOST_MEMBERS": 1},
            "the first 1 datasets are listed",
        ),
        (
            (_INCIDENT, "affected"),
            {"explorer.incident.MOST_AFFECTED": 4},
            "there are more than 4",
        ),
        (
            (_RUN, "touched-1"),
            {"queries.runs._MOST_IO": 1},
            "only the first 1 datasets are listed",
        ),
    ],
)
def test_incomplete_part_names_its_limit(shop, monkeypatch, place, bounds, says):
    """Show the limit in the part that is cut, and nothing in a complete part."""
    path, heading = place
    whole = _cuts(shop.get(path).text, heading)
    for name, most in bounds.items():
        monkeypatch.setattr(f"service.{name}", most)
    cut = _cuts(shop.get(path).text, heading)

    assert (whole, cut) == ([], [f"Incomplete: {says}."])


def test_cut_timeline_does_not_mark_downstream_datasets_as_incomplete(shop, monkeypatch):
    """Mark only the part that is cut."""
    monkeypatch.setattr("service.queries.incident.MOST_STEPS", 1)
    page = shop.get(_INCIDENT).text

    cuts = [_cuts(page, heading) for heading in ("members", "affected")]
    assert cuts == [["Incomplete: the first 1 steps are listed."], []]


def test_incident_list_shows_its_limit(shop, embedded):
    """Add a hundred incidents to the eight of the shop."""
    whole = _cuts(shop.get("/incidents").text, "list")
    add_incident(embedded, range(100))
    cut = _cuts(shop.get("/incidents").text, "list")

    assert (whole, cut) == ([], ["Incomplete: 100 of 108 shown."])


def test_overview_counts_at_least_the_incidents_it_read(shop, monkeypatch):
    """Show `at least` when the list is cut."""
    counts = []
    for most in (8, 2):
        monkeypatch.setattr("service.explorer.overview.MOST_INCIDENTS", most)
        heading = _part(shop.get("/").text, "incidents").partition("</small>")[0]
        counts.append(heading.rpartition("<small>")[2])

    assert counts == ["8", "2 at least"]

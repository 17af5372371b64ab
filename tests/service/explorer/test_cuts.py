"""What is cut says so, on the page and in the part of it where something is left out."""

import re
from html import unescape

import pytest

from tests.service import shop as small
from tests.service.explorer import estate
from tests.service.listed import add_incident

_CORE = "/dataset?dataset=core/orders"
_INCIDENT = f"/incidents/{estate.INCIDENT}"
_RUN = f"/runs/{small.RUN_ID}"


def _part(page, heading):
    """From the heading of this id to the next part."""
    begun = page[page.index(f'id="{heading}"') :]
    return re.split(r"<section|</main>", begun)[0]


def _cuts(page, heading):
    """The sentences there that say so, without their markup."""
    found = re.findall(r'<p class="cut">(.*?)</p>', _part(page, heading))
    return [unescape(re.sub("<.*?>", "", each)) for each in found]


@pytest.mark.parametrize(
    ("place", "bounds", "says"),
    [
        ((_CORE, "graph"), {"explorer.graph.MOST_BESIDE": 1}, "3 of 9 datasets are drawn"),
        ((_CORE, "impact"), {"answers.walk.MOST_NODES": 3}, "more than 3 datasets"),
        ((_CORE, "impact"), {"routes.dataset_pages.MOST_AFFECTED": 2}, "the gravest 2 of 6"),
        ((_CORE, "evidence"), {"answers.edge_checks._MOST": 1}, "the first 1"),
        (
            (_CORE, "writes"),
            {"explorer.dataset._MOST_OF_HISTORY": 1},
            "only the newest 1 of these are shown: schemas, writes",
        ),
        ((_CORE, "aliases"), {"answers.dataset._MOST_ALIASES": 0}, "the first 0 other names"),
        ((_INCIDENT, "who"), {"answers.incident_told._MOST": 1}, "the newest 1"),
        (
            (_INCIDENT, "members"),
            {"routes.incident_pages.MOST_MEMBERS": 1},
            "the nearest 1 of 2",
        ),
        (
            (_INCIDENT, "members"),
            {"answers.incidents.MOST_MEMBERS": 1},
            "the first 1 datasets are listed",
        ),
        (
            (_INCIDENT, "affected"),
            {"explorer.incident.MOST_AFFECTED": 4},
            "there are more than 4",
        ),
        (
            (_RUN, "touched-1"),
            {"answers.runs._MOST_IO": 1},
            "only the first 1 datasets are listed",
        ),
    ],
)
def test_where_more_is_known_than_is_shown_the_page_says_so(shop, monkeypatch, place, bounds, says):
    """In its own part, in words; where all is shown, nothing says so."""
    path, heading = place
    whole = _cuts(shop.get(path).text, heading)
    for name, most in bounds.items():
        monkeypatch.setattr(f"service.{name}", most)
    cut = _cuts(shop.get(path).text, heading)

    assert (whole, cut) == ([], [f"Not all is shown: {says}."])


def test_of_what_hangs_on_the_root_only_its_own_cut_is_said(shop, monkeypatch):
    """All of it is there where only the incident's course is cut."""
    monkeypatch.setattr("service.answers.incidents.MOST_STEPS", 1)
    page = shop.get(_INCIDENT).text

    cuts = [_cuts(page, heading) for heading in ("members", "affected")]
    assert cuts == [["Not all is shown: the first 1 steps are listed."], []]


def test_of_more_incidents_than_a_list_has_its_page_says_so(shop, embedded):
    """Eight of the shop, and a hundred more."""
    whole = _cuts(shop.get("/incidents").text, "list")
    add_incident(embedded, range(100))
    cut = _cuts(shop.get("/incidents").text, "list")

    assert (whole, cut) == ([], ["Not all is shown: 100 of 108 shown."])


def test_the_first_page_does_not_count_what_it_did_not_read(shop, monkeypatch):
    """So many at least."""
    told = []
    for most in (8, 2):
        monkeypatch.setattr("service.explorer.overview.MOST_LISTED", most)
        heading = _part(shop.get("/").text, "incidents").partition("</small>")[0]
        told.append(heading.rpartition("<small>")[2])

    assert told == ["8", "2 at least"]

"""What pages say, for anybody who may see everything."""

import re
from collections import Counter
from datetime import timedelta
from html import unescape

import pytest
from litestar.testing import TestClient

from service.access.judge import READABLE
from service.answers.budgets import BudgetLeft
from service.answers.shapes import SliRow
from service.app import _PAGES, create_app
from service.explorer import words
from service.explorer.drawing import CONTENT_SECURITY_POLICY, drawn
from service.explorer.overview import _lines
from service.settings import Settings
from tests.service import shop as small
from tests.service.explorer import estate
from tests.service.explorer.conftest import pages_of

_PATHS = (
    "/",
    "/datasets",
    "/dataset?dataset=core/orders",
    "/incidents?all=true",
    f"/incidents/{estate.INCIDENT}",
    f"/runs/{small.RUN_ID}",
    f"/runs/{estate.EARLIER_RUN}/diff/{estate.ROOT_RUN}",
    "/runs/<img src=x onerror=alert(1)>",
    "/login",
)
_CORE = {"dataset_namespace": small.NAMESPACE, "dataset": small.CORE}


def _text(client, path, **asked: str | int):
    answer = client.get(path, params=asked)
    assert answer.status_code == 200, answer.text
    return " ".join(unescape(answer.text).split())


def test_the_first_page_says_what_is_wrong_and_who_is_on_it(shop):
    """The pages first, with who took them; objectives that are missed; what is left of budgets."""
    text = _text(shop, "/")

    assert "Not all right" in text
    assert "1 incident that pages" in text
    assert "coverage (critical) misses its objective" in text
    assert "7 tickets" in text
    assert text.index("job etl fails") < text.index("much to tell")
    assert "2 more</a>" in text
    assert "nobody yet" in text
    assert "67 % left" in text  # 0.4 of 120 were bad, 1.2 may be
    assert "used up" in text
    assert "too early: " in text


def test_what_is_stale_is_never_shown_as_well(embedded):
    """An hour without an evaluation: no ratio, no good dataset, and the page says so first."""
    small.fill(embedded, evaluated_at=estate.NOW - timedelta(hours=1))
    settings = Settings(catalog_url=embedded.url.render_as_string(hide_password=False))
    with TestClient(
        create_app(settings, lambda: estate.NOW), base_url="http://127.0.0.1"
    ) as client:
        first, listed = _text(client, "/"), _text(client, "/datasets")
        one = _text(client, "/dataset", dataset=small.RAW)

    assert "what was good then is unknown now" in first
    assert "66.67 %" not in first
    for page in (listed, one):
        assert "The last evaluation is" in page
        assert 'class="state good"' not in page.partition("graph")[0]


def test_a_day_of_which_too_much_is_unknown_is_not_called_empty(shop):
    """Two datasets of which one is unknown are a sample, and no ratio; nothing is none."""
    rows = [
        SliRow("M2", "freshness", "critical", 1.0, 2.0, None, 0.99),
        SliRow("M4", "accuracy", "critical", 0.0, 0.0, None, 0.98),
    ]
    lines = _lines(rows, ("critical",), {})
    assert [line.cells[0].total for line in lines] == [2.0, 0.0]

    text = _text(shop, "/")
    assert "good now, of the objective; error budget of 30 days" in text
    assert "no sample" in text


def test_no_link_of_a_page_is_dead(shop):
    """Follow each address that pages link to, and its own links, two of a kind."""
    waiting, seen, kinds = list(_PATHS[:5]), set[str](), Counter[str]()
    dead: dict[str, int] = {}
    while waiting:
        path = waiting.pop()
        kind = re.sub(r"/[^/]*\d[^/]*", "/-", path.partition("?")[0])
        if path in seen or kinds[kind] >= 2:
            continue
        seen.add(path)
        kinds[kind] += 1
        answer = shop.get(path)
        if answer.status_code != 200:
            dead[path] = answer.status_code
        links = map(unescape, re.findall(r'href="(/[^"#]*)', answer.text))
        waiting += [each for each in links if not each.startswith("//")]

    assert dead == {}
    assert {"/", "/datasets", "/dataset", "/incidents", "/incidents/-"} <= set(kinds)


def test_before_there_is_any_data_the_page_says_how_to_come_by_some():
    """503, as a page."""
    with TestClient(create_app(Settings()), base_url="http://127.0.0.1") as client:
        answer = client.get("/")

    assert (answer.status_code, answer.headers["content-type"]) == (503, "text/html; charset=utf-8")
    assert "lineward up" in answer.text


def test_the_list_is_found_by_a_part_of_the_name_and_by_filters(shop):
    """Percent signs are no wildcards; an empty field of the form filters nothing."""
    everything = _text(shop, "/datasets", state="", tier="", owner="", find="")
    found = _text(shop, "/datasets", find="core/ord", state="bad")
    none = _text(shop, "/datasets", find="%")

    assert everything.count('href="/dataset?') == 4 + len(estate.HOSTILE)
    assert found.count('href="/dataset?') == 1
    assert 'value="core/ord"' in found
    assert "<option selected>bad</option>" in found
    assert "None is like that" in none
    assert 'href="/datasets?owner=sales"' in found
    assert "core/orders" in _text(shop, "/datasets", owner="sales")


def test_pages_of_the_list_lead_to_one_another(shop, monkeypatch):
    """With the filters that they were asked for."""
    monkeypatch.setattr("service.explorer.listing.PER_PAGE", 2)
    first = _text(shop, "/datasets", state="bad")
    second = _text(shop, "/datasets", state="bad", offset=2)

    assert 'rel="next" href="/datasets?state=bad&offset=2"' in first
    assert 'rel="prev"' not in first
    assert 'rel="prev" href="/datasets?state=bad"' in second
    assert "3 to 4 shown" in second


@pytest.mark.parametrize("offset", [-1, 10_000_001, 2**63])
def test_where_no_list_ends_no_page_begins(shop, offset):
    """400, as a page that names the parameter; ten million is behind the end of any list."""
    refused = shop.get("/datasets", params={"offset": offset})

    assert (refused.status_code, "offset" in refused.text) == (400, True)
    assert "None is like that from here on" in _text(shop, "/datasets", offset=10_000_000)


def test_a_dataset_is_told_whole(shop):
    """Reason, run, limit, owner, graph, impact, evidence, schema, alias."""
    text = _text(shop, "/dataset", **_CORE)

    for said in (
        "Freshness (M2) is bad, detected at",
        "division by zero",
        "20 Nov 2026 02:30:00 UTC",
        "1 h (declared)",
        "sales",
        "edge missing",
        "id was int and is bigint",
        "direct transformation (concat(",
        "core.orders",
        f'href="/incidents/{estate.INCIDENT}"',
        f'href="/runs/{estate.EARLIER_RUN}/diff/{estate.ROOT_RUN}"',
    ):
        assert said in text, said
    assert "(None)" not in text
    graph = text[text.index("<svg width") : text.index('id="columns"')]
    assert graph.count("<a href") == 4 + len(estate.HOSTILE)


def test_a_dataset_leads_to_its_incidents_and_to_who_is_on_them(shop):
    """Tickets too; of those by which it is bad now."""
    text = _text(shop, "/dataset", **_CORE)
    other = _text(shop, "/dataset", dataset_namespace=small.NAMESPACE, dataset=small.RAW)

    listed = text[text.index("Incidents that it is in") : text.index("Whose it is")]
    assert listed.count("<li>") == 1
    assert f'href="/incidents/{estate.INCIDENT}"' in listed
    assert "nobody yet" in listed
    assert "Incidents that it is in" not in other


def test_an_incident_is_told_whole(shop):
    """Who was told, also under an id that was merged into it; what differs; what is hurt."""
    text = _text(shop, f"/incidents/{estate.INCIDENT}")

    for said in (
        "slack:#sales",
        "pagerduty:keys/sales",
        "aa17c02",
        'href="/runbooks/failed"',
        f'href="/runs/{estate.EARLIER_RUN}/diff/{estate.ROOT_RUN}"',
        "s3://shop/core/orders",
        "I am on it",
        "Everything that hangs on the root <small>5,",
    ):
        assert said in text, said
    assert "I am on it" not in _text(shop, f"/incidents/{estate.OTHER}")
    assert "Resolve</button>" not in _text(shop, f"/incidents/{estate.OVER}")


def test_an_address_can_put_no_words_of_its_own_into_a_page(shop):
    """What became of an action is said of our actions alone."""
    path = f"/incidents/{estate.INCIDENT}"

    assert "Done: I am on it." in _text(shop, path, did="acknowledge")
    assert "call me" not in _text(shop, path, did="call me", waits="call me")


@pytest.mark.postgres_nightly
def test_both_kinds_of_catalog_have_all_pages(catalog):
    """What SQLite and PostgreSQL understand alike."""
    with pages_of(catalog) as client:
        found = {path: client.get(path).status_code for path in _PATHS}

    assert set(found.values()) == {200, 404}


@pytest.mark.parametrize("path", _PATHS)
def test_no_page_holds_markup_of_others_and_each_forbids_scripts(shop, path):
    """Escaped wherever it stands; one policy, one style with its hash."""
    answer = shop.get(path)

    assert "<img" not in answer.text
    assert "<script" not in answer.text
    assert "onload=alert(2)>" not in answer.text
    assert answer.headers.get_list("content-security-policy") == [CONTENT_SECURITY_POLICY]
    assert " style=" not in answer.text
    assert "script-src" not in CONTENT_SECURITY_POLICY


def test_the_mutant_without_escaping_lets_markup_through(monkeypatch):
    """Autoescape is what keeps it out."""
    monkeypatch.setattr("service.explorer.drawing._templates.autoescape", False)
    monkeypatch.setattr("service.explorer.drawing._templates.cache", None)

    assert "<img" in drawn("login", estate.NOW, estate.MARKUP)


def test_every_page_says_who_may_see_it():
    """By a name that the judge knows of readers too, openly, or for admins alone."""
    said = {handler.opt.get("access") for handler in _PAGES}

    assert said <= {*READABLE, "answer", "open", "set_aside", "audit"}
    assert all(handler.opt.get("page") for handler in _PAGES)


@pytest.mark.parametrize(
    ("ratio", "told"),
    [
        (1, "100 % left"),
        (0.9999, "99 % left"),
        (0.5, "50 % left"),
        (0.0001, "< 1 % left"),
        (0, "used up"),
        (-1328.96, "used up"),
        (None, "too early: 12 min of 30 d"),
    ],
)
def test_what_is_nearly_gone_is_not_told_as_gone(ratio, told):
    """Show what is nearly whole as not whole, and nothing left of an overdrawn budget."""
    assert words.budget_text(BudgetLeft(ratio, 720)) == told


def test_a_ratio_below_an_objective_is_never_rounded_up_to_it():
    """`99.9996 %` is not `100 %`."""
    assert words.percent(0.999996) == "99.9996 %"
    assert words.percent(1.0) == "100 %"
    assert words.percent(None) == "\N{EN DASH}"

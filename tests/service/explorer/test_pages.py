"""Texts of pages, for a user who may see everything."""

import re
from collections import Counter
from datetime import timedelta
from html import unescape

import pytest
from litestar.testing import TestClient

from service.api.access.judge import READABLE
from service.api.app import _PAGES, create_app
from service.explorer import formatting
from service.explorer.overview import _lines
from service.explorer.rendering import EXPLORER_CONTENT_POLICY, render_page
from service.queries.shapes import SliRow
from service.queries.slis import BudgetLeft
from service.runtime.settings import Settings
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


def test_overview_shows_problems_and_acknowledgements(shop):
    """List pages first, with acknowledgements, missed objectives and error budgets."""
    text = _text(shop, "/")

    assert "Degraded" in text
    assert "8 open incidents (1 page, 7 tickets)" in text
    assert "coverage (critical) misses its objective" in text
    assert text.index("job etl fails") < text.index("long text")
    assert "2 more</a>" in text
    assert "nobody" in text
    assert "67 % left" in text  # 0.4 of 120 were bad, 1.2 may be
    assert "used up" in text
    assert "needs 15 d of data" in text


def test_stale_states_are_never_shown_as_good(embedded):
    """Show no ratio and no good dataset an hour after the last evaluation."""
    small.fill(embedded, evaluated_at=estate.NOW - timedelta(hours=1))
    settings = Settings(catalog_url=embedded.url.render_as_string(hide_password=False))
    with TestClient(
        create_app(settings, lambda: estate.NOW), base_url="http://127.0.0.1"
    ) as client:
        first, listed = _text(client, "/"), _text(client, "/datasets")
        one = _text(client, "/dataset", dataset=small.RAW)

    assert "states that were good then are unknown now" in first
    assert "66.67 %" not in first
    for page in (listed, one):
        assert "The last evaluation was" in page
        assert 'class="state good"' not in page.partition("graph")[0]


def test_mostly_unknown_day_differs_from_a_day_without_data(shop):
    """Keep the total of two datasets although one is unknown; zero datasets have none."""
    rows = [
        SliRow("M2", "freshness", "critical", 1.0, 2.0, None, 0.99),
        SliRow("M4", "accuracy", "critical", 0.0, 0.0, None, 0.98),
    ]
    lines = _lines(rows, ("critical",), {})
    assert [line.cells[0].total for line in lines] == [2.0, 0.0]

    text = _text(shop, "/")
    assert "current ratio, objective, error budget of 30 days" in text
    assert "no data" in text


def test_every_link_of_a_page_works(shop):
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


def test_empty_installation_shows_the_command_to_start():
    """Answer 503 as a page."""
    with TestClient(create_app(Settings()), base_url="http://127.0.0.1") as client:
        answer = client.get("/")

    assert (answer.status_code, answer.headers["content-type"]) == (503, "text/html; charset=utf-8")
    assert "lineward up" in answer.text


def test_dataset_list_filters_by_name_and_fields(shop):
    """Treat percent signs as text, and ignore empty fields of the form."""
    everything = _text(shop, "/datasets", state="", tier="", owner="", find="")
    found = _text(shop, "/datasets", find="core/ord", state="bad")
    none = _text(shop, "/datasets", find="%")

    assert everything.count('href="/dataset?') == 4 + len(estate.HOSTILE)
    assert found.count('href="/dataset?') == 1
    assert 'value="core/ord"' in found
    assert "<option selected>bad</option>" in found
    assert "datasets match." in none
    assert 'href="/datasets?owner=sales"' in found
    assert "core/orders" in _text(shop, "/datasets", owner="sales")


def test_pages_of_the_list_link_to_each_other(shop, monkeypatch):
    """Keep the filters in the links."""
    monkeypatch.setattr("service.explorer.listing.PER_PAGE", 2)
    first = _text(shop, "/datasets", state="bad")
    second = _text(shop, "/datasets", state="bad", offset=2)

    assert 'rel="next" href="/datasets?state=bad&offset=2"' in first
    assert 'rel="prev"' not in first
    assert 'rel="prev" href="/datasets?state=bad"' in second
    assert "3 to 4 shown" in second


@pytest.mark.parametrize("offset", [-1, 10_000_001, 2**63])
def test_invalid_offset_is_rejected(shop, offset):
    """Answer 400 with a page that names the parameter; accept ten million."""
    rejected = shop.get("/datasets", params={"offset": offset})

    assert (rejected.status_code, "offset" in rejected.text) == (400, True)
    assert "No more datasets match." in _text(shop, "/datasets", offset=10_000_000)


def test_dataset_page_has_every_part(shop):
    """Show reason, run, limit, owner, graph, impact, verification, schema and alias."""
    text = _text(shop, "/dataset", **_CORE)

    for expected in (
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
        assert expected in text, expected
    assert "(None)" not in text
    graph = text[text.index("<svg width") : text.index('id="columns"')]
    assert graph.count("<a href") == 4 + len(estate.HOSTILE)


def test_dataset_page_lists_its_incidents_and_acknowledgements(shop):
    """List pages and tickets that affect the dataset now."""
    text = _text(shop, "/dataset", **_CORE)
    other = _text(shop, "/dataset", dataset_namespace=small.NAMESPACE, dataset=small.RAW)

    listed = text[text.index("<h2>Incidents</h2>") : text.index("Ownership")]
    assert listed.count("<li>") == 1
    assert f'href="/incidents/{estate.INCIDENT}"' in listed
    assert "unacknowledged" in listed
    assert "<h2>Incidents</h2>" not in other


def test_incident_page_has_every_part(shop):
    """Show notifications (also of a merged incident), differences and affected datasets."""
    text = _text(shop, f"/incidents/{estate.INCIDENT}")

    for expected in (
        "slack:#sales",
        "pagerduty:keys/sales",
        "aa17c02",
        'href="/runbooks/failed"',
        f'href="/runs/{estate.EARLIER_RUN}/diff/{estate.ROOT_RUN}"',
        "s3://shop/core/orders",
        "Acknowledge</button>",
        "Affected datasets <small>5 when the incident began: those of the root, and all downstream",
    ):
        assert expected in text, expected
    assert "Acknowledge</button>" not in _text(shop, f"/incidents/{estate.OTHER}")
    assert "Resolve</button>" not in _text(shop, f"/incidents/{estate.OVER}")


@pytest.mark.parametrize(
    ("channel", "reason", "text"),
    [
        (
            "slack:#shop",
            "not_configured",
            "the service has no settings for this channel: set LINEWARD_DELIVERY_SLACK_TOKEN_FILE",
        ),
        ("slack:#shop", "channel_not_found", "channel not found"),
        ("pigeon:7", "not_configured", "not configured"),
    ],
)
def test_a_failed_notification_names_the_missing_setting(channel, reason, text):
    """Name the environment variables; show other reasons as words."""
    assert formatting.failure_text(channel, reason) == text


def test_a_failed_notification_is_shown_with_what_it_reports(shop):
    """Show channel, content, attempts and reason."""
    text = _text(shop, f"/incidents/{estate.INCIDENT}")

    assert re.search(r"pagerduty:keys/sales</bdi> .*new incident, .*, 3 attempts: \w+", text)


@pytest.mark.parametrize(
    ("state", "reason", "sli", "text"),
    [
        ("learning", None, "M2", "too little history"),
        ("bad", "job_failed", "M2", "job failed"),
        ("unknown", None, "M2", "freshness"),
        ("good", None, None, ""),
    ],
)
def test_the_reason_of_a_learning_dataset_is_no_sli(state, reason, sli, text):
    """Say that there is too little history."""
    assert formatting.because(state, reason, sli) == text


def test_query_parameters_add_no_text_to_a_page(shop):
    """Show results of known actions only."""
    path = f"/incidents/{estate.INCIDENT}"

    assert "Done: Acknowledge." in _text(shop, path, did="acknowledge")
    assert "call me" not in _text(shop, path, did="call me", waits="call me")


@pytest.mark.postgres_nightly
def test_both_databases_serve_every_page(catalog):
    """Serve each page from SQLite and PostgreSQL."""
    with pages_of(catalog) as client:
        found = {path: client.get(path).status_code for path in _PATHS}

    assert set(found.values()) == {200, 404}


@pytest.mark.parametrize("path", _PATHS)
def test_pages_escape_names_and_forbid_scripts(shop, path):
    """Escape names everywhere; send one policy, and one style by its hash."""
    answer = shop.get(path)

    assert "<img" not in answer.text
    assert "<script" not in answer.text
    assert "onload=alert(2)>" not in answer.text
    assert answer.headers.get_list("content-security-policy") == [EXPLORER_CONTENT_POLICY]
    assert " style=" not in answer.text
    assert "script-src" not in EXPLORER_CONTENT_POLICY


def test_mutant_without_escaping_shows_markup(monkeypatch):
    """Turn autoescape off, and find the markup on the page."""
    monkeypatch.setattr("service.explorer.rendering._templates.autoescape", False)
    monkeypatch.setattr("service.explorer.rendering._templates.cache", None)

    assert "<img" in render_page("login", estate.NOW, estate.MARKUP)


def test_every_page_declares_its_access():
    """Declare a name that the access auditor knows, `open`, or a name for admins only."""
    declared = {handler.opt.get("access") for handler in _PAGES}

    assert declared <= {*READABLE, "answer", "open", "set_aside", "audit"}
    assert all(handler.opt.get("page") for handler in _PAGES)


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (1, "100 % left"),
        (0.9999, "99 % left"),
        (0.5, "50 % left"),
        (0.0001, "< 1 % left"),
        (0, "used up"),
        (-1328.96, "used up"),
        (None, "needs 15 d of data"),
    ],
)
def test_budget_text_never_rounds_to_full_or_empty(ratio, text):
    """Round down to 99 %, up to < 1 %, and show an overdrawn budget as used up."""
    assert formatting.budget_text(BudgetLeft(ratio)) == text


def test_percent_never_rounds_up_to_100():
    """Show `99.9996 %`, not `100 %`."""
    assert formatting.percent(0.999996) == "99.9996 %"
    assert formatting.percent(1.0) == "100 %"
    assert formatting.percent(None) == "\N{EN DASH}"

"""Page of events that the pipeline set aside."""

import re
from html import unescape

import pytest
from litestar.testing import TestClient
from sqlalchemy import insert

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from service.api.app import create_app
from service.runtime.settings import Settings
from tests.service import shop as small
from tests.service.api_lists import add_set_aside, set_aside_row
from tests.service.explorer import estate

_PATH = "/set-aside-events"


@pytest.fixture
def client(embedded):
    """Start pages over a shop without a set-aside event."""
    small.fill(embedded, evaluated_at=estate.NOW)
    settings = Settings(catalog_url=embedded.url.render_as_string(hide_password=False))
    app = create_app(settings, lambda: estate.NOW)
    with TestClient(app, base_url="http://127.0.0.1") as pages:
        yield pages


def _insert(engine, *rows: dict):
    with write_transaction(engine) as connection:
        connection.execute(insert(tables.event_set_aside), rows)


def _text(client, path):
    answer = client.get(path)
    assert answer.status_code == 200, answer.text
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", answer.text)).split())


def test_no_set_aside_event_is_a_sentence(client):
    """Show no table and no command, and mention nothing on the first page."""
    text = _text(client, _PATH)

    assert "No events are set aside." in text
    assert "lineward act" not in text
    assert _PATH not in client.get("/").text


def test_the_page_lists_events_and_the_command_that_requeues_them(client, embedded):
    """Show the newest first, and a dash for an unknown value."""
    unknown = dict.fromkeys(("producer", "job_namespace", "job_name", "run_id"))
    _insert(embedded, set_aside_row(41), set_aside_row(42, **unknown))

    text = _text(client, _PATH)

    assert text.index("42 2 h") < text.index("41 2 h")
    assert "ValueError: odd 1,234 etl.41 jobs" in text
    assert f"{small.RUN_ID} https://example.com/spark no" in text
    assert "ValueError: odd 1,234 \N{EN DASH} \N{EN DASH} \N{EN DASH} no" in text
    assert "lineward act requeue-set-aside 42 --yes" in text


def test_requeued_events_are_listed_by_all(client, embedded):
    """Show no command when no event waits."""
    add_set_aside(embedded, (41,))
    with write_transaction(embedded) as connection:
        row = {"spool_seq": 41, "requested_at": small.at(2)}
        connection.execute(insert(tables.event_requeue), row)

    text = _text(client, f"{_PATH}?all=true")

    assert "No events are set aside." in _text(client, _PATH)
    assert "https://example.com/spark 1 h ago" in text
    assert "lineward act" not in text


def test_pages_of_events_lead_to_all_of_them(client, embedded):
    """Show 100 of 130 on the first page, and a link to the other 30."""
    add_set_aside(embedded, range(1, 131))

    first = client.get(_PATH).text
    onwards = unescape(re.search(r'rel="next" href="([^"]*)"', first)[1])
    second = client.get(onwards).text

    assert [_numbers(first), _numbers(second)] == [set(range(31, 131)), set(range(1, 31))]
    assert 'rel="next"' not in second
    assert f'rel="first" href="{_PATH}"' in second


def _numbers(text):
    return {int(number) for number in re.findall(r'<tr><td class="number">(\d+)</td>', text)}


def test_text_of_an_event_is_never_markup(client, embedded):
    """Escape the error and all names, which quote the event."""
    names = ("error", "producer", "job_namespace", "job_name", "run_id")
    _insert(embedded, set_aside_row(1, **dict.fromkeys(names, estate.MARKUP)))

    html = client.get(_PATH).text

    assert estate.MARKUP not in html
    assert html.count("&lt;img src=x onerror=alert(1)&gt;") == 5


def test_the_warning_of_the_first_page_links_to_the_list(client, embedded):
    """Link it in the overall state, beside the pipeline and on the incident's page."""
    add_set_aside(embedded, (1, 2))
    row = estate.incident_row("00000000000000ee", "open", "ticket", "events", 1)
    with write_transaction(embedded) as connection:
        connection.execute(insert(tables.incident), row | {"root_kind": "set_aside"})

    overview = client.get("/").text
    incident = client.get("/incidents/00000000000000ee").text

    assert f'<a href="{_PATH}">2 events set aside</a>' in overview
    assert f'<a href="{_PATH}">2 set aside</a>' in overview
    assert f'<a href="{_PATH}">set-aside events</a>' in incident

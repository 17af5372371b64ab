"""M7: every lineage query that the API answered, and how fast."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from litestar.testing import TestClient
from prometheus_client import CollectorRegistry, generate_latest
from sqlalchemy import Engine, insert, text
from sqlalchemy.exc import SQLAlchemyError

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.process.clock import to_micros
from lineage.states import QUERY_LATENCY
from service.api.app import create_app
from service.api.served import counter_buffer, query_timer
from service.api.served.counter_buffer import CountBatch, CounterBuffer, flush_counts
from service.api.served.query_timer import Took
from service.exporter.metrics import CatalogCollector
from service.runtime.settings import Settings
from tests.service import shop
from tests.service.commandline import answer
from tests.service.jobs import registry_of, run_once

pytestmark = pytest.mark.postgres_nightly

NOW = datetime.fromisoformat("2026-11-21T12:30:00+00:00")
AT = to_micros(NOW)
HOUR = to_micros(NOW.replace(minute=0))
_DOCS = Path(__file__).resolve().parents[4] / "docs"
_COUNTER = "SELECT sli, tier, tier_origin, good, total, unknown FROM served_counter"


@pytest.fixture
def settings(catalog: Engine) -> Settings:
    """Return the settings of a service over the shop."""
    shop.fill(catalog)
    return Settings(catalog_url=catalog.url.render_as_string(hide_password=False))


@pytest.fixture
def counts() -> CounterBuffer:
    """Return counts that wait to be stored."""
    return CounterBuffer()


@pytest.fixture
def client(settings: Settings, counts: CounterBuffer) -> Iterator[TestClient]:
    """Start the API with the counts of the test."""
    app = create_app(settings, clock=lambda: NOW, counts=counts)
    with TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False) as client:
        yield client


def _rows(catalog: Engine, sql: str) -> list[tuple[Any, ...]]:
    with catalog.connect() as connection:
        return [tuple(row) for row in connection.execute(text(sql))]


@pytest.mark.parametrize(
    ("status", "seconds", "outcome"),
    [
        (200, 0.499, {"good": 1}),
        (404, 0.499, {"good": 1}),
        (200, 0.5, {"bad": 1}),
        (503, 0.001, {"bad": 1}),
        (500, 0.001, {"bad": 1}),
        (400, 0.001, {}),
        (401, 0.001, {}),
        (403, 0.001, {}),
    ],
)
def test_a_good_query_is_fast_and_without_an_error(status, seconds, outcome):
    """Count half a second as bad, and ignore requests without a query."""
    batch = query_timer.judge_query("lineage", status, Took(seconds), AT)

    assert batch.outcomes == {(QUERY_LATENCY.id, HOUR, name): n for name, n in outcome.items()}
    assert bool(batch.buckets) == bool(outcome)


def test_a_query_is_counted_once_with_its_kind(client, counts):
    """Count lineage, dataset, why, datasets and runs, and not the status."""
    for path in (
        "/api/v1/lineage?dataset=core/orders",
        "/api/v1/dataset?dataset=core/orders",
        "/api/v1/why?dataset=core/orders",
        "/api/v1/datasets",
        f"/api/v1/runs/{shop.RUN_ID}",
        "/api/v1/slis",
        "/api/v1/status",
        "/livez",
        "/nowhere",
    ):
        client.get(path)

    taken = counts.take()

    assert taken.outcomes.total() == 5
    asked = {query for _, _, query, le in taken.buckets if le == "+Inf"}
    assert asked == {"lineage", "dataset", "why", "datasets", "run"}


def test_lineward_s_own_probe_is_measured_but_not_counted(client, counts):
    """Measure its time without counting it as good."""
    client.get("/api/v1/lineage?dataset=core/orders", headers={"Lineward-Probe": "1"})

    taken = counts.take()

    assert not taken.outcomes
    assert taken.buckets[query_timer.QUERIES_METRIC, "lineward", "probe", "+Inf"] == 1


def test_a_query_that_fails_is_bad(client, counts, monkeypatch):
    """Count a 500 as bad, however fast it was."""

    def broken(*_arguments: object) -> None:
        message = "broken"
        raise RuntimeError(message)

    monkeypatch.setattr("service.api.routes.lineage.find_lineage", broken)

    assert client.get("/api/v1/lineage?dataset=core/orders").status_code == 500

    (id_,) = counts.take().outcomes
    assert id_ == (QUERY_LATENCY.id, HOUR, "bad")


@pytest.mark.postgres_always
def test_served_queries_add_up_in_the_catalog(catalog, counts):
    """Flush twice, as after a restart: sums, and a cumulative histogram."""
    for seconds in (0.02, 0.7):
        counts.add(query_timer.judge_query("lineage", 200, Took(seconds), AT))
        flush_counts(catalog, counts)
    flush_counts(catalog, counts)

    assert _rows(catalog, _COUNTER) == [("M7", "all", "default", 1.0, 2.0, 0.0)]
    assert _rows(catalog, "SELECT sli, tier, hour, good, total FROM served_hour") == [
        ("M7", "all", HOUR, 1.0, 2.0)
    ]
    found = dict(_rows(catalog, "SELECT le, value FROM served_bucket"))
    assert (found["0.01"], found["0.025"], found["0.5"], found["1.0"], found["+Inf"]) == (
        *(0.0, 1.0, 1.0, 2.0, 2.0),
    )
    assert found["sum"] == pytest.approx(0.72)


@pytest.mark.usefixtures("settings")
def test_no_query_is_no_sample(catalog, counts):
    """Store no row and no ratio, neither 100 % nor 0 %."""
    flush_counts(catalog, counts)

    assert _rows(catalog, _COUNTER) == []
    (row,) = [row for row in answer("slis", catalog=catalog) if row["id"] == "M7"]
    assert (row["total"], row["ratio"], row["objective"]) == (0, None, 0.95)


def test_an_outage_of_the_catalog_loses_no_count(catalog, counts, monkeypatch):
    """Keep the counts that could not be stored for the next flush."""
    counts.add(query_timer.judge_query("lineage", 200, Took(0.1), AT))
    monkeypatch.setattr(counter_buffer, "add_batch", _away)
    with pytest.raises(SQLAlchemyError):
        flush_counts(catalog, counts)
    monkeypatch.undo()

    flush_counts(catalog, counts)

    assert _rows(catalog, _COUNTER) == [("M7", "all", "default", 1.0, 1.0, 0.0)]


def _away(*_arguments: object) -> None:
    message = "the catalog is away"
    raise SQLAlchemyError(message)


def test_a_service_that_stops_writes_down_what_is_left(settings, catalog, counts):
    """Run the job once more after the last answer: a clean restart loses nothing."""
    registry = registry_of(
        settings.catalog,
        lambda: [lambda engine: flush_counts(engine, counts)],
        every_seconds=3_600,
        first_seconds=3_600,
        runs_at_stop=True,
    )
    registry.start()
    counts.add(query_timer.judge_query("lineage", 200, Took(0.1), AT))

    registry.stop()

    assert _rows(catalog, _COUNTER) == [("M7", "all", "default", 1.0, 1.0, 0.0)]


def test_a_periodic_job_makes_no_catalog(tmp_path, counts):
    """Leave the making to the pipeline, keep the figures, and show that the job waits."""
    counts.add(query_timer.judge_query("lineage", 503, Took(0.1), AT))

    registry = run_once(
        f"sqlite:///{tmp_path / 'catalog.db'}", lambda engine: flush_counts(engine, counts)
    )

    assert [job.is_waiting for job in registry.states()] == [True]
    assert not (tmp_path / "catalog.db").exists()
    assert counts.take().outcomes.total() == 1


def test_a_failing_job_stops_no_other(settings, catalog, counts):
    """Run the other jobs, so that counters do not stand still."""
    counts.add(query_timer.judge_query("lineage", 200, Took(0.1), AT))

    run_once(settings.catalog, _away, lambda engine: flush_counts(engine, counts))

    assert _rows(catalog, _COUNTER) == [("M7", "all", "default", 1.0, 1.0, 0.0)]


def test_metrics_and_slis_show_queries_without_a_pipeline(catalog, counts):
    """Show counters, histogram and the day's ratio, which need no evaluation."""
    now = datetime.now(UTC)
    shop.fill(catalog, evaluated_at=datetime(2026, 11, 1, tzinfo=UTC))
    with write_transaction(catalog) as connection:
        connection.execute(insert(tables.meta), {"name": "catalog_epoch", "value": "e9"})
    for seconds in (0.1, 0.2, 0.3, 0.9):
        counts.add(query_timer.judge_query("lineage", 200, Took(seconds), to_micros(now)))
    flush_counts(catalog, counts)

    scraped = _scrape(catalog)

    labels = 'epoch="e9",sli="query_latency",tier="all",tier_origin="default"'
    assert f"lineage_sli_good_total{{{labels}}} 3.0" in scraped
    assert f"lineage_sli_total{{{labels}}} 4.0" in scraped
    assert 'lineage_query_seconds_bucket{backend="lineward",le="0.5",query="lineage"} 3.0' in (
        scraped
    )
    (row,) = [row for row in answer("slis", catalog=catalog) if row["id"] == "M7"]
    assert (row["good"], row["total"], row["ratio"]) == (3, 4, 0.75)


def _scrape(catalog: Engine) -> str:
    registry = CollectorRegistry()
    url = catalog.url.render_as_string(hide_password=False)
    registry.register(CatalogCollector(Settings(catalog_url=url)))
    return generate_latest(registry).decode()


def test_an_empty_batch_is_nothing():
    """Open no transaction."""
    assert not CountBatch()


def _handlers_of_queries(client: TestClient) -> list[tuple[str, str]]:
    """Return path and query of each handler that M7 measures."""
    return [
        (route.path_format, each.opt["query"])
        for route in client.app.routes
        for each in getattr(route, "route_handlers", ())
        if each.opt.get("query")
    ]


def test_the_pages_name_each_path_and_query(client):
    """Compare docs/slis.md and docs/metrics.md with the handlers.

    Mutant: without `/history` on the page a path is missing.
    """
    found = _handlers_of_queries(client)
    section = (_DOCS / "slis.md").read_text("utf-8").partition("## M7")[2].partition("\n|")[0]
    row = (_DOCS / "metrics.md").read_text("utf-8").partition("| `lineage_query_seconds`")[2]
    values = row.partition("\n")[0].partition("`query` is ")[2]

    paths = {one.removeprefix("GET /api/v1") for one in re.findall(r"`([^`]+)`", section)}
    expected = {re.sub(r"{.*}", "…", path).removeprefix("/api/v1") for path, _ in found}
    assert paths == expected
    assert set(re.findall(r"`(\w+)`", values)) == {query for _, query in found} | {
        query_timer.PROBE
    }

"""Queries of every panel, sent to a real Prometheus that scraped a real service's metrics.

What may be empty though all is well stands in `RIGHTLY_EMPTY`, each with why.
"""

import json
import shutil
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, start_http_server
from sqlalchemy import Engine

from collector.shipper import metrics as shipper_metrics
from collector.shipper.window import Backlog
from lineage.catalog.engine import catalog_url, open_catalog
from lineage.policy.reading import parse_policy
from lineage.process.clock import system_clock
from service.exporter.metrics import CatalogCollector
from service.runtime.settings import Settings
from slis.stream.log.spool_reader import last_seq_of, open_spool_to_read
from tests.alerts.rules.alertmanagers import scraping
from tests.alerts.rules.promtool import judging_budgets_at_once, rules_of
from tests.collector.bodies import run_event
from tests.collector.running import Collector
from tests.dashboards import estate
from tests.dashboards.boards import UIDS, board
from tests.dashboards.panel_queries import ALL, Prometheus, fill_variables, list_targets
from tests.service import shop
from tests.suite.waiting import until

RIGHTLY_EMPTY: dict[str, str] = {}
_CONFIGURATION = """
global: {{scrape_interval: 1s, evaluation_interval: 1s}}
rule_files: [lineward-rules.yml]
scrape_configs:
  - {{job_name: lineward, static_configs: [{{targets: ["127.0.0.1:{service}"]}}]}}
  - {{job_name: lineward-collector, static_configs: [{{targets: ["127.0.0.1:{collector}"]}}]}}
  - {{job_name: lineward-shipper, static_configs: [{{targets: ["127.0.0.1:{shipper}"]}}]}}
"""
_ONE = {"$tier": "critical", "$owner": "sales"}
_ONE |= {"$dataset_namespace": shop.NAMESPACE, "$dataset": shop.CORE}
# Slowest parts: rules over rules; the collector reads the pipeline's position after 30 s.
_LAST = (
    "sum(sli_tier:lineage_sli:increase5m) > 0",
    "sum(sli_tier:lineage_error_budget_left:ratio30d)",
    "lineage_collector_spool_waiting_events",
)


@pytest.fixture(scope="module")
def prometheus(
    tmp_path_factory: pytest.TempPathFactory, empty_catalog: Path
) -> Iterator[Prometheus]:
    """Start a Prometheus that has scraped service and collector for a recorded budget."""
    folder = tmp_path_factory.mktemp("scraped")
    shutil.copy(empty_catalog, folder)
    (folder / "lineward.yaml").write_text(estate.policy_text())
    engine = open_catalog(catalog_url(folder))
    estate.fill(engine, folder)
    collector = Collector(folder).ready()
    registry = CollectorRegistry()
    # Keeps the evaluation current, however long the queries take.
    lasting = {"stale_evaluation_seconds": 3_600.0}
    settings = Settings(data_dir=folder, policy=folder / "lineward.yaml", **lasting)
    catalog_metrics = CatalogCollector(settings)
    catalog_metrics.renew_cache()
    registry.register(catalog_metrics)
    server, thread = start_http_server(0, addr="127.0.0.1", registry=registry)
    shipper_metrics.measure(lambda: Backlog(2, estate.ago(5)), system_clock)
    shipping = start_http_server(0, addr="127.0.0.1", registry=shipper_metrics.REGISTRY)
    rules = rules_of(parse_policy(estate.policy_text())).replace("interval: 2m", "interval: 1s")
    rules = judging_budgets_at_once(rules)
    (folder / "lineward-rules.yml").write_text(rules, encoding="utf-8")
    for n in range(3):
        assert collector.post(_event(n)).status_code == 201
    # The collector numbers new events after those of the catalog.
    with closing(open_spool_to_read(folder / "spool.db")) as spool:
        estate.land(engine, last_seq_of(spool), 3)
    ports = {"collector": collector.port, "shipper": shipping[0].server_port}
    text = _CONFIGURATION.format(service=server.server_port, **ports)
    try:
        with scraping(folder, text) as url:
            client = Prometheus(url)
            until(lambda: client.run_query("sum(lineage_errors_total) == 6", is_range=False))
            for passed in (1, 2):
                _go_on(client, collector, engine, 6 + 2 * passed)
            for expr in _LAST:
                until(lambda expr=expr: client.run_query(expr, is_range=False))
            yield client
    finally:
        for each, its_thread in ((server, thread), shipping):
            each.shutdown()
            its_thread.join()
            each.server_close()
        collector.stop()
        engine.dispose()


def _event(second: int) -> bytes:
    return json.dumps(run_event(eventTime=f"2026-11-21T09:00:0{second}Z")).encode()


def _go_on(client: Prometheus, collector: Collector, engine: Engine, errors: int) -> None:
    """Raise counters, reject a body, and wait until a scrape has both."""
    estate.go_on(engine)
    assert collector.post(b"{}").status_code == 400
    until(lambda: client.run_query(f"sum(lineage_errors_total) >= {errors}", is_range=False))
    until(lambda: client.run_query("sum(lineage_collector_refused_total) > 0", is_range=False))


def test_every_query_has_data_or_a_reason_for_none(prometheus):
    """Query all tiers, owners and datasets; reject a listed reason that no longer applies."""
    empty = {
        name
        for name, target in list_targets()
        if not prometheus.run_query(fill_variables(target["expr"], ALL), is_range=target["range"])
    }

    assert empty == set(RIGHTLY_EMPTY)


def test_a_query_of_a_missing_series_has_no_data(prometheus):
    """Check that the test above finds a panel over a series that nobody exports."""
    assert prometheus.run_query("max(lineage_no_such_series)", is_range=True) == []
    with pytest.raises(AssertionError, match="parse error"):
        prometheus.run_query("max(", is_range=False)


def test_every_query_is_valid_for_one_dataset(prometheus):
    """Set chosen values: no query becomes invalid, with or without data."""
    for name, target in list_targets():
        found = prometheus.run_query(fill_variables(target["expr"], _ONE), is_range=target["range"])
        assert isinstance(found, list), name


def test_annotations_and_variables_use_existing_series(prometheus):
    """Return times and durations of annotations, and values to choose from."""
    for uid in UIDS:
        document = board(uid)
        chosen = _ONE if uid == "lineward-debug" else ALL
        for annotation in document["annotations"]["list"]:
            assert prometheus.run_query(fill_variables(annotation["expr"], ALL), is_range=True), (
                annotation
            )
        queries = [one["query"] for one in document["templating"]["list"] if one["type"] == "query"]
        for query in queries:
            selector, label = query.removeprefix("label_values(")[:-1].rsplit(", ", 1)
            found = prometheus.run_query(fill_variables(selector, chosen), is_range=False)
            assert any(label in series["metric"] for series in found), query


def test_figures_match_the_catalog(prometheus):
    """Compare root, critical datasets and time left of the incident."""
    found = {}
    for name, target in list_targets():
        if "Open incidents with owner" in name:
            (row,) = prometheus.run_query(fill_variables(target["expr"], ALL), is_range=False)
            found[target["legendFormat"]] = float(row["value"][1])
            labels = row["metric"]

    fields = {"incident": "i-open", "kind": "failed", "owner": "sales", "root": "etl"}
    assert labels == {**fields, "root_namespace": "jobs", "severity": "page"}
    assert found["critical datasets"] == 0  # its impact includes an important dataset
    now = time.time()
    assert found["age"] == pytest.approx(now - estate.ago(900) / 1e6, abs=30)
    assert found["until next deadline"] == pytest.approx(estate.ago(-3_600) / 1e6 - now, abs=30)

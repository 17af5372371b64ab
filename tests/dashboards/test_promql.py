"""Every question of every panel, asked of a real Prometheus that scraped a real service's metrics.

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

from lineage.catalog.engine import catalog_url, open_catalog
from lineage.policy.reading import parse
from service.exporter.metrics import CatalogCollector
from service.runtime.settings import Settings
from slis.stream.source import last_seq_of, open_spool
from tests.alerts.rules.alertmanagers import scraping
from tests.alerts.rules.promtool import judging_budgets_at_once, rules_of
from tests.collector.bodies import run_event
from tests.collector.running import Collector
from tests.dashboards import estate
from tests.dashboards.asked import ALL, Prometheus, filled, targets
from tests.dashboards.boards import UIDS, board
from tests.service import shop
from tests.service.waiting import until

RIGHTLY_EMPTY: dict[str, str] = {}
_CONFIGURATION = """
global: {{scrape_interval: 1s, evaluation_interval: 1s}}
rule_files: [lineward-rules.yml]
scrape_configs:
  - {{job_name: lineward, static_configs: [{{targets: ["127.0.0.1:{service}"]}}]}}
  - {{job_name: lineward-collector, static_configs: [{{targets: ["127.0.0.1:{collector}"]}}]}}
"""
_ONE = {"$tier": "critical", "$owner": "sales"}
_ONE |= {"$dataset_namespace": shop.NAMESPACE, "$dataset": shop.CORE}
# What takes longest: rules over rules; the collector reads the pipeline's place after 30 s.
_LAST = (
    "sum(sli_tier:lineage_sli:increase5m) > 0",
    "sum(sli_tier:lineage_error_budget_left:ratio30d)",
    "lineage_collector_spool_waiting_events",
)


@pytest.fixture(scope="module")
def prometheus(
    tmp_path_factory: pytest.TempPathFactory, empty_catalog: Path
) -> Iterator[Prometheus]:
    """It has scraped a service and a collector for as long as a recorded budget takes."""
    folder = tmp_path_factory.mktemp("scraped")
    shutil.copy(empty_catalog, folder)
    (folder / "lineward.yaml").write_text(estate.policy_text())
    engine = open_catalog(catalog_url(folder))
    estate.fill(engine, folder)
    collector = Collector(folder).ready()
    registry = CollectorRegistry()
    # However long the questions take: the evaluation stays one of now.
    lasting = {"stale_evaluation_seconds": 3_600.0}
    settings = Settings(data_dir=folder, policy=folder / "lineward.yaml", **lasting)
    registry.register(CatalogCollector(settings))
    server, thread = start_http_server(0, addr="127.0.0.1", registry=registry)
    rules = rules_of(parse(estate.policy_text())).replace("interval: 2m", "interval: 1s")
    rules = judging_budgets_at_once(rules)
    (folder / "lineward-rules.yml").write_text(rules, encoding="utf-8")
    for n in range(3):
        assert collector.post(_event(n)).status_code == 201
    # The collector numbers new events behind those that the catalog has taken.
    with closing(open_spool(folder / "spool.db")) as spool:
        estate.land(engine, last_seq_of(spool), 3)
    text = _CONFIGURATION.format(service=server.server_port, collector=collector.port)
    try:
        with scraping(folder, text) as url:
            asked = Prometheus(url)
            until(lambda: asked.ask("sum(lineage_errors_total) == 6", is_range=False))
            for passed in (1, 2):
                _go_on(asked, collector, engine, 6 + 2 * passed)
            for expr in _LAST:
                until(lambda expr=expr: asked.ask(expr, is_range=False))
            yield asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
        collector.stop()
        engine.dispose()


def _event(second: int) -> bytes:
    return json.dumps(run_event(eventTime=f"2026-11-21T09:00:0{second}Z")).encode()


def _go_on(asked: Prometheus, collector: Collector, engine: Engine, errors: int) -> None:
    """Counters rise, a body is refused, and a scrape has seen both."""
    estate.go_on(engine)
    assert collector.post(b"{}").status_code == 400
    until(lambda: asked.ask(f"sum(lineage_errors_total) >= {errors}", is_range=False))
    until(lambda: asked.ask("sum(lineage_collector_refused_total) > 0", is_range=False))


def test_every_question_has_an_answer_or_a_reason_for_none(prometheus):
    """With all tiers, owners and datasets; a listed reason that holds no more is taken out."""
    empty = {
        name
        for name, target in targets()
        if not prometheus.ask(filled(target["expr"], ALL), is_range=target["range"])
    }

    assert empty == set(RIGHTLY_EMPTY)


def test_a_question_of_what_does_not_exist_has_no_answer(prometheus):
    """What the test above would see of a panel over a series that nobody exports."""
    assert prometheus.ask("max(lineage_no_such_series)", is_range=True) == []
    with pytest.raises(AssertionError, match="parse error"):
        prometheus.ask("max(", is_range=False)


def test_every_question_can_be_asked_of_one_dataset(prometheus):
    """Chosen values make no question wrong, whether or not it then has an answer."""
    for name, target in targets():
        found = prometheus.ask(filled(target["expr"], _ONE), is_range=target["range"])
        assert isinstance(found, list), name


def test_annotations_and_variables_are_of_series_that_exist(prometheus):
    """Spans and instants of what happened; values to choose from."""
    for uid in UIDS:
        document = board(uid)
        chosen = _ONE if uid == "lineward-debug" else ALL
        for annotation in document["annotations"]["list"]:
            assert prometheus.ask(filled(annotation["expr"], ALL), is_range=True), annotation
        queries = [one["query"] for one in document["templating"]["list"] if one["type"] == "query"]
        for query in queries:
            selector, label = query.removeprefix("label_values(")[:-1].rsplit(", ", 1)
            found = prometheus.ask(filled(selector, chosen), is_range=False)
            assert any(label in series["metric"] for series in found), query


def test_a_figure_is_what_the_catalog_says(prometheus):
    """Not any answer will do: the incident's root, its criticals and its time left."""
    found = {}
    for name, target in targets():
        if "Open incidents with owner" in name:
            (row,) = prometheus.ask(filled(target["expr"], ALL), is_range=False)
            found[target["legendFormat"]] = float(row["value"][1])
            labels = row["metric"]

    fields = {"incident": "i-open", "kind": "failed", "owner": "sales", "root": "etl"}
    assert labels == {**fields, "root_namespace": "jobs", "severity": "page"}
    assert found["critical datasets"] == 0  # its impact is an important one
    now = time.time()
    assert found["age"] == pytest.approx(now - estate.ago(900) / 1e6, abs=30)
    assert found["until next deadline"] == pytest.approx(estate.ago(-3_600) / 1e6 - now, abs=30)

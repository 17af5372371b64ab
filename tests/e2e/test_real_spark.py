import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from lab.demo.spark import http, listener_conf
from tests.e2e.running import Up
from tests.suite.http_client import CLIENT
from tests.suite.ports import free_port
from tests.suite.waiting import until

pytestmark = pytest.mark.e2e

COVERED = 'lineage_sli_total{sli="coverage",tier="optional"}'


@pytest.fixture
def landing() -> dict[str, str]:
    """Write the files of visits and pages."""
    return {"visits": "page,visitor\n/a,1\n/b,2\n", "pages": "page,section\n/a,x\n"}


@pytest.fixture
def visited(lake: Path, up: Up, run) -> Path:
    """Run a user's job, whose listener sends to `up`; return its lake."""
    tags = {"spark.openlineage.job.tags": "code_version:4f2c1e9;job_version:1.8"}
    run("visits", lake, listener_conf(http(up.collector), namespace="web") | tags)
    return lake


@pytest.fixture
def prometheus(tmp_path: Path, up: Up) -> Iterator[str]:
    """Start a real Prometheus that scrapes `up`; return its address."""
    port = free_port()
    target = f"127.0.0.1:{up.ports['METRICS']}"
    scrape = {"job_name": "lineward", "static_configs": [{"targets": [target]}]}
    config = {"global": {"scrape_interval": "1s"}, "scrape_configs": [scrape]}
    file = tmp_path / "prometheus.yml"
    file.write_text(json.dumps(config))  # JSON is valid YAML
    with (tmp_path / "prometheus.log").open("wb") as log:
        process = subprocess.Popen(
            [
                "prometheus",
                f"--config.file={file}",
                f"--storage.tsdb.path={tmp_path / 'tsdb'}",
                f"--web.listen-address=127.0.0.1:{port}",
            ],
            stdout=log,
            stderr=log,
        )
    yield f"http://127.0.0.1:{port}"
    process.kill()
    process.wait()


def test_a_real_job_is_seen_from_its_listener_to_prometheus(up: Up, visited: Path, prometheus: str):
    """Show graph, run, code version and SLIs as commands, clean metrics, and Prometheus data."""
    written = f"{visited}/visits_by_section"

    answer = until(lambda: _complete(up.ask("lineage", written)))

    upstream = {node["dataset"] for node in answer["upstream"]}
    assert upstream == {f"{visited}/visits", f"{visited}/pages"}
    assert answer["downstream"] == []
    run = answer["last_run"]
    assert run["job_namespace"] == "web"
    assert run["job_name"].startswith("visits_by_section")
    assert run["started_at"] < run["finished_at"]
    assert run["duration_seconds"] > 0
    (write,) = up.ask("history", written)["writes"]
    assert write["code_version"] == "4f2c1e9"

    # Three datasets are expected; two were only read, and never written.
    covered = 'lineage_coverage_ratio{tier="optional"} 0.333'
    metrics = until(lambda: _if_contains(up.metrics(), covered))
    assert 'lineage_sli_learning{sli="freshness",tier="optional"} 3' in metrics
    assert "lineage_ingestion_lag_seconds_bucket" in metrics
    checked = subprocess.run(
        ["promtool", "check", "metrics"], input=metrics, capture_output=True, text=True, check=False
    )
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")

    # Dataset-seconds: three datasets give three a second from the first evaluation on.
    assert until(lambda: _value(prometheus, f"sum({COVERED})")) > 0
    # A scrape that timed out on a busy machine leaves both without a value.
    none_too_many = "sum(lineage_sli_good_total) <= sum(lineage_sli_total)"
    until(lambda: _value(prometheus, none_too_many) is not None)


def _complete(answer):
    found = answer and answer["upstream"] and answer["last_run"]
    return answer if found and answer["last_run"]["status"] == "COMPLETE" else None


def _if_contains(text: str, word: str):
    return text if f"\n{word}" in text else None


def _value(prometheus: str, query: str) -> float | None:
    try:
        answer = CLIENT.get(
            f"{prometheus}/api/v1/query", params={"query": query}
        ).raise_for_status()
    except httpx.HTTPError:
        return None
    result = answer.json()["data"]["result"]
    return float(result[0]["value"][1]) if result else None

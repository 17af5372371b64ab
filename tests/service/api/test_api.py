import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from litestar.testing import TestClient
from sqlalchemy import Engine

from lineage.catalog.engine import catalog_url, migrate, open_catalog
from lineage.process.clock import Clock
from service.api.app import create_app
from service.runtime.settings import Settings
from tests.service import shop
from tests.service.commandline import answer, environ, lineward
from tests.suite.http_client import CLIENT
from tests.suite.ports import free_port
from tests.suite.waiting import until

pytestmark = pytest.mark.postgres_nightly


def _client(settings: Settings, **more: Clock) -> TestClient:
    return TestClient(create_app(settings, **more), base_url="http://127.0.0.1")


@pytest.fixture
def client(catalog: Engine) -> Iterator[TestClient]:
    """Start the API over the shop."""
    shop.fill(catalog)
    url = catalog.url.render_as_string(hide_password=False)
    with _client(Settings(catalog_url=url)) as client:
        yield client


def test_datasets_are_the_same_rows_as_the_command_gives(client, catalog):
    """Compare with the command, and mark a whole page as complete."""
    found = client.get("/api/v1/datasets").json()

    assert found["datasets"] == answer("datasets", catalog=catalog)
    assert (found["total"], found["partial"], found["next_cursor"]) == (4, False, None)


def test_a_page_that_is_cut_has_the_cursor_of_the_next(client):
    """Mark two of four as partial with the reason, and end with the last page."""
    first = client.get("/api/v1/datasets", params={"limit": 2}).json()
    onwards = {"limit": 2, "cursor": first["next_cursor"]}
    last = client.get("/api/v1/datasets", params=onwards).json()

    assert first["partial"] is True
    assert first["partial_reason"] == "2 of 4 shown"
    assert last["next_cursor"] is None
    names = [row["dataset"] for row in first["datasets"] + last["datasets"]]
    assert sorted(names) == sorted(shop.NAMES)


def test_a_dataset_with_slashes_in_its_name_is_found_by_parameters(client):
    """Take namespace and name from the query, so that slashes need no escape."""
    asked = {"dataset_namespace": shop.NAMESPACE, "dataset": shop.CORE}

    found = client.get("/api/v1/dataset", params=asked).json()

    assert found["dataset"] == shop.CORE
    assert found["aliases"] == [
        {"dataset_namespace": "hive://shop", "dataset": "core.orders", "rule": "symlink"}
    ]
    assert [state["state"] for state in found["states"]] == ["good", "bad"]


def test_a_spelling_of_the_namespace_leads_to_the_same_dataset(client):
    """Fold `s3a://shop` into `s3://shop`."""
    asked = {"dataset_namespace": "s3a://shop", "dataset": shop.CORE}

    assert client.get("/api/v1/dataset", params=asked).json()["dataset_namespace"] == "s3://shop"


def test_lineage_may_be_limited_to_one_direction(client):
    """Walk upstream only."""
    asked = {"dataset": shop.CORE, "direction": "upstream", "depth": 1}

    found = client.get("/api/v1/lineage", params=asked).json()

    assert [node["dataset"] for node in found["upstream"]] == [shop.RAW, shop.REF]
    assert found["downstream"] == []


def test_impact_may_be_limited_to_a_depth(client):
    """Walk to the end by default, and report a limited depth."""
    asked = {"dataset": shop.REF}

    whole = client.get("/api/v1/impact", params=asked).json()
    near = client.get("/api/v1/impact", params={**asked, "depth": 1}).json()

    assert [row["dataset"] for row in whole["affected"]] == [shop.CORE, shop.MART]
    assert [row["dataset"] for row in near["affected"]] == [shop.CORE]
    assert (whole["partial"], near["partial_reason"]) == (False, "there are more beyond depth 1")


def test_a_run_by_its_id(client):
    """Return its job, its end, and the datasets that it read and wrote."""
    (found,) = client.get(f"/api/v1/runs/{shop.RUN_ID}").json()["runs"]

    assert (found["status"], found["error_message"]) == ("FAIL", "division by zero")
    assert (found["code_version"], found["spark_conf"]) == ("4f1c0de", {})
    assert found["parameters"] == {"run_date": "2026-11-20"}
    assert [(io["dataset"], io["direction"]) for io in found["datasets"]] == [
        (shop.RAW, "read"),
        (shop.CORE, "write"),
    ]


def test_figures_without_a_pipeline_are_marked_as_stale(catalog):
    """Set each ratio to null, and `stale` and `partial` to true, with the reason."""
    then = datetime.now(UTC)
    shop.fill(catalog, evaluated_at=then)
    url = catalog.url.render_as_string(hide_password=False)

    later = then + timedelta(minutes=5)
    with _client(Settings(catalog_url=url), clock=lambda: later) as client:
        found = client.get("/api/v1/slis").json()

    assert {row["ratio"] for row in found["slis"]} == {None}
    assert (found["stale"], found["partial"]) == (True, True)
    assert "states that were good then are unknown now" in found["partial_reason"]


@pytest.mark.parametrize(
    ("path", "status", "detail"),
    [
        ("/api/v1/runs/none", 404, "no event of a run 'none' has been seen"),
        (
            "/api/v1/datasets?state=worse",
            400,
            "state: expected one of bad, failing, unknown, learning",
        ),
        ("/api/v1/datasets?tier=gold", 400, "tier: expected one of critical, important"),
        ("/api/v1/lineage?dataset=x&depth=0", 400, "depth"),
        ("/api/v1/lineage", 400, "dataset"),
        ("/nowhere", 404, "Not Found"),
    ],
)
def test_an_error_is_problem_json(client, path, status, detail):
    """Use status, title and detail for every error."""
    rejected = client.get(path)

    assert rejected.status_code == status
    assert rejected.headers["content-type"] == "application/problem+json"
    assert rejected.json()["status"] == status
    assert detail in rejected.json()["detail"]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("lake.core.orders", "s3://shop/core/orders"),  # its alias is core.orders
        ("lake.mart.daily", "s3://shop/mart/daily"),
        ("lake.mart.weekly", None),
    ],
)
def test_a_name_with_its_catalog_names_the_table_as_a_candidate(client, wanted, found):
    """Answer 404: a table of that name in another catalog is another table."""
    rejected = client.get(f"/api/v1/dataset?dataset={wanted}")

    assert rejected.status_code == 404
    assert rejected.json().get("candidates") == ([found] if found else None)


def test_an_unknown_dataset_names_candidates(client):
    """Answer 404 with similar names."""
    rejected = client.get("/api/v1/dataset", params={"dataset": "contries"})

    assert rejected.status_code == 404
    assert rejected.json()["candidates"] == ["s3://shop/ref/countries"]


def test_before_the_first_event_the_api_is_alive_and_not_ready(tmp_path: Path):
    """Answer 503 with what to do on every query; the process itself is healthy."""
    with _client(Settings(data_dir=tmp_path)) as client:
        assert client.get("/livez").status_code == 200
        assert client.get("/readyz").status_code == 503
        assert "send OpenLineage events to" in client.get("/api/v1/slis").json()["detail"]
        assert client.get("/api/v1/status").json()["partial"] is True


def test_every_answer_has_security_headers(client):
    """Forbid scripts, frames and sniffing, and let only the client cache, with revalidation."""
    headers = client.get("/api/v1/slis").headers

    assert headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "private, no-cache"
    assert client.get("/api/v1/runs/none").headers["cache-control"] == "no-store"


def test_another_host_name_is_rejected_on_loopback(client):
    """Reject a page whose name was resolved to 127.0.0.1."""
    assert client.get("/api/v1/slis", headers={"host": "evil.example"}).status_code == 400


def test_the_description_names_every_path(client):
    """Describe all paths in OpenAPI at /schema."""
    described = client.get("/schema").json()

    assert described["openapi"].startswith("3.")
    assert {"/api/v1/datasets", "/api/v1/lineage", "/api/v1/runs/{run_id}"} <= set(
        described["paths"]
    )


def _with_slis(scraped: str | None) -> str | None:
    return scraped if scraped and "lineage_sli_good_total" in scraped else None


def test_the_service_role_serves_api_and_metrics_and_stops_cleanly(tmp_path: Path):
    """Run the real process on real ports: both answer, its jobs run, and SIGTERM is exit code 0."""
    engine = open_catalog(catalog_url(tmp_path))
    migrate(engine)
    shop.fill(engine)
    engine.dispose()
    api, metrics = free_port(), free_port()
    ports = {"LINEWARD_SERVICE_PORT": str(api), "LINEWARD_METRICS_PORT": str(metrics)}
    process = subprocess.Popen(
        [sys.executable, "-m", "service"], env=environ(LINEWARD_DATA_DIR=str(tmp_path), **ports)
    )
    try:
        slis = until(lambda: _get(f"http://127.0.0.1:{api}/api/v1/slis"))
        # Until it leads, it exports no metrics of the catalog.
        scraped = until(lambda: _with_slis(_get(f"http://127.0.0.1:{metrics}/metrics")))
        jobs = until(lambda: _jobs_that_all_ran(api))
        printed = until(lambda: _printed_jobs(tmp_path))
    finally:
        process.terminate()

    assert json.loads(slis)["slis"]
    assert "lineage_periodic_job_failures_total" in scraped
    assert {job["job"]: (job["every_seconds"], job["is_leader_only"]) for job in jobs} == _JOBS
    assert {job["last_error"] for job in jobs} == {None}
    assert all(f"{name} " in printed for name in _JOBS)
    assert process.wait(30) == 0
    assert not list((tmp_path / "run").iterdir())


# Interval in seconds, and whether only the leader runs it: docs/kubernetes/several-services.md.
_JOBS = {
    "job_report": (5.0, False),
    "lease": (1.0, False),
    "access_policy": (1.0, False),
    "served_counts": (1.0, False),
    "access_counts": (1.0, False),
    "access_audit": (1.0, True),
    "policy_notes": (1.0, True),
    "impact_clock": (1.0, True),
    "notification_policy": (1.0, True),
    "incident_detection": (1.0, True),
    "notification": (1.0, True),
    "sending": (1.0, True),
    "diagnosis": (1.0, True),
    "policy_actions": (10.0, True),
    "retention": (3600.0, True),
    "metric_cache": (15.0, True),
}


def _jobs_that_all_ran(port: int) -> list[dict[str, Any]] | None:
    jobs = json.loads(_get(f"http://127.0.0.1:{port}/api/v1/status") or "{}").get("jobs", [])
    return jobs if jobs and all(job["last_run_at"] for job in jobs) else None


def _printed_jobs(folder: Path) -> str | None:
    text = lineward("status", "--data-dir", str(folder)).stdout
    return text if "metric_cache" in text else None


def _get(url: str) -> str | None:
    try:
        return CLIENT.get(url).raise_for_status().text
    except httpx.TransportError:
        return None


def test_the_application_leaves_logging_as_it_was(tmp_path: Path):
    """Check that httpx logs no URL: a webhook's may hold a secret."""
    root = logging.getLogger()
    before = root.level, list(root.handlers), logging.getLogger("httpx").getEffectiveLevel()
    create_app(Settings(data_dir=tmp_path))

    after = root.level, list(root.handlers), logging.getLogger("httpx").getEffectiveLevel()
    assert after == before


def test_an_unknown_path_is_a_page_for_a_browser(catalog):
    """Answer a problem to other clients, and name no class of Lineward."""
    shop.fill(catalog)
    settings = Settings(catalog_url=catalog.url.render_as_string(hide_password=False))
    with TestClient(create_app(settings), base_url="http://127.0.0.1") as client:
        page = client.get("/nosuch", headers={"Accept": "text/html,*/*;q=0.8"})
        response = client.get("/nosuch", headers={"Accept": "*/*"})

    assert (page.status_code, page.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert "Not Found" in page.text
    assert (response.status_code, response.json()["title"]) == (404, "Not Found")

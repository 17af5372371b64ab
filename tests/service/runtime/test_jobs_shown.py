"""Check that periodic jobs are shown by `lineward status`, the API and the metrics."""

import json

import pytest
from litestar.testing import TestClient
from prometheus_client import CollectorRegistry

from lineage.process.clock import from_micros
from service.api.app import create_app
from service.exporter.metrics import CatalogCollector
from service.runtime.jobs import JobGroup, JobsFile
from service.runtime.scheduler import JobRegistry
from service.runtime.settings import Settings
from tests.service import shop
from tests.service.commandline import lineward

_AT = 1_795_000_000


def _fail():
    raise ValueError("broken")


@pytest.fixture
def jobs(tmp_path, embedded):
    """Run two jobs of a service, of which one fails, and write them into its file."""
    shop.fill(embedded)
    registry = JobRegistry("service", clock=lambda: from_micros(_AT * 1_000_000))
    for name, task in (("sending", _fail), ("retention", lambda: None)):
        registry.add(JobGroup(name=name, jobs=(name,), tasks=lambda task=task: (task,)))
        registry.run(name)
    JobsFile(tmp_path, "service").write(registry.states())
    return registry


@pytest.mark.usefixtures("jobs")
def test_the_status_command_shows_each_job_and_why_one_failed(tmp_path):
    """Print a table and a sentence; give the same in JSON."""
    asked = ("status", "--data-dir", str(tmp_path))
    text = lineward(*asked, TZ="UTC").stdout
    rows = json.loads(lineward(*asked, "--json").stdout)["jobs"]

    (sending,) = [line for line in text.splitlines() if line.startswith("│ sending")]
    cells = [cell.strip() for cell in sending.split("│")[1:-1]]
    assert cells[:5] == ["sending", "service", "failing", "1 s", "2026-11-18 11:06:40 UTC"]
    assert cells[6] == "1"
    assert "service: job sending failed: ValueError: broken" in text
    assert [(row["job"], row["failures"], row["misfire"]) for row in rows] == [
        ("sending", 1, "run_once"),
        ("retention", 0, "run_once"),
    ]


def test_the_api_shows_the_jobs_of_its_own_process(jobs, tmp_path):
    """Read them from memory: the file may be 5 s old, or of a full disk."""
    jobs.run("sending")
    app = create_app(Settings(data_dir=tmp_path), jobs=jobs.states)
    with TestClient(app, base_url="http://127.0.0.1") as client:
        rows = client.get("/api/v1/status").json()["jobs"]

    assert [(row["job"], row["failures"], row["last_error"]) for row in rows] == [
        ("sending", 2, "ValueError: broken"),
        ("retention", 0, None),
    ]


def test_metrics_show_when_each_job_last_ran_and_how_often_it_failed(jobs, tmp_path):
    """Label them by role and job; a job that never ran has no time."""
    jobs.add(JobGroup(name="never", jobs=("never",), tasks=lambda: ()))
    registry = CollectorRegistry()
    registry.register(CatalogCollector(Settings(data_dir=tmp_path), jobs=jobs.states))
    found = {
        (sample.name.removeprefix("lineage_periodic_job_"), sample.labels["periodic_job"]): sample
        for family in registry.collect()
        for sample in family.samples
        if sample.name.startswith("lineage_periodic_job_")
    }

    assert {sample.labels["role"] for sample in found.values()} == {"service"}
    assert found.pop(("duration_seconds", "sending")).value >= 0
    assert found.pop(("duration_seconds", "retention")).value >= 0
    assert {name: sample.value for name, sample in found.items()} == {
        ("last_run_timestamp_seconds", "sending"): _AT,
        ("last_run_timestamp_seconds", "retention"): _AT,
        ("failures_total", "sending"): 1,
        ("failures_total", "retention"): 0,
        ("failures_total", "never"): 0,
    }

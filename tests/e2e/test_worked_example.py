"""The worked example of the definitions, with real Spark: jobs with and without their listener."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from service.demo.spark import command, environment, http, listener_conf
from tests.e2e.running import Up
from tests.service.waiting import until

pytestmark = pytest.mark.e2e

_JOB = Path(__file__).with_name("jobs") / "shop.py"
_POLICY = """
sources: ["file{lake}/landing/*"]
datasets:
  - match: file{lake}/core/orders
    tier: critical
  - match: file{lake}/mart/daily
    tier: important
"""
_WAIT_SECONDS = 180


@pytest.fixture
def shop(tmp_path: Path, lake: Path) -> Iterator[Up]:
    """A `lineward up` that reads the shop's event logs each few seconds."""
    (lake / "logs").mkdir()
    policy = tmp_path / "lineward.yaml"
    policy.write_text(_POLICY.format(lake=lake))
    running = Up(
        tmp_path,
        LINEWARD_POLICY=str(policy),
        LINEWARD_PIPELINE_EVENT_LOGS=(lake / "logs").as_uri(),
        LINEWARD_PIPELINE_EVIDENCE_SECONDS="3",
        LINEWARD_PIPELINE_EVIDENCE_SETTLE_SECONDS="10",
    )
    try:
        until(running.accepts, seconds=60)
        yield running
    finally:
        running.stop()


def _run(lake: Path, job: str, conf: dict[str, str]) -> None:
    logged = {"spark.eventLog.enabled": "true", "spark.eventLog.dir": (lake / "logs").as_uri()}
    argv = command(_JOB, str(lake), job, conf={**logged, **conf}, scratch=lake)
    done = subprocess.run(
        argv, env=environment(), cwd=lake, capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stderr[-2_000:]


def _states(up: Up, dataset: str) -> dict[str, tuple[str, str | None, str | None]]:
    answer = up.ask("why", dataset) or {"states": []}
    return {row["sli"]: (row["state"], row["reason"], row["evidence"]) for row in answer["states"]}


def test_each_fault_is_named_rightly(shop: Up, lake: Path):
    """Unreported run, un-instrumented input, a failed save that the listener calls COMPLETE."""
    told = listener_conf(http(shop.collector), namespace="shop")
    for job in ("ingest", "clean", "report"):
        _run(lake, job, told)
    _run(lake, "clean", {})
    _run(lake, "bill", told)

    def found(dataset: str, sli: str, reason: str) -> str | None:
        state, why, evidence = _states(shop, dataset).get(sli, (None, None, None))
        return evidence if (state, why) == ("bad", reason) else None

    core, countries = f"file{lake}/core/orders", f"file{lake}/ref/countries"
    unreported = until(lambda: found(core, "M1", "lineage_missing"), seconds=_WAIT_SECONDS)
    assert " of clean, known from evidence alone: no event of it came" in unreported
    assert until(lambda: found(countries, "M1", "never_reported"), seconds=_WAIT_SECONDS)
    missing = until(lambda: found(core, "M3b", "edge_missing"), seconds=_WAIT_SECONDS)
    assert "; evidence has it " in missing

    billed = next(
        f"{row['dataset_namespace']}/{row['dataset']}"
        for row in shop.ask("datasets")
        if row["dataset"] == "SEED"
    )
    failure = until(lambda: _told_of_failure(_states(shop, billed)), seconds=_WAIT_SECONDS)
    assert "as the Spark event log says and its events do not: [COLUMN_NOT_DEFINED" in failure

    mart, raw = f"file{lake}/mart/daily", f"file{lake}/raw/orders"
    assert _states(shop, mart)["M1"][0] == _states(shop, raw)["M1"][0] == "good"
    # `pytest -rP` shows what people are told.
    sys.stdout.writelines(shop.text("why", one) for one in (core, countries, billed, mart, raw))


def _told_of_failure(states: dict[str, tuple[str, str | None, str | None]]) -> str | None:
    words = [evidence for _, _, evidence in states.values() if evidence and "failed" in evidence]
    return words[0] if words else None

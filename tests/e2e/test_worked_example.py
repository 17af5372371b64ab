"""Worked example of the definitions, with real Spark: jobs with and without a listener."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lab.demo.spark import http, listener_conf
from tests.e2e.running import Up, accepting
from tests.suite.waiting import until

pytestmark = pytest.mark.e2e

_EACH_SECONDS = 5.0  # a check is a process of the command line

_POLICY = """
sources: ["file{lake}/landing/*"]
datasets:
  - match: file{lake}/core/orders
    tier: critical
  - match: file{lake}/mart/daily
    tier: important
"""


@pytest.fixture
def shop(tmp_path: Path, lake: Path) -> Iterator[Up]:
    """Start a `lineward up` that reads the shop's event logs every ten seconds."""
    (lake / "logs").mkdir()
    policy = tmp_path / "lineward.yaml"
    policy.write_text(_POLICY.format(lake=lake))
    settings = {
        "LINEWARD_POLICY": str(policy),
        "LINEWARD_PIPELINE_EVENT_LOGS": (lake / "logs").as_uri(),
        "LINEWARD_PIPELINE_EVIDENCE_SECONDS": "10",
        "LINEWARD_PIPELINE_EVIDENCE_SETTLE_SECONDS": "10",
    }
    with accepting(tmp_path, **settings) as running:
        yield running


def _states(up: Up, dataset: str) -> dict[str, tuple[str, str | None, str | None]]:
    answer = up.ask("why", dataset) or {"states": []}
    return {row["sli"]: (row["state"], row["reason"], row["evidence"]) for row in answer["states"]}


def test_each_fault_is_named_correctly(shop: Up, lake: Path, run):
    """Find an unreported run, an un-instrumented input, and a failed save reported as COMPLETE."""
    logged = {"spark.eventLog.enabled": "true", "spark.eventLog.dir": (lake / "logs").as_uri()}
    conf = logged | listener_conf(http(shop.collector), namespace="shop")
    run("shop", lake, conf, "ingest", "clean", "report", "bill")
    run("shop", lake, logged, "clean")

    def found(dataset: str, sli: str, reason: str) -> str | None:
        state, why, evidence = _states(shop, dataset).get(sli, (None, None, None))
        return evidence if (state, why) == ("bad", reason) else None

    def wait(condition: Callable[[], str | bool | None]) -> str:
        return str(until(condition, pause=_EACH_SECONDS))

    core, countries = f"file{lake}/core/orders", f"file{lake}/ref/countries"
    unreported = wait(lambda: found(core, "M1", "lineage_missing"))
    assert " of clean, known from evidence only: no events reported it" in unreported
    assert wait(lambda: found(countries, "M1", "never_reported"))
    missing = wait(lambda: found(core, "M3b", "edge_missing"))
    assert "; evidence has it " in missing

    billed = wait(lambda: _billed(shop))
    failure = wait(lambda: _find_failure(_states(shop, billed)))
    assert "as the Spark event log says and its events do not: [COLUMN_NOT_DEFINED" in failure

    mart, raw = f"file{lake}/mart/daily", f"file{lake}/raw/orders"
    for one in (mart, raw):
        wait(lambda one=one: _is_reported(shop, one))
    # `pytest -rP` shows what people read.
    sys.stdout.writelines(shop.text("why", one) for one in (core, countries, billed, mart, raw))


def _billed(up: Up) -> str | None:
    """Return the name of the database's table, once an event of it has landed."""
    rows = [row for row in up.ask("datasets") or () if row["dataset"] == "SEED"]
    return f"{rows[0]['dataset_namespace']}/{rows[0]['dataset']}" if rows else None


def _is_reported(up: Up, dataset: str) -> bool:
    state, *_ = _states(up, dataset).get("M1", (None,))
    return state == "good"


def _find_failure(states: dict[str, tuple[str, str | None, str | None]]) -> str | None:
    words = [evidence for _, _, evidence in states.values() if evidence and "failed" in evidence]
    return words[0] if words else None

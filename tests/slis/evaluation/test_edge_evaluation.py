"""Judging of edges: its counters, and the parts that evaluations do."""

from datetime import timedelta

import pytest

from lineage.catalog import tables
from lineage.policy import Policy
from lineage.policy.model import DatasetRule
from slis.evaluation.dataset_policies import renew_policies
from slis.evaluation.edge_evaluation import evaluate_edges
from slis.evaluation.evaluation import evaluate
from tests.slis.catalog_rows import CatalogRows
from tests.slis.sli_frames import day
from tests.suite.examples import is_long

_SAME_SQL = "edges are judged by the SQL of the first test"
POLICY = Policy(
    datasets=(
        DatasetRule("shop/core.orders", tier="critical", expect_inputs=("shop/raw", "shop/rates")),
    )
)
NOON = day(8, 12)
MINUTE = timedelta(minutes=1)


@pytest.fixture
def estate(catalog):
    """Read raw for core as declared; rates is declared too, and was never reported."""
    rows = CatalogRows(catalog, day(0))
    rows.keys = {name: rows.dataset(name) for name in ("raw", "rates", "core.orders")}
    rows.written(rows.keys["core.orders"], NOON)
    rows.edge(rows.keys["raw"], rows.keys["core.orders"], NOON)
    renew_policies(catalog, POLICY)
    return rows


def _now(rows):
    return {
        (row["sli"], row["tier"]): (row["good"], row["total"])
        for row in rows.rows(tables.sli_now)
        if row["sli"] in ("M3b", "M4")
    }


def _counters(rows):
    return {
        row["sli"]: (row["good"], row["total"])
        for row in rows.rows(tables.sli_counter)
        if row["sli"] in ("M3b", "M4")
    }


def _states(rows):
    return {
        row["sli"]: (row["state"], row["reason"], row["is_worst"])
        for row in rows.rows(tables.dataset_state)
        if row["dataset_key"] == rows.keys["core.orders"]
    }


def test_edges_count_in_seconds_and_stay_known_until_that_is_old(spark, estate):
    """Count no time in the first turn, and the minute since in the next.

    Each evaluation keeps to its own SLIs. Edges that are no longer judged are not shown as of
    now.
    """
    for minutes in range(3 if is_long() else 2):
        evaluate_edges(spark, estate.engine, POLICY, NOON + minutes * MINUTE)

    assert _now(estate) == {("M3b", "critical"): (1, 2)}
    assert _counters(estate) == {"M3b": (60, 120)}
    (evidence,) = (
        row["evidence"] for row in estate.rows(tables.dataset_state) if row["sli"] == "M3b"
    )
    assert evidence == "the edge from shop rates is declared, and was never reported"

    evaluate(spark, estate.engine, POLICY, NOON + 2 * MINUTE)

    assert _now(estate) == {("M3b", "critical"): (1, 2)}
    assert {"M1", "M2", "M3b"} <= set(_states(estate))
    assert _states(estate)["M3b"] == ("bad", "edge_missing", True)

    evaluate(spark, estate.engine, POLICY, NOON + 13 * MINUTE)

    assert _now(estate) == {}


@pytest.mark.postgres_nightly(_SAME_SQL)
def test_each_check_counts_once_and_lasts_thirty_days(spark, estate):
    """Count once, however many turns there are; keep it until it is old."""
    core = estate.keys["core.orders"]
    estate.check(estate.keys["raw"], core, NOON, "good")
    estate.check(estate.keys["rates"], core, NOON, "edge_wrong")

    for minutes in range(2):
        evaluate_edges(spark, estate.engine, POLICY, NOON + minutes * MINUTE)

    assert _counters(estate)["M4"] == (1, 2)
    assert _now(estate)["M4", "critical"] == (1, 2)
    assert _states(estate)["M4"][:2] == ("bad", "edge_wrong")
    (stratum,) = estate.rows(tables.accuracy_stratum)
    assert (stratum["producer"], stratum["good"], stratum["total"]) == ("listener", 1, 2)

    evaluate_edges(spark, estate.engine, POLICY, NOON + timedelta(days=31))

    assert ("M4", "critical") not in _now(estate)
    assert estate.rows(tables.accuracy_stratum) == []


@pytest.mark.postgres_nightly(_SAME_SQL)
def test_the_last_write_of_runs_compared_at_once_counts(spark, estate):
    """Take what was fixed since for good at the first look at eight days of logs."""
    core, raw = estate.keys["core.orders"], estate.keys["raw"]
    estate.check(raw, core, NOON, "edge_wrong", run="old", written=NOON - timedelta(days=7))
    estate.check(raw, core, NOON, "good", run="new", written=NOON - timedelta(days=1))

    evaluate_edges(spark, estate.engine, POLICY, NOON)

    assert _states(estate)["M4"][:2] == ("good", None)

"""M4: edges of events compared with those of the event log; weight of the counts."""

import pytest

from slis.indicators.accuracy import checks as module
from slis.indicators.accuracy.checks import compare_edges
from slis.indicators.accuracy.evaluate import accuracy_states, accuracy_tally, strata
from slis.indicators.accuracy.schemas import CHECKS, LATEST_CHECKS, SOURCES
from tests.slis.sli_frames import day, frame, instants


def _edges(spark, *rows: tuple, is_whole=True):
    """Return rows of (downstream, upstream name or None) of one run."""
    named = [
        {
            "root_run_id": "r1",
            "downstream_key": downstream,
            "upstream_key": None if name is None else hash(name),
            "upstream_namespace": None if name is None else "file",
            "upstream_name": name,
            "is_whole": is_whole,
        }
        for downstream, name in rows
    ]
    return frame(spark, SOURCES, named)


def _outcomes(found, *names: str):
    by_key = {hash(name): name for name in names}
    return {(row.downstream_key, by_key[row.upstream_key]): row.outcome for row in found.collect()}


def test_an_edge_agrees_is_missing_or_is_wrong(spark):
    """Check one of each; skip a write that the log does not have."""
    evidence = _edges(spark, (1, "/in/a"), (1, "/in/b"))
    reported = _edges(spark, (1, "/in/a"), (1, "/in/c"), (2, "/in/c"))

    assert _outcomes(compare_edges(evidence, reported), "/in/a", "/in/b", "/in/c") == {
        (1, "/in/a"): "good",
        (1, "/in/b"): "edge_missing",
        (1, "/in/c"): "edge_wrong",
    }


def test_a_list_that_is_not_whole_proves_no_reported_edge_wrong(spark):
    """Keep the edge: the missing part may name it."""
    evidence = _edges(spark, (1, "/in/a"), (1, None), is_whole=False)

    found = compare_edges(evidence, _edges(spark, (1, "/in/a"), (1, "/in/c")))

    assert _outcomes(found, "/in/a", "/in/c") == {(1, "/in/a"): "good"}


def test_a_folder_agrees_with_a_file_in_it_and_with_no_neighbour(spark):
    """Match the folder of a file, as the listener names it; `/in` is not the folder of `/in2/a`."""
    found = compare_edges(_edges(spark, (1, "/in/a"), (1, "/in2/a")), _edges(spark, (1, "/in")))

    assert _outcomes(found, "/in/a", "/in2/a", "/in") == {
        (1, "/in/a"): "good",
        (1, "/in2/a"): "edge_missing",
    }


def test_comparing_names_by_prefix_alone_would_hide_an_error(spark, monkeypatch):
    """Run the mutant of the test above: without the slash, a neighbour matches."""
    monkeypatch.setattr(
        module,
        "_is_same",
        lambda one, other: module.F.col(f"{one}.upstream_name").startswith(
            module.F.col(f"{other}.upstream_name")
        ),
    )

    found = compare_edges(_edges(spark, (1, "/in2/a")), _edges(spark, (1, "/in")))

    assert _outcomes(found, "/in2/a") == {(1, "/in2/a"): "good"}


def _check(good, bad, **row: str):
    who = {"producer": "p", "adapter_version": "1", "oracle": "event_log"}
    base = {**who, "tier": "critical", "tier_origin": "declared"}
    outcomes = ["good"] * good + ["edge_wrong"] * bad
    return [{**base, **row, "outcome": one, "is_counted": False} for one in outcomes]


@pytest.mark.parametrize(
    ("good", "bad", "state"),
    [(3, 0, "unknown"), (300, 1, "good"), (200, 0, "good"), (90, 10, "bad")],
)
def test_few_checks_prove_nothing_and_many_show_good_or_bad(spark, good, bad, state):
    """Use the bounds of the interval against an objective of 98 %: three of three prove nothing."""
    (found,) = strata(frame(spark, CHECKS, _check(good, bad)), objective=0.98).collect()

    assert (found.good, found.total, found.state) == (good, good + bad, state)


def test_the_bounds_are_those_of_wilson(spark):
    """Compare 9 of 10 at 95 % with the published formula: 0.5958 to 0.9821."""
    (found,) = strata(frame(spark, CHECKS, _check(9, 1)), objective=0.98).collect()

    assert (round(found.lower, 4), round(found.upper, 4)) == (0.5958, 0.9821)


def test_each_version_of_a_listener_is_judged_for_itself(spark):
    """Name the wrong one beside a right one; without a check there is no row."""
    rows = _check(400, 0) + _check(50, 50, adapter_version="2")
    rows += _check(0, 100, oracle="column_lineage")  # bad only: no sample

    found = strata(frame(spark, CHECKS, rows), objective=0.98).collect()

    assert {row.adapter_version: row.state for row in found} == {"1": "good", "2": "bad"}
    assert strata(frame(spark, CHECKS, []), objective=0.98).collect() == []


def test_checks_are_counted_by_tier_and_none_give_no_sample(spark):
    """Count the checks as events: all are good."""
    rows = _check(2, 1) + _check(1, 0, tier="optional")

    tally = accuracy_tally(frame(spark, CHECKS, rows), instants(spark, day(1))).collect()

    assert sorted((row.tier, row.good, row.total) for row in tally) == [
        ("critical", 2, 3),
        ("optional", 1, 1),
    ]
    own = [{**row, "oracle": "column_lineage"} for row in _check(0, 2)]
    assert accuracy_tally(frame(spark, CHECKS, own), instants(spark, day(1))).collect() == []
    assert accuracy_tally(frame(spark, CHECKS, []), instants(spark, day(1))).collect() == []


def test_a_dataset_is_bad_while_its_last_compared_run_has_an_edge_that_does_not_agree(spark):
    """Name the wrong edge before the missing one; a dataset whose edges agree is good."""
    base = {"root_run_id": "r1", "namespace": "file", "oracle": "event_log"}
    latest = [
        {**base, "downstream_key": 1, "name": "/a", "outcome": "edge_missing"},
        {**base, "downstream_key": 1, "name": "/b", "outcome": "edge_wrong"},
        {**base, "downstream_key": 2, "name": "/a", "outcome": "edge_missing"},
        {**base, "downstream_key": 3, "name": "/a", "outcome": "good"},
        *(
            {**base, "downstream_key": 4 + at, "name": "/a", "outcome": "edge_missing", "oracle": o}
            for at, o in enumerate(("column_lineage", "sql", "lineage_facet"))
        ),
        {**base, "downstream_key": 4, "name": "/b", "outcome": "edge_missing", "oracle": "sql"},
    ]

    states = accuracy_states(frame(spark, LATEST_CHECKS, latest), instants(spark, day(1))).collect()

    assert {(row.dataset_key, row.state, row.reason, row.evidence) for row in states} == {
        (1, "bad", "edge_wrong", "run r1: its events name file /b, its event log does not"),
        (
            *(2, "bad", "edge_missing"),
            "run r1: its event log has file /a, its events do not name it",
        ),
        (3, "good", None, None),
        (4, "bad", "edge_missing", "run r1: its SQL reads file /b, its events do not name it"),
        (5, "bad", "edge_missing", "run r1: its SQL reads file /a, its events do not name it"),
        (6, "bad", "edge_missing", "run r1: its lineage facet names file /a, its inputs do not"),
    }

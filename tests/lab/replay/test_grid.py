"""Slab judged at each time of a grid, stored as changes."""

from datetime import timedelta
from itertools import groupby

import pytest

from lab.replay import grid
from lineage.process.clock import to_micros
from slis.evaluation.facts_as_of import facts_as_of
from slis.evaluation.judge_datasets import datasets_judged
from slis.evaluation.reasons import add_reasons
from tests.slis.sli_frames import activity, datasets, day, edges, gaps

HOUR = 3_600.0
RAW, CORE, RENAMED, NEW_NAME, WELL, BACK, UNSEEN = range(1, 8)
START, END = day(10, 8), day(10, 10)


@pytest.fixture
def given(spark):
    """Build a late source from 9 on, its downstream, a renaming, and one that comes back."""
    limit = {"declared_limit_seconds": 25 * HOUR, "duration_seconds": 600.0}
    described = [{"dataset_key": each, **limit} for each in (RAW, CORE, WELL, BACK, UNSEEN)]
    described[-1] |= {"declared_limit_seconds": None}
    described += [
        {"dataset_key": RENAMED, "name": "core/old_orders", **limit},
        {"dataset_key": NEW_NAME, "name": "core/OldOrders", "first_seen_at": day(10, 8, 30)},
    ]
    facts = [
        {"dataset_key": RAW, "write": {"written_at": day(9, 8)}},
        {"dataset_key": CORE, "write": {"written_at": day(9, 8, 10)}},
        {"dataset_key": WELL, "write": {"written_at": day(10, 7)}},
        {"dataset_key": BACK, "write": {"written_at": day(9, 6)}},
        {"dataset_key": BACK, "failed": (day(10, 8, 20), "run-8", None)},
        {"dataset_key": BACK, "write": {"written_at": day(10, 9, 15)}},
        {"dataset_key": RENAMED, "write": {"written_at": day(9, 7, 20)}},
        {"dataset_key": NEW_NAME, "write": {"written_at": day(10, 8, 30)}},
    ]
    visible = [_known_from(each) for each in facts]
    return grid.SlabFrames(
        activity=activity(spark, *visible),
        datasets=datasets(spark, *described),
        into_streams=edges(spark),
        expected=edges(spark, (RAW, CORE)),
        gaps=gaps(spark),
        pauses=None,
    )


def _known_from(fact):
    at = fact["write"]["written_at"] if "write" in fact else fact["failed"][0]
    return {**fact, "visible_at": at}


def _list_changes(table):
    rows = table.sort_by([("as_of", "ascending")]).to_pylist()
    named = [
        (row["dataset_key"], row["sli"], row["as_of"], row["state"], row["reason"]) for row in rows
    ]
    return sorted(named, key=lambda row: row[:3])


def _judge_everything(given, minutes):
    """Judge every time with the product's functions, then keep the changes."""
    facts = facts_as_of(given.activity, given.datasets, minutes)
    judged = datasets_judged(facts, given.into_streams, given.gaps, given.pauses)
    rows = add_reasons(judged, given.expected).toArrow().to_pylist()
    rows.sort(key=lambda row: (row["dataset_key"], row["sli"], row["as_of"]))
    not_good = {row["dataset_key"] for row in rows if row["state"] in {"bad", "unknown"}}
    found = []
    for (key, sli), own in groupby(rows, key=lambda row: (row["dataset_key"], row["sli"])):
        states = [(row["as_of"], row["state"], row["reason"]) for row in own]
        if key in not_good | {NEW_NAME}:
            before = [(None, None, None), *states]
            new = [now for now, old in zip(states, before, strict=False) if now[1:] != old[1:]]
        else:
            new = [each for each in states if each[1] == "good"][:1]
        found += [(key, sli, *each) for each in new]
    return found


def test_changes_equal_those_of_judging_everything_at_every_time(spark, given):
    """Judge only bad datasets and near names: the changes are the same."""
    minutes = grid.instants(spark, to_micros(START), to_micros(END))

    found = _list_changes(grid.changes(given, minutes))

    assert found == _judge_everything(given, minutes)
    reasons_found = {(key, reason) for key, _, _, state, reason in found if state == "bad"}
    assert {(RAW, "silent"), (CORE, "upstream_late"), (RENAMED, "naming_mismatch")} <= reasons_found
    assert (BACK, "job_failed") in reasons_found
    assert [row[3] for row in found if row[0] == WELL] == ["good", "good"]


def test_every_minute_is_judged(spark):
    """Suppress from the beginning on, and not at the end."""
    found = grid.instants(spark, to_micros(START), to_micros(END)).toArrow()["as_of"].to_pylist()

    assert len(found) == 120
    assert (found[0], found[-1]) == (START, END - timedelta(minutes=1))

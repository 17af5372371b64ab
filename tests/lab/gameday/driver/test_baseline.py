"""Alerts of the baseline, and time in unknown, from the changes."""

import msgspec
import pyarrow as pa
import pytest

from lab.gameday.driver.baseline import baseline, unknown_spells
from lab.gameday.driver.saved_run import NotKeptError, SavedRun, SavedSlab, SlabFigures
from lab.gameday.estate import Shape, build_estate
from lab.gameday.faults import plan_faults
from lab.gameday.policy import build_policy
from lab.gameday.truth_shapes import NamePattern
from lab.replay.arrivals import ACTIVITY_ARROW
from lineage.process.clock import from_micros

TABLES = {
    "dataset": pa.table({"dataset_key": [1], "namespace": ["s3://lake"], "name": ["orders"]}),
    "dataset_policy": pa.table({"dataset_key": [1], "owner": ["shop"]}),
}


CHANGES = pa.schema(
    [
        ("as_of", pa.timestamp("us", tz="UTC")),
        ("dataset_key", pa.int64()),
        *((name, pa.string()) for name in ("sli", "state", "reason", "evidence")),
        ("limit_seconds", pa.float64()),
        ("limit_origin", pa.string()),
    ]
)


def slab(number, *changes: tuple[int, str, str]):
    """Build a slab of 1,000 µs; changes as (at, sli, state)."""
    changes = [
        {"as_of": from_micros(at), "dataset_key": 1, "sli": sli, "state": state}
        for at, sli, state in changes
    ]
    return SavedSlab(
        SlabFigures(number * 1_000, number * 1_000 + 1_000, 0, 0, False, {}),  # noqa: FBT003
        pa.Table.from_pylist(changes, CHANGES),
        pa.Table.from_pylist([], ACTIVITY_ARROW),
        TABLES,
    )


def test_a_dataset_that_is_bad_twice_at_once_is_one_alert():
    """Alert again when it is bad again after it was good."""
    given = [
        slab(0, (10, "M1", "bad"), (20, "M2", "bad"), (30, "M1", "good")),
        slab(1, (1_040, "M2", "good"), (1_050, "M2", "bad")),
    ]

    found = baseline(given)

    assert [(each.at, each.root, each.owner) for each in found] == [
        (10, NamePattern("s3://lake", "orders"), "shop"),
        (1_050, NamePattern("s3://lake", "orders"), "shop"),
    ]


def test_unknown_lasts_until_no_sli_is_unknown():
    """Count over the end of a slab; a state unknown at the end lasts until then."""
    given = [
        slab(0, (10, "M1", "unknown"), (20, "M2", "unknown"), (30, "M1", "good")),
        slab(1, (1_040, "M2", "good"), (1_500, "M2", "unknown")),
    ]

    assert list(unknown_spells(given)) == [(10, 1_040), (1_500, 2_000)]


def begin_day(folder):
    """Store a plan; return the saved run, the day and its policy."""
    shape = Shape(seed=1, datasets=60, days=5)
    estate = build_estate(shape)
    day = plan_faults(estate, 1, ["killed_job"])
    policy = build_policy(estate, day.suppressions)
    kept = SavedRun(folder)
    kept.begin(shape, day, policy)
    return kept, day, policy


def test_a_saved_run_is_loaded(tmp_path):
    """Load plan, policy and slabs, once all of them are stored."""
    kept, day, policy = begin_day(tmp_path / "day")
    kept.add(0, slab(0, (10, "M1", "bad")))
    with pytest.raises(NotKeptError, match="the run is incomplete"):
        list(kept.slabs())
    kept.end(1)

    (found,) = SavedRun(tmp_path / "day").slabs()

    assert found == slab(0, (10, "M1", "bad"))
    assert kept.planned().truth == day.truth
    assert kept.policy().hash == policy.hash


def test_a_run_that_another_release_saved_is_rejected(tmp_path):
    """Report what to do, in place of an error about a missing field."""
    kept, _, _ = begin_day(tmp_path / "day")
    renamed = [f"{name}_then" for name in ACTIVITY_ARROW.names]
    other = slab(0)
    kept.add(0, msgspec.structs.replace(other, activity=other.activity.rename_columns(renamed)))
    kept.end(1)

    with pytest.raises(NotKeptError, match="another release; run without --reuse again"):
        list(kept.slabs())


def test_an_empty_folder_is_no_game_day(tmp_path):
    """Report what to do."""
    with pytest.raises(NotKeptError, match="run without --reuse first"):
        SavedRun(tmp_path).planned()

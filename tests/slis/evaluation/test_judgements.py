"""Rows of `dataset_judgement`, and the datasets that the next evaluation watches."""

from datetime import UTC, datetime

import pyarrow as pa
import pytest

from lineage.states import COVERAGE, FRESHNESS
from slis.evaluation import judgements

NOON = datetime(2026, 11, 28, 12, tzinfo=UTC)
_TIME = pa.timestamp("us", "UTC")


def _rows(*times):  # noqa: ANN002
    count = len(times)
    return pa.table(
        {
            "dataset_key": pa.array(range(count), pa.int64()),
            "name": [f"core.d{key}" for key in range(count)],
            "tier": ["optional"] * count,
            "tier_origin": ["default"] * count,
            "is_source": [False] * count,
            "written_at": pa.array(times, _TIME),
            "read_at": pa.nulls(count, _TIME),
            "started_at": pa.nulls(count, _TIME),
        }
    )


def _judged(*states):  # noqa: ANN002
    rows = [
        {"dataset_key": key, "sli": sli, "state": state, "next_change_at": NOON}
        for key, found in enumerate(states)
        if found
        for sli, state in zip((COVERAGE.id, FRESHNESS.id), found.split(), strict=True)
    ]
    schema = [("dataset_key", pa.int64()), ("sli", pa.string()), ("state", pa.string())]
    return pa.Table.from_pylist(rows, pa.schema([*schema, ("next_change_at", _TIME)]))


# A dataset that was written and is good, a bad and an unknown one, one that was never used, and one
# that a clock ahead has seen first.
ROWS = _rows(NOON, NOON, NOON, None, None)
JUDGED = _judged("good good", "good bad", "unknown learning", "good learning", "")


@pytest.mark.parametrize("at_once", [1, 2, 10_000])
def test_each_judged_dataset_has_a_row(monkeypatch, at_once):
    """Give all of them, whatever the number of rows that are made at once."""
    monkeypatch.setattr(judgements, "_AT_ONCE", at_once)

    found = list(judgements.judgement_rows(ROWS, JUDGED))

    assert [(row["dataset_key"], row["coverage"], row["freshness"]) for row in found] == [
        (0, "good", "good"),
        (1, "good", "bad"),
        (2, "unknown", "learning"),
        (3, "good", "learning"),
    ]


def test_the_rows_that_are_watched_are_those_called_so():
    """Compare both: a row that is watched is looked at in each evaluation."""
    called = [
        row["dataset_key"] for row in judgements.judgement_rows(ROWS, JUDGED) if row["is_watched"]
    ]

    assert judgements.watched_rows(ROWS, JUDGED)["dataset_key"].to_pylist() == called == [1, 2, 3]

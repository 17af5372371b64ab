"""Evidence of a watched dataset: what is new of it has the dataset judged again."""

from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pytest

from lineage.states import COVERAGE, FRESHNESS
from slis.evaluation.watched_evidence import find_changed, keep_evidence

NOON = datetime(2026, 11, 28, 12, tzinfo=UTC)
BEFORE, AFTER = NOON - timedelta(hours=1), NOON + timedelta(hours=1)
_TIME = pa.timestamp("us", "UTC")
_TYPES = {
    "dataset_key": pa.int64(),
    **dict.fromkeys(("job_seen_at", "logs_read_at", "created_at", "app_seen_at"), _TIME),
    "app_summary": pa.string(),
    "app_lacks_listener": pa.bool_(),
    "app_checked_at": _TIME,
}


def _rows(**found):  # noqa: ANN003
    return pa.Table.from_pylist([{"dataset_key": 7, **found}], pa.schema(_TYPES))


def _judged(*bad_since):  # noqa: ANN002
    """Return both states of dataset 7, each bad since that time; None: it is good."""
    slis = (COVERAGE.id, FRESHNESS.id)
    columns = {"dataset_key": [7, 7], "sli": slis, "bad_since": pa.array(bad_since, _TIME)}
    return pa.table(columns)


def _changed(before, now, bad_since):
    return find_changed(keep_evidence(_rows(**before), _judged(*bad_since)), _rows(**now))


@pytest.mark.parametrize("looked", ["logs_read_at", "app_checked_at"])
@pytest.mark.parametrize(
    ("before", "now", "bad_since", "is_changed"),
    [
        (BEFORE, AFTER, (None, NOON), True),
        (BEFORE, AFTER, (NOON, None), True),
        (None, AFTER, (None, NOON), True),
        (AFTER, None, (None, NOON), True),  # a watch that is not complete any more
        (BEFORE, NOON, (None, NOON), False),  # what is due at noon is late a moment later
        (BEFORE, AFTER, (None, AFTER), False),
        (AFTER, AFTER + timedelta(hours=1), (NOON, NOON), False),
        (BEFORE, AFTER, (None, None), False),
        (None, None, (None, NOON), False),
    ],
)
def test_a_look_is_news_only_when_it_passes_the_deadline(
    looked, before, now, bad_since, is_changed
):
    """Judge a dataset again when a look has passed the time since which the dataset is bad."""
    found = _changed({looked: before}, {looked: now}, bad_since)

    assert found == ({7} if is_changed else set())


@pytest.mark.parametrize(
    ("column", "before", "now"),
    [
        ("job_seen_at", BEFORE, NOON),
        ("created_at", None, NOON),
        ("app_seen_at", NOON, None),
        ("app_summary", "as a", "as b"),
        ("app_lacks_listener", False, True),
    ],
)
def test_other_evidence_is_news_whenever_it_differs(column, before, now):
    """Compare what reasons and their words rest on."""
    assert _changed({column: before}, {column: now}, (None, None)) == {7}
    assert _changed({column: now}, {column: now}, (None, None)) == set()

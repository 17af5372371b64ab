"""Rows of the catalog from logs: keys, names, and what is left out."""

import pytest

from lineage.names.names import job_of
from lineage.policy import folds_of, parse_policy
from slis.evidence.rows import evidence_rows, execution_key, stream_key

_FRAMES = {"applications": [], "executions": [], "touched": [], "jobs": [], "stages": []}
_EXECUTION = {
    "path": "log",
    "execution_id": 7,
    "root_execution_id": 3,
    "stream_run_id": None,
    "stream_batch": None,
    "started_at": 10,
    "ended_at": 20,
    "error_message": None,
    "reads_unnamed": None,
}


@pytest.mark.parametrize(
    ("application", "job"),
    [
        ("daily_orders", "daily_orders"),
        ("Daily Orders", "daily_orders"),
        ("MyXMLBasedApplication", "my_xml_based_application"),
        ("JDBCRelationApplication", "jdbc_relation_application"),
        ("@ more than   one !", "more_than_one"),
        ("load2lake", "load2lake"),
    ],
)
def test_an_application_is_the_job_that_its_listener_would_call_it(application, job):
    """Write the name in small letters, whatever separates the words."""
    assert job_of(application) == job


def test_an_execution_belongs_to_its_outermost_and_to_its_micro_batch():
    """Return both keys, so that rows of several files match."""
    row = {**_EXECUTION, "stream_run_id": "r", "stream_batch": 4}

    found = evidence_rows({**_FRAMES, "executions": [row]}, {"log": "app"}, lambda *_: None)

    (execution,) = found.executions
    assert execution["execution_key"] == execution_key("app", 7)
    assert execution["group_key"] == execution_key("app", 3)
    assert execution["stream_key"] == stream_key("app", "r", 4)


def test_a_file_of_an_unknown_application_is_left_out():
    """Skip the rows: the first file of the log, which names the application, is not read yet."""
    found = evidence_rows({**_FRAMES, "executions": [_EXECUTION]}, {}, lambda *_: None)

    assert found.executions == []


def test_a_hidden_name_is_kept_where_it_can_mean_one_dataset_only():
    """Prove no absence by its execution, found or not."""
    base = {"path": "log", "execution_id": 7, "stream_run_id": None, "stream_batch": None}
    touched = [
        {**base, "direction": "read", "kind": "table", "location": name, "is_whole": True}
        for name in ("known", "unknown")
    ]
    frames = {**_FRAMES, "executions": [_EXECUTION], "touched": touched}

    found = evidence_rows(frames, {"log": "app"}, lambda _, name: 99 if name == "known" else None)

    assert [row["dataset_key"] for row in found.io] == [99]
    assert found.executions[0]["is_whole"] is False


def test_a_path_is_the_dataset_that_events_would_name():
    """Fold as for events: scheme, partitions, slashes."""
    base = {"path": "log", "execution_id": 7, "stream_run_id": None, "stream_batch": None}
    location = "s3a://lake/orders/dt=2026-11-21"
    row = {**base, "direction": "read", "kind": "file", "location": location, "is_whole": True}

    found = evidence_rows(
        {**_FRAMES, "executions": [_EXECUTION], "touched": [row]}, {"log": "app"}, lambda *_: None
    )

    (name,) = found.spellings.names()
    assert name[2:4] == ("s3://lake", "orders")


def test_a_path_that_the_policy_folds_is_the_dataset_of_its_fold():
    """Match the dataset of the events: otherwise a log would blame another one."""
    base = {"path": "log", "execution_id": 7, "stream_run_id": None, "stream_batch": None}
    location = "s3a://lake/run_7/dt=2026-11-21"
    row = {**base, "direction": "read", "kind": "file", "location": location, "is_whole": True}
    folds = folds_of(parse_policy("folds: [{match: 's3://lake/run_{n}', dataset: s3://lake/run}]"))
    frames = {**_FRAMES, "executions": [_EXECUTION], "touched": [row]}

    found = evidence_rows(frames, {"log": "app"}, lambda *_: None, folds)

    (name,) = found.spellings.names()
    assert name[2:5] == ("s3://lake", "run", "dt=2026-11-21")

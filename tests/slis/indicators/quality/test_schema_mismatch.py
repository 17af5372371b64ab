"""F7: the schema changed, and the version of the code did not."""

import json
from typing import Any

from slis.indicators.quality import schema_mismatch as module
from slis.indicators.quality.schema_mismatch import schema_mismatches
from slis.indicators.quality.schemas import VERSIONED_WRITES
from tests.slis.sli_frames import day, frame, instants

_OLD = {"id": "int", "name": "string", "at": "date"}
_NEW = {"id": "bigint", "name": "string", "email": "string"}
_KEYS = {id(_OLD): 1, id(_NEW): 2}


def _write(number, schema, code="v1", dataset=1, job="job"):
    fields = json.dumps([{"name": name, "type": kind} for name, kind in schema.items()])
    return {
        "dataset_key": dataset,
        "job_namespace": "jobs",
        "job_name": job,
        "root_run_id": f"r{number}",
        "written_at": day(number),
        "schema_key": _KEYS[id(schema)],
        "fields": fields,
        "code_version": code,
    }


def _find_mismatches(spark, *writes: dict[str, Any], at=None):
    written = frame(spark, VERSIONED_WRITES, list(writes))
    return [
        (row.dataset_key, row.evidence)
        for row in schema_mismatches(written, instants(spark, at or day(4, 1))).collect()
    ]


def test_a_new_schema_of_the_old_code_is_shown_with_what_changed(spark):
    """Show fields added, removed and changed, with time, run and version."""
    found = _find_mismatches(spark, _write(1, _OLD), _write(2, _NEW), _write(3, _NEW))

    written = (
        "schema changed 2026-11-03 00:00:00 UTC by run r2 of job, whose code version stayed v1: "
        "added email (string); removed at; id was int and is bigint"
    )
    assert found == [(1, written)]


def test_a_new_schema_of_new_code_is_no_mismatch(spark):
    """Return no row for a release."""
    assert _find_mismatches(spark, _write(1, _OLD), _write(2, _NEW, "v2")) == []


def test_without_a_code_version_there_is_no_mismatch(spark):
    """Ignore a missing code version on one side; without writes there is no row."""
    assert _find_mismatches(spark, _write(1, _OLD, None), _write(2, _NEW)) == []
    assert _find_mismatches(spark) == []


def test_a_mismatch_lasts_until_the_next_change_or_seven_days(spark):
    """Clear it with the release that follows."""
    changed = [_write(1, _OLD), _write(2, _NEW)]

    assert len(_find_mismatches(spark, *changed)) == 1
    assert _find_mismatches(spark, *changed, _write(3, _NEW, "v2")) == []
    assert _find_mismatches(spark, *changed, _write(3, _OLD)) == []
    assert _find_mismatches(spark, *changed, at=day(9, 1)) == []
    assert _find_mismatches(spark, *changed, at=day(1, 1)) == []


def test_two_jobs_of_two_schemas_are_no_change(spark):
    """Return no row: each job writes its usual schema."""
    ours = [_write(1, _OLD, job="a"), _write(3, _OLD, job="a")]

    assert _find_mismatches(spark, *ours, _write(2, _NEW, job="b")) == []


def test_alternating_schemas_would_be_reported_without_the_rule(spark, monkeypatch):
    """Remove the guarantee: any change of schema then counts."""
    back = [_write(1, _OLD), _write(2, _NEW), _write(3, _OLD)]
    assert _find_mismatches(spark, *back) == []
    monkeypatch.setattr(module, "_is_mismatch", lambda: module.F.expr("true"))

    assert len(_find_mismatches(spark, *back)) == 1

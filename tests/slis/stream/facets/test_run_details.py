"""Details of a run: its code, its settings, and the versions of its datasets."""

import json

import pytest

from slis.stream.facets import run_details
from slis.stream.facets.run_details import (
    code_version_of,
    job_version_of,
    parameters_of,
    spark_conf_of,
)
from tests.slis.stream.spools import rows, run_event

_SAME_SQL = "the SQL of a batch, which test_runs.py and test_datasets.py run on it"
_DETAILS = """
    SELECT code_version, code_url, code_path, code_tag, code_branch, job_version, engine_version,
        spark_conf, parameters FROM run
"""
_FACETS = {
    "processing_engine": {"name": "spark", "version": "4.3.0"},
    "spark_properties": {"properties": {"spark.master": "yarn", "spark.hadoop.fs.s3a.key": "AK"}},
    "executionParameters": {"parameters": [{"key": "run_date", "value": "2026-11-20"}]},
    "environment-properties": {"environment-properties": {"jobId": "7", "user": "ann"}},
}
_CODE = {
    "type": "git",
    "url": "https://bot:ghp_secret@git.test/shop/jobs",
    "path": "jobs/clean.py",
    "version": "4f1c0de",
    "tag": "v2",
    "branch": "main",
}


def _event(kind, at, outputs):
    event = run_event(kind, at, facets=_FACETS, outputs=outputs)
    event["job"]["facets"]["sourceCodeLocation"] = _CODE
    event["job"]["facets"]["tags"] = {"tags": [{"key": "version", "value": "2.1", "source": "CI"}]}
    return event


@pytest.mark.postgres_nightly(_SAME_SQL)
def test_a_run_reports_its_code_its_engine_and_its_settings(lander, catalog, at):
    """Read them from any event, without parts that may hold a credential."""
    lander.land(run_event("START", at(8)), _event("COMPLETE", at(9), ["t"]))

    assert rows(catalog, _DETAILS) == [
        (
            *("4f1c0de", "https://git.test/shop/jobs", "jobs/clean.py", "v2", "main"),
            *("2.1", "4.3.0", '{"spark.master":"yarn"}'),
            '{"job.id":"7","run_date":"2026-11-20"}',
        )
    ]


@pytest.mark.postgres_nightly(_SAME_SQL)
def test_airflow_announces_how_many_tries_are_left(lander, catalog, at):
    """Read the tries left; older releases count the next try, and texts count as none."""

    def task(kind, hour, run, retries, number):
        values = {"task": {"retries": retries}, "taskInstance": {"try_number": number}}
        return run_event(kind, at(hour), run=run, facets={"airflow": values})

    lander.land(
        *(task("START", 8, "first", 2, 1), task("FAIL", 9, "first", 2, 2)),
        *(task("FAIL", 10, "last", 2, 3), task("FAIL", 10, "cleared", 1, 4)),
        *(task("FAIL", 10, "odd", {"a": 1}, "x"), run_event("FAIL", at(9), run="spark")),
    )

    assert dict(rows(catalog, "SELECT run_id, retries_left FROM run")) == {
        "first": 2,
        "last": 0,
        "cleared": 0,
        "odd": None,
        "spark": None,
    }


@pytest.mark.postgres_nightly(_SAME_SQL)
def test_a_write_bears_the_code_version_and_the_schema_that_its_run_named(lander, catalog, at):
    """Store neither for a write of a run that names neither."""
    schema = {"schema": {"fields": [{"name": "id", "type": "long"}]}}
    lander.land(
        _event("COMPLETE", at(9), [("t", schema)]),
        run_event("COMPLETE", at(10), run="r2", outputs=["t"]),
    )

    found = rows(
        catalog,
        """
        SELECT w.root_run_id, w.code_version, v.fields FROM dataset_write w
        LEFT JOIN schema_version v ON v.dataset_key = w.dataset_key AND v.schema_key = w.schema_key
        ORDER BY 1
        """,
    )
    assert found == [("r1", "4f1c0de", '[{"name":"id","type":"long"}]'), ("r2", None, None)]


_CHECKSUMS = {
    "named": ({"checksum": {"algorithm": "SHA256", "checksum": "ab"}}, "sha256:ab"),
    "bare": ({"checksum": {"value": "ab"}}, "ab"),
    "version": ({"version": {"datasetVersion": "3", "checksum": "cd"}}, "cd"),
    "storage": ({"storage": {"storageLayer": "iceberg", "checksum": "ef"}}, "ef"),
    "empty": ({"checksum": {"algorithm": "SHA256"}}, None),
}


def test_a_reported_checksum_is_stored(lander, catalog, at):
    """Store versions of inputs too: by run, and once for the dataset."""
    inputs = [(name, facets) for name, (facets, _) in _CHECKSUMS.items()]
    lander.land(run_event("COMPLETE", at(9), inputs=inputs))

    of_runs = "SELECT d.name, io.checksum FROM run_io io JOIN dataset d USING (dataset_key)"
    assert dict(rows(catalog, of_runs)) == {
        name: values for name, (_, values) in _CHECKSUMS.items()
    }
    kept = "SELECT d.name, c.checksum FROM dataset_checksum c JOIN dataset d USING (dataset_key)"
    assert dict(rows(catalog, kept)) == {
        name: values for name, (_, values) in _CHECKSUMS.items() if values
    }


@pytest.mark.postgres_nightly(_SAME_SQL)
def test_version_that_a_run_read_is_known(lander, catalog, at):
    """Store two versions of one table for two runs."""
    for hour, version in ((8, "1"), (9, "2")):
        values = {"version": {"datasetVersion": version}}
        lander.land(run_event("COMPLETE", at(hour), run=f"r{version}", inputs=[("t", values)]))

    found = "SELECT r.run_id, io.dataset_version FROM run_io io JOIN run r USING (run_key)"
    assert rows(catalog, f"{found} ORDER BY 1") == [("r1", "1"), ("r2", "2")]


def test_only_listed_settings_are_kept():
    """Drop a password in a property that no list names."""
    given = {"spark.executor.memory": "4g", "spark.my.password": "hunter2", "spark.master": "k8s"}

    kept = spark_conf_of(json.dumps(given))

    assert json.loads(kept) == {"spark.executor.memory": "4g", "spark.master": "k8s"}


@pytest.mark.parametrize(
    ("key", "is_kept"),
    [
        *(("run_date", True), ("startDate", True), ("etl.full_refresh", True), ("env", True)),
        *(("api_token", False), ("date_password", False), ("dsn", False), ("", False)),
    ],
)
def test_a_parameter_is_kept_by_the_last_word_of_its_key(key, is_kept):
    """Keep days, ranges and modes only."""
    kept = parameters_of(json.dumps([{"key": key, "value": "x"}]), None)

    assert kept == (json.dumps({key: "x"}, separators=(",", ":")) if is_kept else None)


def test_a_longer_list_of_keys_would_let_a_secret_through(monkeypatch):
    """Run the mutant: with a list that accepts all keys, the password is stored."""
    values = json.dumps([{"key": "password_of_the_mutant", "value": "hunter2"}])
    assert parameters_of(values, None) is None
    monkeypatch.setattr(run_details, "_is_harmless", lambda _key: True)
    run_details.parameters_of.cache_clear()

    kept = parameters_of(values, None)
    run_details.parameters_of.cache_clear()

    assert "hunter2" in kept


def test_settings_are_bounded():
    """Cut all settings at 4 kB, and each value at 200 characters."""
    values = [{"key": f"p{number:03}.date", "value": "x" * 999} for number in range(100)]

    kept = parameters_of(json.dumps(values), None)

    assert len(kept) <= run_details._LONGEST_TEXT  # noqa: SLF001 - the bound itself
    assert set(map(len, json.loads(kept).values())) == {200}


@pytest.mark.parametrize("text", ["[", "5", '"x"', "[5]", "null", '[{"key": 5}]', "[" * 5_000])
def test_odd_texts_are_ignored(text):
    """Store the run without the facet of another shape."""
    found = spark_conf_of(text), parameters_of(text, text), job_version_of(text)

    assert (*found, code_version_of(text)) == (None, None, None, None)


def test_a_job_tag_sets_the_code_version_without_a_facet():
    """Read the version from a tag, as CI without facets sends it."""
    tags = json.dumps([{"key": "GIT_SHA", "value": "abc"}, {"key": "version", "value": "7"}])

    assert (code_version_of(tags), job_version_of(tags)) == ("abc", "7")

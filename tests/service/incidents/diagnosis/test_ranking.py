"""Ranking of differences by their likelihood to be the cause."""

from service.incidents.diagnosis.ranking import Diagnosis, diagnosis_of
from service.queries.diff import DatasetDiff, RunDiff, ValueChange
from service.queries.run_snapshot import ComparedRun
from service.queries.schema_changes import SchemaChange, SchemaField


def _run(number, error=None):
    return ComparedRun(f"run-{number}", "spark", "etl", "FAIL", None, None, None, error, 1)


def _input(*changes, schema=None, only_in=None):  # noqa: ANN002
    return DatasetDiff("s3://shop", "raw", "read", only_in, list(changes), schema)


def _diff(changes=(), datasets=()):
    runs = _run(1), _run(2, "boom")
    found = {"same": False, "changes": list(changes), "datasets": list(datasets)}
    return RunDiff(*runs, **found, partial=False, partial_reason=None)


def _rank_texts(**found):  # noqa: ANN003
    return [each.words for each in diagnosis_of(_diff(**found)).differences]


def test_code_comes_before_settings_and_versions_of_inputs():
    """Rank a deployment before a setting, and that before a new snapshot, which each run has."""
    changes = [
        ValueChange("status", "COMPLETE", "FAIL"),
        ValueChange("nominal_start_at", "a", "b"),
        ValueChange("spark_conf spark.executor.memory", "4g", "1g"),
        ValueChange("engine_version", "4.2.0", "4.3.1"),
        ValueChange("code_version", "1f", "2a"),
    ]
    answer = _rank_texts(changes=changes, datasets=[_input(ValueChange("version", "7", "8"))])

    assert answer == [
        "code_version: 1f -> 2a",
        "engine_version: 4.2.0 -> 4.3.1",
        "spark_conf spark.executor.memory: 4g -> 1g",
        "version of raw: 7 -> 8",
    ]


def test_a_changed_schema_and_a_missing_input_come_before_settings():
    """Rank changes of inputs first."""
    change = SchemaChange(added=[], removed=[SchemaField("price", "double")], retyped=[])
    answer = _rank_texts(
        changes=[ValueChange("parameters day", "1", "2")],
        datasets=[_input(schema=change), _input(only_in="first")],
    )

    assert answer == [
        "schema of raw: removed price",
        "input raw: read -> nothing",
        "parameters day: 1 -> 2",
    ]


def test_rows_matter_when_half_of_them_are_missing():
    """Ignore small changes, which occur each day."""
    few, usual = ValueChange("rows", "1000", "40"), ValueChange("rows", "1000", "900")

    assert _rank_texts(datasets=[_input(few)]) == ["rows of raw: 1000 -> 40"]
    assert _rank_texts(datasets=[_input(usual)]) == []


def test_rows_that_a_failed_run_did_not_report_are_not_missing():
    """Ignore unreported counts: most runs die before they count."""
    unreported, none = ValueChange("rows", "1000", None), ValueChange("rows", "1000", "0")

    assert _rank_texts(datasets=[_input(unreported)]) == []
    assert _rank_texts(datasets=[_input(none)]) == ["rows of raw: 1000 -> 0"]


def test_the_error_is_shown_and_no_difference_is_none():
    """Return the error, and no first difference if there is none."""
    assert diagnosis_of(_diff()).error_message == "boom"
    assert Diagnosis().first is None

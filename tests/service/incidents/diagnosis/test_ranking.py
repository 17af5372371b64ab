"""What most likely made the difference stands first."""

from service.incidents.diagnosis.ranking import Diagnosis, diagnosis_of
from service.queries.diff_shapes import Change, ComparedRun, DatasetDiff, RunDiff
from service.queries.schema_changes import Field, SchemaChange


def _run(number, error=None):
    return ComparedRun(f"run-{number}", "spark", "etl", "FAIL", None, None, None, error, 1)


def _input(*changes, schema=None, only_in=None):  # noqa: ANN002
    return DatasetDiff("s3://shop", "raw", "read", only_in, list(changes), schema)


def _diff(changes=(), datasets=()):
    runs = _run(1), _run(2, "boom")
    found = {"same": False, "changes": list(changes), "datasets": list(datasets)}
    return RunDiff(*runs, **found, partial=False, partial_reason=None)


def _ranked(**found):  # noqa: ANN003
    return [each.words for each in diagnosis_of(_diff(**found)).differences]


def test_code_stands_before_settings_and_settings_before_versions_of_inputs():
    """A deployment is likelier than a setting, and that than a new snapshot: each run has one."""
    changes = [
        Change("status", "COMPLETE", "FAIL"),
        Change("nominal_start_at", "a", "b"),
        Change("spark_conf spark.executor.memory", "4g", "1g"),
        Change("engine_version", "4.2.0", "4.3.1"),
        Change("code_version", "1f", "2a"),
    ]
    answer = _ranked(changes=changes, datasets=[_input(Change("version", "7", "8"))])

    assert answer == [
        "code_version: 1f -> 2a",
        "engine_version: 4.2.0 -> 4.3.1",
        "spark_conf spark.executor.memory: 4g -> 1g",
        "version of raw: 7 -> 8",
    ]


def test_a_schema_that_changed_and_an_input_that_is_gone_stand_before_settings():
    """Of what it reads."""
    change = SchemaChange(added=[], removed=[Field("price", "double")], retyped=[])
    answer = _ranked(
        changes=[Change("parameters day", "1", "2")],
        datasets=[_input(schema=change), _input(only_in="first")],
    )

    assert answer == [
        "schema of raw: removed price",
        "input raw: read -> nothing",
        "parameters day: 1 -> 2",
    ]


def test_rows_matter_when_half_of_them_are_missing():
    """A little more or less is each day's."""
    few, usual = Change("rows", "1000", "40"), Change("rows", "1000", "900")

    assert _ranked(datasets=[_input(few)]) == ["rows of raw: 1000 -> 40"]
    assert _ranked(datasets=[_input(usual)]) == []


def test_rows_that_a_failed_run_did_not_tell_of_are_not_missing():
    """Most die before they count: each of them would seem to have read nothing."""
    untold, none = Change("rows", "1000", None), Change("rows", "1000", "0")

    assert _ranked(datasets=[_input(untold)]) == []
    assert _ranked(datasets=[_input(none)]) == ["rows of raw: 1000 -> 0"]


def test_the_error_is_told_and_nothing_known_is_nothing_said():
    """No difference is no first difference."""
    assert diagnosis_of(_diff()).error_message == "boom"
    assert Diagnosis().first is None

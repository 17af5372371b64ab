"""Outputs of the rows of an execution, and executions without a known output."""

import pytest

from slis.evidence import written_rows
from tests.slis.evidence.estates import Estate, event, execution, stage, write

_SAME_SQL = "the SQL of evidence: test_join.py and two tests of this file run on it"
_ROWS = """
    SELECT d.name, io.rows, io.evidence_rows, io.evidence_bytes FROM run_io io
    JOIN dataset d ON d.dataset_key = io.dataset_key WHERE io.direction = 'write' ORDER BY 1
"""
_BATCH = {"stream_run_id": "s", "stream_batch": 0}
_SINK = {"execution_id": None, **_BATCH, "direction": "write", "location": "n/sink"}


@pytest.fixture
def estate(catalog, tmp_path):
    return Estate(catalog, tmp_path)


@pytest.mark.postgres_nightly
def test_rows_are_of_the_output_that_the_plan_names(estate):
    """Add the stages together: one was tried again for the rest of the first attempt."""
    stages = [stage(0, 5, execution_id=0), stage(1, 6, execution_id=0)]
    estate.log(execution(), touched=[write()], stages=stages)

    estate.join()

    assert estate.rows(_ROWS) == [("out", None, 11, 110)]


@pytest.mark.postgres_nightly(_SAME_SQL)
def test_executions_of_a_command_write_its_output(estate):
    """Credit a JDBC save: the command names the table, another execution has the rows."""
    estate.land(event("START", 0), event("COMPLETE", 1))
    inner = execution(1, after=0.1, lasts=0.5, root_execution_id=0)
    estate.log(execution(), inner, touched=[write()], stages=[stage(0, 5, execution_id=1)])

    estate.join()

    assert estate.rows(_ROWS) == [("out", None, 5, 50)]


@pytest.mark.postgres_nightly(_SAME_SQL)
def test_a_micro_batch_wrote_to_its_sink(estate):
    """Use the output in its progress, where no plan has one."""
    stages = [stage(0, 5, execution_id=0)]
    estate.log(execution(**_BATCH), touched=[_SINK], stages=stages)

    estate.join()

    assert estate.rows(_ROWS) == [("sink", None, 5, 50)]


def _two_tables(estate):
    """Split a batch with two commands, whose rows an execution beside them has."""
    inner = execution(1, after=0.1, lasts=0.5, root_execution_id=0)
    other = execution(2, after=0.6, lasts=0.2, root_execution_id=0)
    touched = [write(1), write(2, "more")]
    estate.log(execution(), inner, other, touched=touched, stages=[stage(0, 5, execution_id=0)])
    estate.join()


@pytest.mark.postgres_nightly(_SAME_SQL)
def test_ambiguous_rows_belong_to_no_output(estate):
    """Assign them to no output."""
    _two_tables(estate)

    assert estate.rows(_ROWS) == [("more", None, None, None), ("out", None, None, None)]


@pytest.mark.postgres_nightly(_SAME_SQL)
def test_without_that_rule_both_outputs_would_have_the_rows_of_one(estate, monkeypatch):
    """Run the mutant of the test before."""
    mutant = written_rows.COUNT.replace("o.outputs = 1", "o.outputs > 0")
    monkeypatch.setattr(written_rows, "COUNT", mutant.replace("place = 1", "place > 0"))

    _two_tables(estate)

    assert {row[2] for row in estate.rows(_ROWS)} == {5}


@pytest.mark.postgres_nightly(_SAME_SQL)
def test_rows_that_may_have_gone_to_an_unknown_output_are_of_none(estate):
    """Assign no rows: Spark hides the database of one table, beside one file."""
    inner = execution(1, after=0.1, lasts=0.5, root_execution_id=0)
    hidden = {**write(1, "hidden"), "kind": "table"}
    stages = [stage(0, 5, execution_id=0)]
    estate.log(execution(), inner, touched=[write(), hidden, write(0, "more")], stages=stages)

    estate.join()

    assert {row[2] for row in estate.rows(_ROWS)} == {None}


@pytest.mark.postgres_nightly(_SAME_SQL)
@pytest.mark.parametrize("failed", [0, 1])
def test_a_failed_command_has_no_known_rows(estate, failed):
    """Ignore the rows of the command, and of its executions: a rollback is possible."""
    errors = {failed: {"error_message": "no"}}
    outer = execution(0, **errors.get(0, {}))
    inner = execution(1, after=0.1, lasts=0.5, root_execution_id=0, **errors.get(1, {}))
    estate.log(outer, inner, touched=[write()], stages=[stage(0, 5, execution_id=1)])

    estate.join()

    assert estate.rows(_ROWS) == [("out", None, None, None)]


@pytest.mark.postgres_nightly(_SAME_SQL)
def test_a_stage_in_two_passes_is_one(estate):
    """Join a stage that was submitted in one file and ended in the next, which still grows."""
    estate.log(execution(lasts=None), touched=[write()], stages=[stage(0, execution_id=0)])
    for _ in range(2):
        estate.log(execution(), stages=[stage(0, 5)])

    estate.join()

    assert estate.rows(_ROWS) == [("out", None, 5, 50)]


@pytest.mark.parametrize("first", ["event", "evidence"])
def test_rows_of_events_and_of_logs_have_separate_columns(estate, first):
    """Store each in its own column, in any order; with rows of events, count none."""
    events = [event("START", 0), event("COMPLETE", 1, rows_written=3)]
    if first == "event":
        estate.land(*events)
    estate.log(execution(), touched=[write()], stages=[stage(0, 5, execution_id=0)])
    estate.join()
    if first == "evidence":
        assert estate.rows(_ROWS) == [("out", None, 5, 50)]
        estate.land(*events)
        estate.join(minutes=11)

    assert estate.rows(_ROWS) == [("out", 3, None, None)]

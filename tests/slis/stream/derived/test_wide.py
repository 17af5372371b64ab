"""Runs and jobs with thousands of inputs and outputs: without edges, and reported."""

import pytest

from lineage.policy import DEFAULT
from slis.evaluation.evaluation import evaluate
from tests.slis.stream.spools import rows, run_event

PROBLEMS = "SELECT spool_seq, reason, detail FROM pipeline_error"
EDGES = "SELECT count(*) FROM edge"
IO = "SELECT direction, count(*) FROM run_io GROUP BY direction ORDER BY direction"


def _names(side, count):
    return [f"{side}{number}" for number in range(count)]


def _wide_event(at, inputs, outputs, **given):  # noqa: ANN003
    names = {"inputs": _names("i", inputs), "outputs": _names("o", outputs)}
    return run_event("COMPLETE", at, **names, **given)


_SHORT = (
    "tests/slis/stream/derived/test_wide.py::test_a_wide_run_lands_without_edges_and_is_a_problem"
)


@pytest.mark.postgres_nightly(but="3000-3000")
@pytest.mark.parametrize(
    ("inputs", "outputs"),
    [
        *[(101, 100), (3_000, 3_000)],
        pytest.param(10_001, 1, marks=pytest.mark.nightly(short=_SHORT)),
    ],
)
def test_a_wide_run_lands_without_edges_and_is_a_problem(lander, catalog, at, inputs, outputs):
    """Store its reads and writes, so that its outputs are fresh."""
    lander.land(
        _wide_event(at(9), inputs, outputs), run_event("COMPLETE", at(9), run="r2", outputs=["t"])
    )

    assert rows(catalog, EDGES) == [(0,)]
    assert rows(catalog, IO) == [("read", inputs), ("write", outputs + 1)]
    [(seq, reason, detail)] = rows(catalog, PROBLEMS)
    assert (seq, reason) == (1, "partly_unreadable")
    assert detail == (
        f"outputs: {outputs} of {inputs} inputs would be more than 10000 edges: reads and"
        " writes were taken, no edge was"
    )


def test_a_run_may_have_the_maximum_of_edges(lander, catalog, at):
    """Store the edges of a job that copies 100 tables into 100 others."""
    lander.land(_wide_event(at(9), 100, 100))

    assert rows(catalog, EDGES) == [(10_000,)]
    assert rows(catalog, "SELECT * FROM pipeline_error") == []


@pytest.mark.postgres_nightly
def test_a_run_whose_events_make_it_wide_together_has_no_edges(lander, catalog, at):
    """Report no problem of a single event, each of which is narrow."""
    lander.land(run_event("START", at(8), inputs=_names("i", 101)))
    lander.land(run_event("COMPLETE", at(9), outputs=_names("o", 100)))

    assert rows(catalog, EDGES) == [(0,)]


def test_outputs_of_a_wide_run_have_no_lineage(spark, lander, catalog, at):
    """Report missing lineage, not a healthy state."""
    lander.land(_wide_event(at(9), 101, 100))
    evaluate(spark, catalog, DEFAULT, at(10))

    states = "SELECT DISTINCT state, reason FROM dataset_state s JOIN dataset d ON"
    of_outputs = " d.dataset_key = s.dataset_key WHERE s.sli = 'M1' AND d.name LIKE 'o%'"
    assert rows(catalog, states + of_outputs) == [("bad", "no_inputs")]


@pytest.mark.postgres_nightly(but="101-100")
@pytest.mark.parametrize(("inputs", "outputs"), [(101, 100), (2_000, 2_000)])
def test_a_job_that_declares_too_much_has_no_edges(lander, catalog, at, inputs, outputs):
    """Store its datasets."""
    run = _wide_event(at(9), inputs, outputs)
    lander.land({name: value for name, value in run.items() if name not in {"run", "eventType"}})

    assert rows(catalog, EDGES) == [(0,)]
    assert rows(catalog, "SELECT count(*) FROM dataset") == [(inputs + outputs,)]
    assert rows(catalog, "SELECT reason FROM pipeline_error") == [("partly_unreadable",)]

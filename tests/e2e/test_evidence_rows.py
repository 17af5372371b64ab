"""Written rows, by event logs of real Spark, compared with the listener's events."""

import copy
import json

import pytest

from lab.demo.spark import file, listener_conf
from tests.e2e.kinds import Estate, each_job, events_of, run_job, short
from tests.slis.stream.spools import rows

pytestmark = pytest.mark.e2e

_BY_EVIDENCE = """
    SELECT d.name, max(io.evidence_rows) FROM run_io io
    JOIN dataset d ON d.dataset_key = io.dataset_key
    WHERE io.evidence_rows IS NOT NULL GROUP BY d.name
"""
_BYTES = """
    SELECT d.name, max(io.evidence_bytes) FROM run_io io
    JOIN dataset d ON d.dataset_key = io.dataset_key
    WHERE io.evidence_bytes IS NOT NULL GROUP BY d.name
"""
# As `jobs/kinds.py` writes them; the listener reports each but the file sink.
_WRITTEN = {
    "joined": 2,
    "warehouse/orders": 2,
    "warehouse/totals": 1,
    "warehouse/dropped": 2,
    "as_csv": 3,
    "as_json": 3,
    "as_orc": 3,
    "as_text": 3,
    "from_database": 3,
    "from_cache": 2,
    "from_rows": 1,
    "from_rdd_rows": 4,
    "by_batch": 3,
    "streamed": 3,
}


@pytest.fixture
def estate(spark, catalog, tmp_path):
    return Estate(spark, catalog, tmp_path)


@pytest.fixture(scope="session")
def retried(tmp_path_factory):
    """Run a job each of whose tasks fails once, after some rows; return its folder."""
    folder = tmp_path_factory.mktemp("retried")
    conf = listener_conf(file(folder / "events.jsonl"), namespace="kinds")
    run_job("retried", folder, conf, master="local[2,2]")  # two attempts a task
    return folder


def _figures(estate, query=_BY_EVIDENCE):
    return {short(name): value for name, value in rows(estate.catalog, query)}


def _drop_statistics(events):
    """Return the events without statistics."""
    copied = copy.deepcopy(events)
    for event in copied:
        for output in event["outputs"]:
            output.get("outputFacets", {}).pop("outputStatistics", None)
    return copied


def _reported_figures(events, figure):
    """Return the greatest figure of each output that the listener reports."""
    found = {}
    for event in events:
        for output in event["outputs"]:
            size = output.get("outputFacets", {}).get("outputStatistics", {}).get(figure)
            name = short(output["name"])
            if size is not None:
                found[name] = max(size, found.get(name, 0))
    return found


@pytest.mark.postgres_nightly
@each_job(
    "tests/e2e/test_evidence_rows.py"
    "::test_rows_of_every_kind_of_output_are_known_without_a_listener"
)
def test_rows_of_every_kind_of_output_are_known_without_a_listener(estate, unheard):
    """Count files, tables, a stream's sink and its batches; no table of a hidden database."""
    estate.scan(unheard)

    assert _figures(estate) == _WRITTEN


def test_the_log_counts_uncounted_outputs_and_agrees_on_others(estate, ran):
    """Count a JDBC table too, once an event names it; RDDs write in no SQL execution."""
    events = events_of(ran)
    estate.land(_drop_statistics(events))

    estate.scan(ran / "logs")

    assert _figures(estate) == {**_WRITTEN, "SOLD": 3}
    reported = _reported_figures(events, "rowCount")
    assert {**_figures(estate), "from_rdd": 4} == {**reported, "streamed": 3}
    # JDBC counts no bytes.
    sizes = {name: size for name, size in _reported_figures(events, "size").items() if size}
    del sizes["from_rdd"]
    sizes["streamed"] = sum(part.stat().st_size for part in (ran / "streamed").glob("*.parquet"))
    assert _figures(estate, _BYTES) == sizes


@pytest.mark.postgres_nightly
def test_a_reported_count_is_kept(estate, ran):
    """Store the log's count beside it, and use it only without a reported one."""
    events = events_of(ran)
    for event in events:
        for output in event["outputs"]:
            if statistics := output.get("outputFacets", {}).get("outputStatistics"):
                statistics["rowCount"] = 1_000
    estate.land(events)

    estate.scan(ran / "logs")

    assert _figures(estate) == {"streamed": 3}


@pytest.mark.postgres_nightly
def test_a_task_that_is_tried_again_counts_once(estate, retried):
    """Fail each first attempt after nine tenths of its rows, of a file and of a table."""
    estate.land(_drop_statistics(events_of(retried)))

    estate.scan(retried / "logs")

    log = next((retried / "logs").rglob("events_1_*")).read_text().splitlines()
    ends = [json.loads(line) for line in log if line.startswith('{"Event":"SparkListenerTaskEnd"')]
    failed = [end for end in ends if end["Task End Reason"]["Reason"] == "ExceptionFailure"]
    assert len(failed) == 2
    assert _figures(estate) == dict.fromkeys(("tried_again", "TRIED", "from_table"), 100_000)

"""Event logs of real Spark, every kind of output once, compared with the listener's events."""

from datetime import timedelta

import pytest

from slis.indicators.accuracy.catalog import compare
from tests.e2e.kinds import Estate, each_job, events_of
from tests.slis.stream.spools import rows

_SAME_SQL = "the SQL of evidence: tests/slis/evidence and the first tests of this file run on it"
pytestmark = pytest.mark.e2e

_WRITES = """
    SELECT d.name, w.is_reported FROM dataset_write w
    JOIN dataset d ON d.dataset_key = w.dataset_key
"""
_INFERRED = """
    SELECT u.name, d.name FROM edge e JOIN dataset u ON u.dataset_key = e.upstream_key
    JOIN dataset d ON d.dataset_key = e.downstream_key WHERE e.last_reported_at IS NULL
"""
_EDGES = """
    SELECT u.name, d.name FROM edge e JOIN dataset u ON u.dataset_key = e.upstream_key
    JOIN dataset d ON d.dataset_key = e.downstream_key
"""
_FAILED = """
    SELECT d.name, coalesce(a.last_failure, '') LIKE 'as the Spark event log says%'
    FROM dataset_activity a
    JOIN dataset d ON d.dataset_key = a.dataset_key WHERE a.last_failed_at IS NOT NULL
"""
_BY_PLAN = {
    *("joined", "warehouse/orders", "warehouse/totals", "as_csv", "as_json", "as_orc", "as_text"),
    *("from_database", "from_cache", "from_rows", "from_rdd_rows", "by_batch", "streamed"),
    "warehouse/dropped",  # the CTAS: its DROP is in no parsed plan
}
_RETIRED = "SELECT name, retired_at IS NOT NULL FROM dataset WHERE name LIKE '%/dropped'"


@pytest.fixture
def estate(spark, catalog, tmp_path):
    return Estate(spark, catalog, tmp_path)


def test_only_unreported_outputs_are_found(estate, ran):
    """Find the stream's file sink in the evidence alone, and the failed JDBC save."""
    estate.land(events_of(ran))

    found = estate.scan(ran / "logs")

    assert (found.problems, found.is_partial) == ({}, False)
    unreported = {name for name, is_reported in estate.rows(_WRITES) if not is_reported}
    assert unreported == {"streamed"}
    assert estate.rows(_INFERRED) == {("in/orders.csv", "streamed")}
    assert estate.rows(_FAILED) == {("SOLD", True), ("never", False)}
    written = {name for name, _ in estate.rows(_WRITES)}
    assert written == {*_BY_PLAN, "SOLD", "from_rdd"}  # no row of CREATE, ALTER, TRUNCATE
    named = {name for (name,) in estate.rows("SELECT name FROM dataset")}
    assert not named & {"missing", "from_missing"}
    assert estate.rows(_RETIRED) == {("warehouse/dropped", True)}


@pytest.mark.postgres_nightly
def test_a_dropped_table_stays_dropped_after_late_evidence(estate, ran):
    """Keep the drop: the events of the CTAS were lost, the one of the DROP came."""

    def has_arrived(event):
        names = [output["name"].rsplit("/", 1)[-1] for output in event["outputs"]]
        return "dropped" not in names or "drop_table" in event["job"]["name"]

    estate.land([event for event in events_of(ran) if has_arrived(event)])
    estate.scan(ran / "logs")

    assert ("warehouse/dropped", False) in estate.rows(_WRITES)
    assert estate.rows(_RETIRED) == {("warehouse/dropped", True)}


def test_the_edges_of_the_listener_are_checked_against_the_log(estate, ran):
    """Find one missing edge, of the stream's sink; all others agree, each checked once."""
    estate.land(events_of(ran))
    estate.scan(ran / "logs")

    checked = compare(estate.spark, estate.catalog, estate.now)

    outcomes = """
        SELECT u.name, d.name, c.outcome <> 'good' FROM edge_check c
        JOIN dataset u ON u.dataset_key = c.upstream_key
        JOIN dataset d ON d.dataset_key = c.downstream_key
    """
    found = estate.rows(outcomes)
    assert {row[:2] for row in found if row[2]} == {("in/orders.csv", "streamed")}
    assert checked == len(found) >= len(_BY_PLAN)
    versions = "SELECT DISTINCT adapter_version FROM edge_check"
    assert rows(estate.catalog, versions) == [("1.53.0",)]
    assert compare(estate.spark, estate.catalog, estate.now) == 0


@pytest.mark.postgres_nightly(_SAME_SQL)
@each_job(
    "tests/e2e/test_evidence.py::test_without_a_listener_every_kind_of_output_is_known_from_its_log"
)
def test_without_a_listener_every_kind_of_output_is_known_from_its_log(estate, unheard):
    """Read all but writes of RDDs, and tables whose database Spark hides: no log names those."""
    found = estate.scan(unheard)

    assert found.problems == {}
    assert estate.rows(_WRITES) == {(name, False) for name in _BY_PLAN}
    edges = estate.rows(_EDGES)
    assert {
        ("in/orders.csv", "joined"),
        ("in/countries.json", "joined"),
        ("joined", "warehouse/orders"),
        ("warehouse/orders", "warehouse/totals"),
        ("joined", "from_cache"),
        ("in/orders.csv", "streamed"),
        ("in/orders.csv", "by_batch"),
    } <= edges
    assert estate.rows(_FAILED) == {("never", True)}


@pytest.mark.postgres_nightly(_SAME_SQL)
@pytest.mark.parametrize("first", ["events", "evidence"])
def test_the_order_of_events_and_evidence_makes_no_difference(estate, ran, first):
    """Replace the evidence by late events without a trace."""
    if first == "evidence":
        estate.scan(ran / "logs")
    estate.land(events_of(ran))
    estate.scan(ran / "logs", after=timedelta(minutes=1))

    alone = "SELECT run_id, evidence FROM run WHERE evidence IS NOT NULL"
    kinds = sorted(evidence for _, evidence in rows(estate.catalog, alone))
    # collect() and count() have no output: the listener reports neither.
    assert kinds == ["alone", "alone", "failed"]
    assert {name for name, is_reported in estate.rows(_WRITES) if not is_reported} == {"streamed"}
    assert estate.rows(_INFERRED) == {("in/orders.csv", "streamed")}
    assert estate.rows(_RETIRED) == {("warehouse/dropped", True)}
    roots = "SELECT count(DISTINCT root_run_id) FROM dataset_write"
    assert rows(estate.catalog, roots) == [(1,)]
    assert rows(estate.catalog, "SELECT count(*) FROM edge WHERE runs <> 1") == [(0,)]


@pytest.mark.postgres_nightly(_SAME_SQL)
def test_a_second_scan_finds_nothing_new(estate, ran):
    """Skip a log that did not change: its rows are stored once."""
    estate.land(events_of(ran))
    estate.scan(ran / "logs")

    again = estate.scan(ran / "logs", after=timedelta(minutes=1))

    assert (again.files, again.runs_changed) == (0, 0)


@pytest.mark.postgres_nightly(_SAME_SQL)
def test_a_truncated_log_is_read_up_to_its_end_and_reported(estate, ran, tmp_path):
    """Keep the executions before the cut, in the middle of a line."""
    whole = next((ran / "logs").rglob("events_1_*")).read_bytes()
    half = len(whole) // 2
    begins, ends = whole.rindex(b"\n", 0, half), whole.index(b"\n", half)
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "local-1.inprogress").write_bytes(whole[: (begins + ends) // 2])

    found = estate.scan(logs)

    assert list(found.problems.values()) == [
        "1 lines end in the middle: the file was cut, or is being written"
    ]
    written = {name for name, _ in estate.rows(_WRITES)}
    assert "joined" in written
    assert written < _BY_PLAN


@pytest.mark.postgres_nightly(_SAME_SQL)
@pytest.mark.parametrize("codec", ["lz4", "lzf", "snappy", "zstd"])
def test_every_codec_of_spark_is_read_also_when_cut(estate, ran, tmp_path, codec):
    """Read Spark's own framing of blocks; the last third of the file is missing."""
    source = next((ran / "logs").rglob("events_1_*"))
    logs = tmp_path / "logs"
    logs.mkdir()
    packed = logs / f"local-1.{codec}"
    _pack(estate.spark, source, packed, codec)

    assert estate.scan(logs).executions > 20

    packed.write_bytes(packed.read_bytes()[: packed.stat().st_size * 2 // 3])
    cut = estate.scan(logs, after=timedelta(minutes=1))
    assert (cut.files, len(cut.problems), cut.executions > 0) == (1, 1, True)


def _pack(spark, source, target, codec):
    jvm = spark._jvm  # noqa: SLF001 - Spark's codecs have no Python
    codecs = jvm.org.apache.spark.io.CompressionCodec
    stream = codecs.createCodec(spark._jsc.sc().conf(), codec).compressedOutputStream(  # noqa: SLF001
        jvm.java.io.FileOutputStream(str(target))
    )
    jvm.org.apache.commons.io.IOUtils.copyLarge(jvm.java.io.FileInputStream(str(source)), stream)
    stream.close()

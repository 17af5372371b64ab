"""Reads and writes in the text of a plan; cut or hidden parts prove presence only."""

import pytest
from pyspark.sql import functions as F

from slis.evidence.plans import streamed_folder, streamed_topics, touched_tables
from slis.spark.planning import local_rows


def _list_touched(spark, *plans: str):
    frame = local_rows(spark, [(plan,) for plan in plans], "plan string")
    rows = frame.select(F.explode(touched_tables("plan")).alias("of")).select("of.*").collect()
    return sorted(tuple(row) for row in rows)


def _scan(location: str) -> str:
    return f"== Physical Plan ==\n(1) Scan parquet \nOutput [1]: [id#0]\nLocation: {location}\n"


def test_every_path_of_a_list_is_read(spark):
    """Split two folders, one with a comma in its name: a path begins at a scheme."""
    listed = _scan("InMemoryFileIndex(2 paths)[s3a://lake/a, b, hdfs://n:8020/c]")

    assert _list_touched(spark, listed) == [
        ("read", "file", "hdfs://n:8020/c", True),
        ("read", "file", "s3a://lake/a, b", True),
    ]


@pytest.mark.parametrize(
    "location",
    [
        "InMemoryFileIndex(9 paths)[file:/a, file:/b, file:/very/long...",
        "InMemoryFileIndex(9 paths)[file:/a, file:/b, file:/c, ...]",
    ],
)
def test_a_list_that_spark_cut_names_its_complete_paths(spark, location):
    """Ignore the last path, which is cut or three dots: it proves nothing."""
    found = _list_touched(spark, _scan(location))

    assert {row[3] for row in found} == {False}
    assert {row[2] for row in found} >= {"file:/a", "file:/b"}
    assert not any("..." in row[2] or "very" in row[2] for row in found)


def test_outputs_are_named_by_the_command(spark):
    """Name a folder, a table of a hidden database, and a topic of hidden brokers."""
    folder = (
        "(2) Execute InsertIntoHadoopFsRelationCommand\nInput: []\n"
        "Arguments: file:/out/t, false, Parquet, [path=/out/t], Overwrite, [id]\n"
    )
    save = "(2) SaveIntoDataSourceCommand\nArguments: {}, Append\n"
    table = save.format("jdbc.JdbcRelationProvider@1, [url=***(redacted), dbtable=sales.orders]")
    topic = save.format("sql.kafka010.KafkaSourceProvider@1, [topic=orders, a=***(redacted)]")

    assert _list_touched(spark, folder, table, topic) == [
        ("write", "file", "file:/out/t", True),
        ("write", "table", "sales.orders", True),
        ("write", "topic", "orders", True),
    ]


def test_rows_that_come_out_of_code_prove_no_absence(spark):
    """Return nothing for reads by code: the plan does not show them."""
    plan = (
        "(1) Scan ExistingRDD [codegen id : 1]\n(2) Execute InsertIntoHadoopFsRelationCommand\n"
        "Arguments: file:/out/t, false, Parquet\n"
    )

    assert _list_touched(spark, plan) == [("write", "file", "file:/out/t", False)]


def test_a_plan_without_files_names_nothing(spark):
    """Return no names for a local table and an empty text."""
    assert _list_touched(spark, "== Physical Plan ==\nLocalTableScan (1)\n", "") == []


def test_deltas_own_log_is_no_source(spark):
    """Name the tables that a MERGE reads, and nothing for an execution that reads a log alone."""
    log = "DeltaLogFileIndex(1 paths)[file:/lake/t/_delta_log/00000000000000000000.json]"
    data = _scan(log) + "Location: TahoeBatchFileIndex(1 paths)[file:/lake/t_delta_log]\n"

    assert _list_touched(spark, _scan(log)) == []
    assert _list_touched(spark, data) == [("read", "file", "file:/lake/t_delta_log", True)]


def test_a_streams_folder_is_named_without_its_pattern(spark):
    """Strip the pattern of file sinks and sources; code and memory sinks have no folder."""
    described = [
        "FileSink[file:/out/s]",
        "FileStreamSource[s3a://in/x/*.csv]",
        "ForeachBatchSink",
        None,
    ]
    frame = local_rows(spark, [(one,) for one in described], "description string")

    found = [row[0] for row in frame.select(streamed_folder("description")).collect()]

    assert found == ["file:/out/s", "s3a://in/x", None, None]


def test_topics_are_those_that_a_kafka_source_had_read_up_to(spark):
    """Read offsets of any subscription; the offsets of other sources name nothing."""
    sources = [
        ("KafkaV2[Subscribe[orders, returns]]", '{"orders":{"0":3,"1":0},"returns":{"0":2}}'),
        ("KafkaV2[SubscribePattern[ord.*]]", '{"orders":{"0":3}}'),
        ("KafkaV1[Assign[paid-0]]", '{"paid":{"0":2}}'),
        ("KafkaV2[Subscribe[none_yet]]", None),
        ("FileStreamSource[file:/in/KafkaV2[a]]", '{"logOffset":0}'),
        ("RateStreamV2[rowsPerSecond=1]", "7"),
    ]
    schema = "sources array<struct<description: string, endOffset: string>>"
    frame = spark.createDataFrame([(sources,), ([],), (None,)], schema)

    found = [row[0] for row in frame.select(streamed_topics("sources")).collect()]

    assert [sorted(topics) for topics in found[:2]] == [["orders", "paid", "returns"], []]
    assert not found[2]

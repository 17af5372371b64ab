"""Frames of a few rows: their values, and that no Python worker makes them."""

from datetime import UTC, datetime

import pytest
from pyspark.sql import SparkSession

from slis.spark.planning import local_rows

_COLUMNS = "at timestamp, number bigint, words array<string>"
_NOON = datetime(2026, 11, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize("at", [_NOON, _NOON.replace(tzinfo=None)], ids=["in UTC", "no zone"])
def test_rows_are_stored_with_their_types_and_nulls(spark: SparkSession, at: datetime):
    """Return each value; a time without a zone is in UTC."""
    found = local_rows(spark, [(at, 3, ["a", None]), (None, None, None)], _COLUMNS)

    assert found.schema.simpleString() == "struct<at:timestamp,number:bigint,words:array<string>>"
    assert [
        tuple(row) for row in found.selectExpr("unix_micros(at)", "number", "words").collect()
    ] == [
        (int(_NOON.timestamp() * 1_000_000), 3, ["a", None]),
        (None, None, None),
    ]


def test_no_rows_keep_their_columns(spark: SparkSession):
    """Return an empty frame of the schema."""
    found = local_rows(spark, [], _COLUMNS)

    assert (found.columns, found.collect()) == (["at", "number", "words"], [])


def test_rows_are_in_the_plan(spark: SparkSession):
    """Need no RDD, which Python workers would copy in each job."""
    plan = local_rows(spark, [(_NOON, 3, [])], _COLUMNS)._jdf.queryExecution().toString()  # noqa: SLF001

    assert "LocalTableScan" in plan
    assert "ExistingRDD" not in plan

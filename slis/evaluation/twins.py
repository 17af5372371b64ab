"""Twins: two similar names, where one has the writes that the other lacks."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lineage.states import FRESHNESS
from slis.evaluation.sli_schemas import NEVER_WRITTEN, NO_WRITE, OVERDUE
from slis.evaluation.wording import near_key_column

_KEYS = ["as_of", "dataset_key"]
# Schemes of systems that store the data they name. A metastore or a query engine names data that
# another system stores, so one dataset may have a name in both.
_STORES = (
    *("file", "s3", "s3a", "s3n", "gs", "hdfs", "abfs", "abfss", "wasb", "wasbs", "adl", "dbfs"),
    *("postgres", "mysql", "mariadb", "oracle", "sqlserver", "mssql", "db2", "teradata", "sqlite"),
    *("redshift", "snowflake", "bigquery", "clickhouse", "vertica", "cassandra", "mongodb"),
    *("spanner", "azurecosmos", "kafka", "pubsub", "kinesis"),
)


def find_twins(judged: DataFrame, not_good: DataFrame) -> DataFrame:
    """Return for each dataset without a recent write a similarly named one that has the write.

    Two tables with similar names are a mismatch in two cases: one is only read and the other only
    written, or the other's writes began when this one's ended.

    Args:
        judged: `sli_schemas.JUDGED`.
        not_good: the rows of `judged` that are bad or unknown.

    Returns:
        as_of, dataset_key, twin: struct<written_at, namespace, name>.
    """
    write = F.col("write.written_at")
    lacking = not_good.where(
        F.col("judgement.defect").isin(NEVER_WRITTEN, NO_WRITE, OVERDUE)
    ).select(
        *_KEYS,
        near_key_column(F.col("name")).alias("near"),
        F.col("namespace").alias("own_namespace"),
        write.alias("own_written_at"),
    )
    having = judged.where((F.col("judgement.sli") == FRESHNESS.id) & write.isNotNull()).select(
        "as_of",
        near_key_column(F.col("name")).alias("near"),
        F.col("dataset_key").alias("twin_key"),
        F.col("read_at").alias("twin_read_at"),
        F.col("first_seen_at").alias("twin_first_seen_at"),
        F.struct(write.alias("written_at"), "namespace", "name").alias("twin"),
    )
    return (
        having.join(F.broadcast(lacking.distinct()), ["as_of", "near"])
        .where((F.col("twin_key") != F.col("dataset_key")) & _took_over())
        .where(_may_be_one(F.col("own_namespace"), F.col("twin.namespace")))
        .groupBy(*_KEYS)
        .agg(F.max("twin").alias("twin"))
    )


def _took_over() -> Column:
    own = F.col("own_written_at")
    return F.when(own.isNull(), F.col("twin_read_at").isNull()).otherwise(
        (F.col("twin.written_at") > own) & (F.col("twin_first_seen_at") >= own)
    )


def _may_be_one(one: Column, other: Column) -> Column:
    """Return whether one dataset can have a name in both namespaces.

    Two servers, buckets or databases hold two datasets, such as those of two tenants.
    """
    # `arn:aws:glue:…` has no slashes.
    schemes = [F.lower(F.substring_index(each, ":", 1)) for each in (one, other)]
    are_stores = schemes[0].isin(*_STORES) & schemes[1].isin(*_STORES)
    return (one == other) | ((schemes[0] != schemes[1]) & ~are_stores)

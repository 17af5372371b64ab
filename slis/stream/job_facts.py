"""Owners, tags and descriptions of jobs, by their facets."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

_FACETS = ("job_ownership", "job_tags", "job_description")


def described_jobs(parsed: DataFrame) -> DataFrame:
    """Return `schemas.DESCRIBED_JOBS`: one row per job and distinct facets of it."""
    owners = F.from_json("job_ownership", "owners array<struct<name: string, type: string>>")
    # A query's event says nothing of its parent job: anybody may name any job as a parent.
    is_own = (F.col("job_namespace") == F.col("leaf_namespace")) & (
        (F.col("job_name") == F.col("leaf_name"))
        | F.startswith("job_name", F.concat("leaf_name", F.lit(".")))
    )
    return (
        parsed.where(F.coalesce(*_FACETS).isNotNull() & F.col("event_time").isNotNull())
        .groupBy(
            F.coalesce("leaf_job_namespace", "root_job_namespace").alias("leaf_namespace"),
            F.coalesce("leaf_job_name", "root_job_name").alias("leaf_name"),
            *("job_namespace", "job_name", *_FACETS),
        )
        .agg(F.max("event_time").alias("last_seen_at"))
        .select(
            F.xxhash64("leaf_namespace", "leaf_name").alias("leaf_key"),
            F.xxhash64("job_namespace", "job_name").alias("job_key"),
            F.when(is_own, owners["owners"]).alias("owners"),
            F.col("job_tags").alias("tags"),
            F.col("job_description").alias("description"),
            "last_seen_at",
        )
    )

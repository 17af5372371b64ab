"""What jobs say that they read and write, beside what their runs read and wrote: frame to frame."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from slis.stream.facts import seen


def declared_edges(named: DataFrame) -> DataFrame:
    """`schemas.DECLARED_EDGES` from `schemas.MENTIONS`.

    What JobEvents say that a job reads and writes.
    """
    jobs = named.where(F.col("kind") == "job")
    keys = ["event_key", "root_job_namespace", "root_job_name"]
    inputs = jobs.where(F.col("direction") == "read").select(
        *keys, F.col("spelling_key").alias("upstream_spelling_key")
    )
    outputs = jobs.where(F.col("direction") == "write").select(
        *(*keys, "event_time", "job_lineage"),
        F.col("spelling_key").alias("downstream_spelling_key"),
        F.col("facets_key").alias("downstream_facets_key"),
    )
    return (
        outputs.join(inputs, keys, "left")
        .groupBy(
            *("upstream_spelling_key", "downstream_spelling_key", "downstream_facets_key"),
            F.col("root_job_namespace").alias("job_namespace"),
            F.col("root_job_name").alias("job_name"),
            "job_lineage",
        )
        .agg(*seen())
    )


def job_lineages(parsed: DataFrame) -> DataFrame:
    """`schemas.JOB_LINEAGES`: the `lineage` facets of jobs, each distinct one once a run or job."""
    return (
        parsed.where(F.col("job_lineage").isNotNull() & F.col("event_time").isNotNull())
        .groupBy(
            "run_key",
            F.col("root_job_namespace").alias("job_namespace"),
            F.col("root_job_name").alias("job_name"),
            "job_lineage",
        )
        .agg(*seen())
    )

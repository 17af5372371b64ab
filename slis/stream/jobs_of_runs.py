"""Jobs that a run belongs to: its root job, and the job that people know below the root.

A run of dbt or Airflow has a parent: `dbt run` or a DAG run. Its own job is the model or the task.
Spark names the job of each write after its application and its output, so that the job that people
know is the application. An engine names the job of a query after its text; its parent has the name.
"""

from functools import cache
from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F

from lineage.keys import NAME_BYTES
from slis.stream.shortened import shortened

_JOB: Final = "event.job"
_PARENT: Final = "event.run.facets.parent"
# Kinds of job (`jobType.jobType`) that are a part of their parent's run.
_QUERIES: Final = ("QUERY", "SQL")


@cache
def own_name() -> Column:
    """Return the job's own name; for a part of a Spark application, the application's name.

    No other event of the run can change it: clients send the parent facet with some events only.
    """
    name = F.col(f"{_JOB}.name")
    is_part = (F.col("integration") == "SPARK") & ~_has_type("APPLICATION")
    return F.when(is_part, F.split_part(name, F.lit("."), F.lit(1))).otherwise(name)


def job_columns() -> list[Column]:
    """Return the columns of the root job and of the leaf job, which is null where it is the root.

    `parent_run_id` is null of an event without the parent facet: what it says of the root is not
    to be used where another event of its run has one.
    """
    namespace, name = _root_job()
    leaf_namespace, leaf_name = _leaf_job()
    is_root = (leaf_namespace == namespace) & (leaf_name == name)
    root_run_id = F.coalesce(
        *(f"{_PARENT}.{run}" for run in ("root.run.runId", "run.runId")), "event.run.runId"
    )
    return [
        shortened(root_run_id).alias("root_run_id"),
        namespace.alias("root_job_namespace"),
        name.alias("root_job_name"),
        F.when(~is_root, leaf_namespace).alias("leaf_job_namespace"),
        F.when(~is_root, leaf_name).alias("leaf_job_name"),
        shortened(f"{_PARENT}.run.runId").alias("parent_run_id"),
    ]


def _root_job() -> tuple[Column, Column]:
    named = [(f"{_PARENT}.root.job.{part}", f"{_PARENT}.job.{part}") for part in _PARTS]
    own = (F.col(f"{_JOB}.namespace"), own_name())
    namespace, name = (F.coalesce(*by, last) for by, last in zip(named, own, strict=True))
    return shortened(namespace, NAME_BYTES), shortened(name, NAME_BYTES)


def _leaf_job() -> tuple[Column, Column]:
    """Return the parent of a query, and of what Spark names after its parent; else the own job."""
    parents = [F.col(f"{_PARENT}.job.{part}") for part in _PARTS]
    own = (F.col(f"{_JOB}.namespace"), own_name())
    is_spark = F.col("integration") == "SPARK"
    is_named_after = F.startswith(F.col(f"{_JOB}.name"), F.concat(parents[1], F.lit(".")))
    is_part = _has_type(*_QUERIES) | (is_spark & is_named_after)
    namespace, name = (
        F.when(is_part & parent.isNotNull(), parent).otherwise(mine)
        for parent, mine in zip(parents, own, strict=True)
    )
    return shortened(namespace, NAME_BYTES), shortened(name, NAME_BYTES)


_PARTS: Final = ("namespace", "name")


def _has_type(*types: str) -> Column:
    job_type = F.upper(f"{_JOB}.facets.jobType.jobType")
    return F.coalesce(job_type.isin(*types), F.lit(False))

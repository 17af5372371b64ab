"""M4 accuracy: edges of events, compared with Spark's own event log."""

from functools import reduce
from operator import and_

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lineage.states import GOOD

EDGE_MISSING = "edge_missing"
EDGE_WRONG = "edge_wrong"
_WRITE = ("root_run_id", "downstream_key")


def compare_edges(evidence: DataFrame, reported: DataFrame) -> DataFrame:
    """Compare the edges of each side with those of the other.

    A list that Spark cut, rows that come out of code, and names whose namespace is hidden prove
    presence alone: no reported edge is held wrong by them. An upstream that is a folder agrees
    with a file in it, since the listener names the folder of a file.

    Args:
        evidence: `accuracy.schemas.SOURCES`, of writes that evidence has.
        reported: `accuracy.schemas.SOURCES`, of the same root runs; `is_whole` has no meaning.

    Returns:
        `accuracy.schemas.CHECKED`. A write that evidence does not have is not checked: there is no
        oracle for it.
    """
    shown = evidence.where("upstream_key IS NOT NULL").alias("e")
    known = reported.where("upstream_key IS NOT NULL").alias("r")
    of_one_write = [F.col(f"e.{name}") == F.col(f"r.{name}") for name in _WRITE]
    agree = reduce(and_, [*of_one_write, _is_same("e", "r")])
    good = shown.join(known, agree, "left_semi").select("e.*", F.lit(GOOD).alias("outcome"))
    missing = shown.join(known, agree, "left_anti").select(
        "e.*", F.lit(EDGE_MISSING).alias("outcome")
    )
    extra = known.join(_whole_writes(evidence), list(_WRITE), "left_semi").alias("r")
    wrong = extra.join(shown, agree, "left_anti").select("r.*", F.lit(EDGE_WRONG).alias("outcome"))
    columns = (*_WRITE, "upstream_key", "outcome")
    return good.union(missing).union(wrong).select(*columns).distinct()


def _whole_writes(evidence: DataFrame) -> DataFrame:
    return evidence.groupBy(*_WRITE).agg(F.min("is_whole").alias("is_whole")).where("is_whole")


def _is_same(one: str, other: str) -> Column:
    """Return whether both are one dataset, or a folder and a dataset in it."""
    names = F.col(f"{one}.upstream_name"), F.col(f"{other}.upstream_name")
    slash = F.lit("/")
    is_inside = names[0].startswith(F.concat(names[1], slash)) | names[1].startswith(
        F.concat(names[0], slash)
    )
    same_place = F.col(f"{one}.upstream_namespace") == F.col(f"{other}.upstream_namespace")
    same_key = F.col(f"{one}.upstream_key") == F.col(f"{other}.upstream_key")
    return same_key | (same_place & is_inside)

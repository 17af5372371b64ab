"""M4 by a run's own words: what its facets name as sources, against what it names as inputs."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from slis.accuracy.checks import EDGE_MISSING, checks

# Who tells both cannot prove itself right: where the two agree, nothing is said.
_SAYS = f"outcome = '{EDGE_MISSING}'"
_WRITE = ("root_run_id", "downstream_key")


def own_checks(told: DataFrame, reported: DataFrame, whole: DataFrame) -> DataFrame:
    """Each source that a run's facets name and its inputs do not; never one that is good.

    Args:
        told: `accuracy.schemas.OWN_TOLD`.
        reported: `accuracy.schemas.TOLD`, of the same root runs; `is_whole` has no meaning.
        whole: `accuracy.schemas.WHOLE`: the event log is believed there, and nobody else.

    Returns:
        `accuracy.schemas.SAID`, each edge once. What a dataset is made of itself is left out.
    """
    asked = told.join(whole, list(_WRITE), "left_anti").where("upstream_key <> downstream_key")
    keys = (*_WRITE, "upstream_key")
    one = asked.groupBy(*keys, "upstream_namespace", "upstream_name").agg(
        F.max("oracle").alias("oracle")
    )
    shown = one.select("*", F.lit(False).alias("is_whole")).drop("oracle")
    found = checks(shown, reported).where(_SAYS)
    return found.join(one.select(*keys, "oracle"), list(keys)).select(*keys, "outcome", "oracle")

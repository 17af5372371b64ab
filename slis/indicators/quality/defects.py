"""State `facts` of a dataset: problems of its content, the first reason that holds."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lineage.states import BAD, FACTS, REASONS


def defect_states(defects: DataFrame) -> DataFrame:
    """Return one bad state per dataset; its evidence lists the other problems.

    Args:
        defects: `quality.schemas.DEFECTS`, at most one row per dataset, instant and reason.

    Returns:
        `sli_schemas.STATES`, of the datasets that have a defect. Nothing is good here: that no
        test failed says nothing of what nobody tested.
    """
    order = F.array_position(F.array(*map(F.lit, REASONS)), F.col("reason"))
    finding = F.struct(order.alias("place"), "reason", "evidence")
    all_findings = F.sort_array(F.collect_list(finding)).alias("findings")
    null = F.lit(None)
    return (
        defects.groupBy("as_of", "dataset_key")
        .agg(all_findings)
        .select(
            *("as_of", "dataset_key", F.lit(FACTS).alias("sli"), F.lit(BAD).alias("state")),
            F.col("findings")[0]["reason"].alias("reason"),
            F.array_join("findings.evidence", "; also ").alias("evidence"),
            *(null.cast("double").alias(name) for name in ("age_seconds", "limit_seconds")),
            null.cast("string").alias("limit_origin"),
        )
    )

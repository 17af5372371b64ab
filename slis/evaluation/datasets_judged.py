"""Coverage and freshness of all datasets in one pass, over any frame of instants."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from slis.evaluation.ingestion_gaps import excuse_states
from slis.indicators.coverage import coverage_judgement
from slis.indicators.freshness import freshness_judgement, with_inputs, with_pauses


def datasets_judged(
    known: DataFrame, edges: DataFrame, gaps: DataFrame, pauses: DataFrame | None = None
) -> DataFrame:
    """Judge each dataset by each per-dataset SLI at each instant.

    One row of facts gives both judgements: two frames would compute the same facts twice.

    Args:
        known: `sli_schemas.KNOWN`.
        edges: `sli_schemas.EDGES`; into streams, for those that are idle.
        gaps: `sli_schemas.GAPS`.
        pauses: `sli_schemas.PAUSES`; None: time counts around the clock for all.

    Returns:
        `sli_schemas.JUDGED` and `inputs_written_at`.
    """
    fresh = freshness_judgement(has_pauses=pauses is not None)
    both = F.explode(F.array(coverage_judgement(), fresh)).alias("judgement")
    paused = with_pauses(with_inputs(known, edges), pauses)
    judged = paused.select("*", both).where("judgement IS NOT NULL").drop("pauses")
    return excuse_states(judged, gaps)

"""M4 by a run's own words: what its facets name as sources, against what it names as inputs."""

from functools import reduce
from operator import and_

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from slis.indicators.accuracy.checks import EDGE_MISSING, compare_edges

# One reporter of both is no proof: where the two agree, there is no finding.
_SAYS = f"outcome = '{EDGE_MISSING}'"
_WRITE = ("root_run_id", "downstream_key")


def facet_checks(named: DataFrame, reported: DataFrame, whole: DataFrame) -> DataFrame:
    """Return each source that a run's facets name and its inputs lack; never a good one.

    Args:
        named: `accuracy.schemas.FACET_SOURCES`.
        reported: `accuracy.schemas.SOURCES`, of the same root runs; `is_whole` has no meaning.
        whole: `accuracy.schemas.WHOLE`: the event log is believed there, and nobody else.

    Returns:
        `accuracy.schemas.FINDINGS`, each edge once. What a dataset is made of itself is left out.
    """
    asked = named.join(whole, list(_WRITE), "left_anti").where("upstream_key <> downstream_key")
    keys = (*_WRITE, "upstream_key")
    one = asked.groupBy(*keys, "upstream_namespace", "upstream_name").agg(
        F.max("oracle").alias("oracle")
    )
    shown = one.select("*", F.lit(False).alias("is_whole")).drop("oracle")
    found = compare_edges(_without_other_spellings(shown, reported), reported).where(_SAYS)
    return found.join(one.select(*keys, "oracle"), list(keys)).select(*keys, "outcome", "oracle")


def _without_other_spellings(shown: DataFrame, reported: DataFrame) -> DataFrame:
    """Drop what is another spelling of an input of the same write.

    Clients build column lineage apart from inputs: without the database (`users` for `data.users`),
    or in another case. An input in the same namespace whose name ends alike is the same dataset.
    """
    named, known = shown.alias("t"), reported.alias("k")
    same_write = [F.col(f"t.{name}") == F.col(f"k.{name}") for name in _WRITE]
    is_other = F.col("t.upstream_key") != F.col("k.upstream_key")
    namespaces, names = (
        [F.lower(f"{side}.upstream_{part}") for side in ("t", "k")]
        for part in ("namespace", "name")
    )
    is_same = reduce(
        and_, [*same_write, is_other, namespaces[0] == namespaces[1], _ends_alike(*names)]
    )
    return named.join(known, is_same, "left_anti")


def _ends_alike(one: Column, other: Column) -> Column:
    dotted = [F.concat(F.lit("."), name) for name in (one, other)]
    return dotted[0].endswith(dotted[1]) | dotted[1].endswith(dotted[0])

"""M3a completeness of nodes: is what the policy requires of a dataset, and of its run, known?"""

from functools import reduce
from operator import add, or_
from typing import get_args

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lineage.policy.objectives import Requirements, RunField
from lineage.states import BAD, NODE_COMPLETENESS, REGULATED, TIERS
from slis.evaluation.counters import AMOUNT_NAMES
from slis.evaluation.wording import join_words

RUN_FIELDS: tuple[RunField, ...] = get_args(RunField)
METADATA_MISSING = "metadata_missing"


def required_fields(requirements: Requirements) -> list[str]:
    """Return every field that some tier needs, each once, in the order of the policy."""
    by_tier = [requirements.regulated, *(requirements.of_tier(tier) for tier in TIERS)]
    return list(dict.fromkeys(field for fields in by_tier for field in fields))


def judge_nodes(described: DataFrame, instants: DataFrame, requirements: Requirements) -> DataFrame:
    """Compare each dataset with the needs of its tier, and of being regulated.

    Fields of a run are those of the run that wrote the dataset last. A dataset that was never
    written has no such run, and they are in no total; where that write is known from evidence
    alone, or nothing is left of its run, they are unknown.

    Args:
        described: `completeness.schemas.NODES`.
        instants: `sli_schemas.INSTANTS`.
        requirements: of the policy.

    Returns:
        `completeness.schemas.NODES_JUDGED`. A dataset of which nothing is required has no row.
    """
    fields = required_fields(requirements)
    needed = {field: _is_required(field, requirements) for field in fields}
    known = {field: needed[field] & _is_known(field) for field in fields}
    good = {field: known[field] & F.col(field) for field in fields}
    missing = {field: known[field] & ~F.col(field) for field in fields}
    unknown = {field: needed[field] & _is_hidden(field) for field in fields}
    judged = described.crossJoin(F.broadcast(instants)).select(
        *("as_of", "dataset_key"),
        F.when(F.col("is_regulated"), REGULATED).otherwise(F.col("tier")).alias("tier"),
        F.when(F.col("is_regulated"), "declared")
        .otherwise(F.col("tier_origin"))
        .alias("tier_origin"),
        _count(good).alias("good"),
        _count(known).alias("total"),
        _count(unknown).alias("unknown"),
        _names(needed).alias("required"),
        _names(missing).alias("missing"),
    )
    return judged.where((F.col("total") > 0) | (F.col("unknown") > 0))


def _is_required(field: str, requirements: Requirements) -> Column:
    by_tier = [F.col("tier") == tier for tier in TIERS if field in requirements.of_tier(tier)]
    if field in requirements.regulated:
        by_tier.append(F.col("is_regulated"))
    return reduce(or_, by_tier)


def _is_known(field: str) -> Column:
    """Return whether it is known that the field is there, or is not."""
    if field not in RUN_FIELDS:
        return F.lit(True)
    return F.col("is_written") & F.col("is_reported") & F.col(field).isNotNull()


def _is_hidden(field: str) -> Column:
    return F.col("is_written") & ~_is_known(field) if field in RUN_FIELDS else F.lit(False)


def _count(flags: dict[str, Column]) -> Column:
    """Count how many hold, over all datasets of the row."""
    zero = F.lit(0).cast("bigint")
    held = (F.coalesce(flag.cast("bigint"), zero) for flag in flags.values())
    return F.col("datasets") * reduce(add, held)


def _names(flags: dict[str, Column]) -> Column:
    """Return the names of those that hold."""
    named = F.array(*(F.when(flag, F.lit(name)) for name, flag in flags.items()))
    return F.array_compact(named)


def node_tally(judged: DataFrame) -> DataFrame:
    """Return fields that are there, of those required, at each instant.

    Args:
        judged: `completeness.schemas.NODES_JUDGED`.

    Returns:
        `sli_schemas.TALLIES`; nothing required, no row.
    """
    zero = F.lit(0).cast("bigint")
    sums = [F.sum(name).alias(name) for name in AMOUNT_NAMES]
    return (
        judged.groupBy("as_of", "tier", "tier_origin")
        .agg(*sums)
        .select(
            *("as_of", F.lit(NODE_COMPLETENESS.id).alias("sli"), "tier", "tier_origin"),
            *(*AMOUNT_NAMES, zero.alias("learning"), zero.alias("excepted")),
        )
    )


def node_states(judged: DataFrame) -> DataFrame:
    """Return the states of regulated datasets: bad without a required field, else none.

    Args:
        judged: `completeness.schemas.NODES_JUDGED`.

    Returns:
        `sli_schemas.STATES`.
    """
    null = F.lit(None)
    evidence = join_words(
        *("not known: ", F.array_join("missing", ", "), "; required of regulated datasets here: "),
        F.array_join("required", ", "),
    )
    lacking = judged.where((F.col("tier") == REGULATED) & (F.size("missing") > 0))
    return lacking.select(
        *("as_of", "dataset_key", F.lit(NODE_COMPLETENESS.id).alias("sli")),
        *(F.lit(BAD).alias("state"), F.lit(METADATA_MISSING).alias("reason")),
        evidence.alias("evidence"),
        *(null.cast("double").alias(name) for name in ("age_seconds", "limit_seconds")),
        null.cast("string").alias("limit_origin"),
    )

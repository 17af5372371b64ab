"""Results of an evaluation of the completeness of nodes."""

import msgspec
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from sqlalchemy import Engine

from lineage.policy import Policy
from slis.evaluation.catalog_frames import rows
from slis.evaluation.dataset_states import Row
from slis.indicators.completeness.catalog import required_nodes
from slis.indicators.completeness.nodes import node_states, node_tally, nodes


class NodesFound(msgspec.Struct, frozen=True):
    """Rows of `sli_schemas.TALLIES`, and of `sli_schemas.STATES` if any dataset was judged."""

    tallies: list[Row] = []
    states: tuple[pa.Table, ...] = ()


def nodes_found(
    spark: SparkSession, engine: Engine, policy: Policy, instants: DataFrame
) -> NodesFound:
    """M3a of the datasets that the policy requires anything of; no work where there are none."""
    described = required_nodes(spark, engine, policy)
    if described is None:
        return NodesFound()
    judged = nodes(described, instants, policy.requirements)
    return NodesFound(
        tallies=rows(node_tally(judged)),
        states=(node_states(judged).toArrow(),),
    )

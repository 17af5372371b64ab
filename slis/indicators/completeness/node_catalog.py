"""Required fields of datasets in the catalog, one row for each dataset with any, and their M3a."""

from collections.abc import Sequence

import msgspec
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from sqlalchemy import Engine, text

from lineage.catalog.queries import WITH_RETIREMENT, is_listed
from lineage.policy import Policy
from lineage.policy.objectives import Requirements
from lineage.states import TIERS
from slis.evaluation import catalog_frames
from slis.evaluation.catalog_frames import frame_rows
from slis.evaluation.dataset_states import FrameRow
from slis.indicators.completeness.nodes import (
    RUN_FIELDS,
    judge_nodes,
    node_states,
    node_tally,
    required_fields,
)
from slis.indicators.completeness.schemas import NODES

_FIELDS = {
    "owner": "p.owner IS NOT NULL",
    "schema": "EXISTS (SELECT 1 FROM schema_version v WHERE v.dataset_key = d.dataset_key)",
    "version": "EXISTS (SELECT 1 FROM dataset_version v WHERE v.dataset_key = d.dataset_key)",
    "checksum": "EXISTS (SELECT 1 FROM dataset_checksum c WHERE c.dataset_key = d.dataset_key)",
    # The engine's own id of what ran, or the scheduler's run that this one is a part of.
    "job_id": "count(application_id) + count(parent_run_id) > 0",
    "job_version": "count(job_version) > 0",
    "code_version": "count(code_version) > 0",
    "engine_version": "count(engine_version) > 0",
    "parameters": "count(parameters) > 0",
    "nominal_time": "count(nominal_start_at) > 0",
}
_CHOSEN = f"""
    FROM dataset d
    JOIN dataset_policy p ON p.dataset_key = d.dataset_key
    LEFT JOIN dataset_activity a ON a.dataset_key = d.dataset_key
    {WITH_RETIREMENT}
"""
_WHERE = f"WHERE {is_listed()} AND t.dataset_key IS NULL AND ({{chosen}})"
_ANY = "SELECT 1 FROM dataset_policy p WHERE {chosen} LIMIT 1"


def required_nodes(spark: SparkSession, engine: Engine, policy: Policy) -> DataFrame | None:
    """Return `completeness.schemas.NODES` of the datasets that the policy requires something of.

    None where there is no such dataset: most policies regulate little, and it costs nothing then.
    """
    chosen = _chosen(policy.requirements)
    with engine.connect() as connection:
        if connection.execute(text(_ANY.format(chosen=chosen))).first() is None:
            return None
    query = nodes_query(policy.requirements)
    # Few rows: one partition needs no shuffle.
    return catalog_frames.frame(spark, engine, query, NODES).coalesce(1)


def _chosen(requirements: Requirements) -> str:
    """Return the condition on `dataset_policy` for datasets with requirements."""
    conditions = [f"p.tier = '{tier}'" for tier in TIERS if requirements.of_tier(tier)]
    if requirements.regulated:
        conditions.append("p.is_regulated")
    return " OR ".join(conditions) or "1 = 0"


def nodes_query(requirements: Requirements) -> str:
    """Return the query of NODES; fields that no tier requires are not read, and are null.

    Datasets that are alike are counted in the catalog: of 100,000, few rows are left for Spark.
    """
    fields = required_fields(requirements)
    of_runs = [field for field in RUN_FIELDS if field in fields]
    where = _WHERE.format(chosen=_chosen(requirements))
    looked_up = [f"{_looked_up(field)} AS has_{field}" for field in fields]
    lacks = " AND ".join(f"coalesce(has_{field}, 1 = 1)" for field in fields)
    has_fields = [f"has_{field}" if field in fields else "NULL" for field in _FIELDS]
    columns = ["tier", "tier_origin", "is_regulated", "is_written", "is_reported", *has_fields]
    places = ", ".join(str(place) for place in range(2, len(columns) + 3))
    return f"""
        SELECT count(*), CASE WHEN is_regulated AND NOT ({lacks}) THEN dataset_key END,
            {", ".join(columns)}
        FROM (
            SELECT d.dataset_key, p.tier, p.tier_origin,
                coalesce(p.is_regulated, 1 = 0) AS is_regulated,
                a.last_written_at IS NOT NULL AS is_written,
                coalesce(a.last_write_is_reported, 1 = 0) AS is_reported, {", ".join(looked_up)}
            {_CHOSEN} {_runs(of_runs, where) if of_runs else ""} {where}
        ) AS node GROUP BY {places}
    """  # noqa: S608 - our own words


def _looked_up(field: str) -> str:
    return f"r.{field}" if field in RUN_FIELDS else _FIELDS[field]


def _runs(fields: Sequence[str], where: str) -> str:
    """Return the fields of the runs of each last write's root, all of one root together."""
    reported = ", ".join(f"{_FIELDS[field]} AS {field}" for field in fields)
    return f"""
        LEFT JOIN (
            SELECT root_run_id, {reported} FROM run
            WHERE root_run_id IN (SELECT a.last_write_root_run_id {_CHOSEN} {where})
            GROUP BY root_run_id
        ) AS r ON r.root_run_id = a.last_write_root_run_id
    """  # noqa: S608 - our own words


class NodesFound(msgspec.Struct, frozen=True):
    """Rows of `sli_schemas.TALLIES`, and of `sli_schemas.STATES` if any dataset was judged."""

    tallies: list[FrameRow] = []
    states: tuple[pa.Table, ...] = ()


def nodes_found(
    spark: SparkSession, engine: Engine, policy: Policy, instants: DataFrame
) -> NodesFound:
    """Return M3a of the datasets that the policy requires anything of; without such, do nothing."""
    described = required_nodes(spark, engine, policy)
    if described is None:
        return NodesFound()
    judged = judge_nodes(described, instants, policy.requirements)
    return NodesFound(
        tallies=frame_rows(node_tally(judged)),
        states=(node_states(judged).toArrow(),),
    )

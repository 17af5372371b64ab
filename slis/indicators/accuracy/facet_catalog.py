"""Comparison of a run's own facets with its inputs, once these had time to come."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from pyspark.sql import SparkSession
from sqlalchemy import Connection, Engine, text

from lineage.catalog.engine import exclusive_transaction
from lineage.names.keys import key
from lineage.process.clock import to_micros
from slis.evaluation import catalog_frames
from slis.indicators.accuracy.check_storage import keep_checks
from slis.indicators.accuracy.facet_oracle import facet_checks
from slis.indicators.accuracy.reported import REPORTED, whole_writes
from slis.indicators.accuracy.schemas import FACET_SOURCES, SOURCES
from slis.stream.merge.facet_disagreements import OF_ALIAS
from slis.stream.merge.merge_facts import merge_datasets
from slis.stream.names.canonical import resolve_components as settle_names
from slis.stream.names.claims_catalog import unsettled_claims
from slis.stream.names.spellings import folder_key_of
from slis.stream.staging import staging

_MOST = 20_000  # of a turn, the oldest first
# Reported before a while, by a run that has written since: its inputs had as long to come.
_DUE = f"""
    SELECT t.root_run_id, t.downstream_key, t.upstream_key, t.oracle, t.upstream_namespace,
        t.upstream_name, dd.canonical_key AS downstream,
        coalesce(du.canonical_key, {OF_ALIAS.format(key="t.upstream_key")}, t.upstream_key)
            AS upstream
    FROM edge_told t JOIN dataset dd ON dd.dataset_key = t.downstream_key
    LEFT JOIN dataset du ON du.dataset_key = t.upstream_key
    WHERE t.seen_at <= {{settled}} AND EXISTS (
        SELECT 1 FROM dataset_write w WHERE w.dataset_key = dd.canonical_key
            AND w.root_run_id = t.root_run_id AND w.landed_at <= {{settled}})
    ORDER BY t.seen_at, t.root_run_id, t.downstream_key, t.upstream_key LIMIT {_MOST}
"""  # noqa: S608 - a number of ours
_NAMED_BY_FACETS = """
    SELECT root_run_id, downstream, upstream, upstream_namespace, upstream_name, oracle
    FROM ({due}) AS due
"""
_ROOTS = "SELECT root_run_id FROM ({due}) AS due"
_DONE = """
    DELETE FROM edge_told WHERE root_run_id = :root_run_id AND downstream_key = :downstream_key
        AND upstream_key = :upstream_key AND oracle = :oracle
"""


def check_facets(spark: SparkSession, engine: Engine, now: datetime, settle: timedelta) -> int:
    """Compare sources of facets that inputs still lack with the edges; count the edges."""
    due = _DUE.format(settled=to_micros(now - settle))
    with engine.connect() as connection:
        due_edges = [dict(row) for row in connection.execute(text(due)).mappings()]
    if not due_edges:
        return 0
    roots = _ROOTS.format(due=due)
    found = catalog_frames.frame_rows(
        facet_checks(
            catalog_frames.frame(spark, engine, _NAMED_BY_FACETS.format(due=due), FACET_SOURCES),
            catalog_frames.frame(spark, engine, REPORTED.format(roots=roots), SOURCES),
            whole_writes(spark, engine, roots),
        )
    )
    with exclusive_transaction(engine) as connection:
        keep_checks(connection, found, to_micros(now))
        _name_upstreams(
            connection, due_edges, {row["upstream_key"] for row in found}, to_micros(now)
        )
        connection.execute(text(_DONE), due_edges)
    return len(found)


def _name_upstreams(
    connection: Connection, due_edges: Iterable[dict[str, Any]], missing: set[int], at: int
) -> None:
    """Store datasets that only a facet names and that are missed: people read their names."""
    rows = {
        (
            row["upstream"],
            row["upstream"],
            namespace,
            name,
            folder_key_of(namespace, name),
            1,
            at,
            at,
        )
        for row in due_edges
        if row["upstream"] in missing
        for namespace, name in [(row["upstream_namespace"], row["upstream_name"])]
        if row["upstream"] == key(namespace, name)
    }
    columns = (
        "spelling_key dataset_key namespace name folder_key is_dataset first_seen_at last_seen_at"
    )
    staging.create(connection)
    staging.fill(connection, {"s_name": (columns.split(), list(rows))})
    changed = unsettled_claims(connection)
    merge_datasets(connection)
    settle_names(connection, changed)

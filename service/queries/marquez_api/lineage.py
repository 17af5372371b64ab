"""Lineage in Marquez's shape: jobs and datasets are nodes alike, in one list by id.

Upstream and downstream of the node that is asked for; a job that stands beside it, fed by the same
dataset and feeding nothing of it, is in neither. As with Marquez, depth counts jobs beyond the
first: 0 is a job with its datasets.
"""

from lineage.catalog.reader import CatalogReader, rows_for
from service.queries.catalog_session import CatalogSession
from service.queries.dataset_lookup import KnownDataset
from service.queries.marquez_api.ids import MOST_RUNS_OF_JOB, JobSummary, unknown_node
from service.queries.marquez_api.lineage_nodes import Flows, dataset_nodes, job_nodes
from service.queries.marquez_api.lineage_shapes import MarquezLineage
from service.queries.visibility import Visibility
from service.queries.walk import NEXT, cuts_of, edges_between, name_nodes, walk_lineage

# Jobs without known inputs.
_SOURCES = """
SELECT a.dataset_key, a.last_job_namespace, a.last_job_name FROM dataset_activity a
WHERE a.dataset_key IN (:keys) AND a.last_job_name IS NOT NULL AND NOT EXISTS (
  SELECT 1 FROM edge e WHERE e.downstream_key = a.dataset_key AND e.job_name = a.last_job_name)
"""
_TOUCHED = """
SELECT DISTINCT c.dataset_key, c.namespace, io.direction FROM run_io io
JOIN dataset d ON d.dataset_key = io.dataset_key JOIN dataset c ON c.dataset_key = d.canonical_key
WHERE io.run_key IN (:keys)
"""


def marquez_lineage(
    asked: CatalogSession, node: KnownDataset | JobSummary, depth: int
) -> MarquezLineage:
    """Return the visible graph around a node, limited in depth and size.

    Raises:
        UnknownNodeError: a job none of whose datasets may be seen.
    """
    reader, flows = asked.reader, Flows()
    if isinstance(node, JobSummary):
        starts = _of_job(reader, node, flows, asked.visibility)
    else:
        starts, depth = {way: {node[0]} for way in NEXT}, depth + 1
    walks = {way: walk_lineage(asked, way, sorted(starts[way]), depth) for way in NEXT}
    found = [*set().union(*(walk.keys for walk in walks.values()))]
    keys = {key for key, name in zip(found, name_nodes(asked, found), strict=True) if name}
    _take(reader, keys, flows, asked.visibility)
    cuts = cuts_of(walks)
    if isinstance(node, JobSummary) and node.is_cut:
        cuts.append(f"the datasets of the job's newest {MOST_RUNS_OF_JOB:,} runs")
    datasets = dataset_nodes(reader, keys, flows, asked.visibility)
    newest = node.runs[:1] if isinstance(node, JobSummary) else []
    jobs = job_nodes(reader, datasets, flows, newest, asked.visibility)
    graph = sorted([*datasets.values(), *jobs], key=lambda one: one.id)
    return MarquezLineage(graph, bool(cuts), "; ".join(cuts) or None)


def _of_job(
    reader: CatalogReader, job: JobSummary, flows: Flows, visibility: Visibility
) -> dict[str, set[int]]:
    """Return the inputs and outputs of the job, to walk up and down from."""
    rows = rows_for(reader, _TOUCHED, job.runs)
    seen = [
        (key, direction) for key, namespace, direction in rows if visibility.sees(namespace, key)
    ]
    if not seen and not visibility.is_whole:
        raise unknown_node("job", job.asked)
    flow = flows.of(job.namespace, job.name)
    flows.asked.add((job.namespace, job.name))
    flow.inputs = {key for key, direction in seen if direction == "read"}
    flow.outputs = {key for key, direction in seen if direction == "write"}
    return {"upstream": set(flow.inputs), "downstream": set(flow.outputs)}


def _take(reader: CatalogReader, known: set[int], flows: Flows, visibility: Visibility) -> None:
    """Add all edges between these datasets, also between those of one side and the other."""
    for row in edges_between(reader, known):
        edge = row.upstream_key, row.downstream_key
        if not row.job_name:
            flows.declared.add(edge)
            continue
        # Spark names a job after what it writes, which may be hidden from the token.
        event_name = row.event_job_name if visibility.is_whole else None
        seen = [row.first_seen_at, row.last_seen_at]
        flows.add(edge, (row.job_namespace, row.job_name), event_name, seen)
    for key, namespace, name in rows_for(reader, _SOURCES, known):
        flows.of(namespace, name).outputs.add(key)
    flows.clear_false_paths()

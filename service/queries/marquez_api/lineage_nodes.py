"""Nodes of a graph in Marquez's shape: details of each dataset and each job."""

from collections.abc import Iterable
from typing import Literal

import msgspec

from lineage.catalog.queries import LEAF_RUN_ID, newest_schema
from lineage.catalog.reader import CatalogReader, rows_for
from lineage.catalog.rows import Row
from lineage.catalog.run_ends import failed_at
from lineage.names.names import Name
from service.queries.descriptions import NO_DESCRIPTIONS, describe_jobs
from service.queries.marquez_api.dataset_details import DatasetDetails
from service.queries.marquez_api.ids import node_id_of
from service.queries.marquez_api.lineage_shapes import (
    DatasetData,
    JobData,
    MarquezEdge,
    MarquezNode,
    NodeName,
    RunData,
    marquez_run_state,
)
from service.queries.timestamps import iso, iso_of, milliseconds_between
from service.queries.visibility import Visibility

_DATASETS = f"""
SELECT d.dataset_key, d.namespace, d.name, d.first_seen_at, d.last_seen_at, a.last_written_at,
  ({newest_schema("d.dataset_key")}) AS fields
FROM dataset d LEFT JOIN dataset_activity a ON a.dataset_key = d.dataset_key
WHERE d.dataset_key IN (:keys)
"""  # noqa: S608 - SQL of ours
# By the indexes of runs by job: of those that evidence says nothing of, and of the few others.
_NEWEST_ROOT = """(
  SELECT root_run_id FROM run r WHERE r.{part}_job_name = j.name AND r.evidence {evidence}
  AND r.{part}_job_namespace = j.namespace ORDER BY r.first_event_at DESC LIMIT 1)"""
_EACH_NEWEST = ", ".join(
    _NEWEST_ROOT.format(part=part, evidence=evidence)
    for part in ("root", "leaf")
    for evidence in ("IS NULL", "IS NOT NULL")
)
_NEWEST_ROOTS = f"""
SELECT {_EACH_NEWEST} FROM (
  SELECT job_namespace AS namespace, job_name AS name FROM edge WHERE downstream_key IN (:keys)
  UNION
  SELECT last_job_namespace, last_job_name FROM dataset_activity WHERE dataset_key IN (:keys)
) AS j
"""  # noqa: S608 - constants only
_ROOT_OF = "SELECT root_run_id FROM run WHERE run_key IN (:keys)"
_SPAN = """
MIN(r.first_event_at) AS first_event_at, {run_id} AS run_id, MAX(r.last_event_at) AS last_event_at,
  MIN(r.started_at) AS started_at, {completed} AS completed_at, {failed} AS failed_at,
  MAX(r.nominal_start_at) AS nominal_start_at
FROM run r WHERE r.root_run_id IN (:keys)
"""
_LEAVES = f"""
SELECT r.leaf_job_namespace AS job_namespace, r.leaf_job_name AS job_name, {
    _SPAN.format(run_id=LEAF_RUN_ID, completed="MAX(r.completed_at)", failed=f"MIN({failed_at()})")
} AND r.leaf_job_name IS NOT NULL
GROUP BY r.leaf_job_namespace, r.leaf_job_name, {LEAF_RUN_ID}
"""
# A root run ends by its own word; by its children's where it never spoke.
_OWN = """CASE WHEN MAX(CASE WHEN r.leaf_job_name IS NULL THEN 1 END) = 1
  THEN {of}(CASE WHEN r.leaf_job_name IS NULL THEN {at} END) ELSE {of}({at}) END"""
_ROOTS = f"""
SELECT r.root_job_namespace AS job_namespace, r.root_job_name AS job_name, {
    _SPAN.format(
        run_id="r.root_run_id",
        completed=_OWN.format(of="MAX", at="r.completed_at"),
        failed=_OWN.format(of="MIN", at=failed_at()),
    )
} GROUP BY r.root_job_namespace, r.root_job_name, r.root_run_id
"""


class Flow(msgspec.Struct):
    """Job with its inputs and outputs, by key, and when these were first and last seen."""

    inputs: set[int] = msgspec.field(default_factory=set)
    outputs: set[int] = msgspec.field(default_factory=set)
    seen: list[int] = msgspec.field(default_factory=list)
    part_of: str | None = None  # the job whose newest run is that of this one, too

    def pairs(self) -> set[tuple[int, int]]:
        """Return every path through the job."""
        return {(up, down) for up in self.inputs for down in self.outputs}


class Flows(msgspec.Struct):
    """Jobs between datasets; `declared`: edges without a known job."""

    jobs: dict[Name, Flow] = msgspec.field(default_factory=dict)
    declared: set[tuple[int, int]] = msgspec.field(default_factory=set)
    edges: set[tuple[int, int]] = msgspec.field(default_factory=set)
    asked: set[Name] = msgspec.field(default_factory=set)

    def of(self, namespace: str, name: str) -> Flow:
        """Return the flow of this job."""
        return self.jobs.setdefault((namespace, name), Flow())

    def add(
        self, edge: tuple[int, int], job: Name, event_name: str | None, seen: list[int]
    ) -> None:
        """Add an edge, with the job that makes it, by the name that its events have if any.

        `seen`: when the edge was first and last seen.
        """
        namespace, name = job
        flow = self.of(namespace, event_name or name)
        flow.part_of = name if event_name else flow.part_of
        flow.inputs.add(edge[0])
        flow.outputs.add(edge[1])
        flow.seen += seen
        self.edges.add(edge)

    def clear_false_paths(self) -> None:
        """Take the edges of a job that is asked for where its parts, by edges, have other paths."""
        for job in self.asked:
            flow = self.jobs[job]
            known = flow.pairs() & self.edges
            if known and (known != flow.pairs() or self._parts_of(job)):
                self.jobs[job] = Flow(seen=flow.seen)

    def _parts_of(self, job: Name) -> list[Name]:
        return [name for name, flow in self.jobs.items() if (name[0], flow.part_of) == job]


def dataset_nodes(
    reader: CatalogReader, keys: Iterable[int], flows: Flows, visibility: Visibility
) -> dict[int, MarquezNode]:
    """Return the nodes by key; an edge without a known job leads from dataset to dataset."""
    wanted = list(keys)
    details = DatasetDetails(reader, wanted, visibility)
    data = {
        row.dataset_key: DatasetData(**details.dataset(row))
        for row in rows_for(reader, _DATASETS, wanted)
    }
    ids = {key: node_id_of("dataset", one.namespace, one.name) for key, one in data.items()}
    into: dict[int, list[str]] = {key: [] for key in ids}
    out_of: dict[int, list[str]] = {key: [] for key in ids}
    for (namespace, name), flow in flows.jobs.items():
        job = node_id_of("job", namespace, name)
        for key in flow.outputs & ids.keys():
            into[key].append(job)
        for key in flow.inputs & ids.keys():
            out_of[key].append(job)
    for up, down in flows.declared:
        into[down].append(ids[up])
        out_of[up].append(ids[down])
    return {key: _node("DATASET", ids[key], data[key], into[key], out_of[key]) for key in ids}


def job_nodes(
    reader: CatalogReader,
    datasets: dict[int, MarquezNode],
    flows: Flows,
    runs: list[int],
    visibility: Visibility,
) -> list[MarquezNode]:
    """Return the jobs with their newest runs; `runs`: those of a job without a dataset here."""
    newest = _newest(reader, list(datasets), runs)
    described = describe_jobs(reader, flows.jobs, visibility)
    return [
        _job_node(
            name,
            flow,
            datasets,
            newest.get((name[0], flow.part_of or name[1])),
            described.get(name, NO_DESCRIPTIONS).description,
        )
        for name, flow in flows.jobs.items()
    ]


def _newest(reader: CatalogReader, keys: list[int], runs: list[int]) -> dict[Name, RunData]:
    roots = {root for row in rows_for(reader, _NEWEST_ROOTS, keys) for root in row}
    roots |= {row[0] for row in rows_for(reader, _ROOT_OF, runs)}
    known = sorted(roots - {None})
    rows = [row for query in (_LEAVES, _ROOTS) for row in rows_for(reader, query, known)]
    rows.sort(key=lambda row: (row.first_event_at, row.run_id))  # the last of a job is its newest
    return {(row.job_namespace, row.job_name): _run(row) for row in rows}


def _job_node(
    name: Name,
    flow: Flow,
    datasets: dict[int, MarquezNode],
    run: RunData | None,
    description: str | None,
) -> MarquezNode:
    ends = ({key: datasets[key] for key in keys} for keys in (flow.inputs, flow.outputs))
    read, written = (sorted(end.values(), key=lambda node: node.id) for end in ends)
    data = JobData(
        id=NodeName(*name),
        name=name[1],
        simple_name=name[1],
        namespace=name[0],
        created_at=iso(min(flow.seen, default=None)),
        updated_at=iso(max(flow.seen, default=None)),
        inputs=[node.data.id for node in read],
        outputs=[node.data.id for node in written],
        latest_run=run,
        description=description,
    )
    into, out_of = [node.id for node in read], [node.id for node in written]
    return _node("JOB", node_id_of("job", *name), data, into, out_of)


def _node(
    kind: Literal["DATASET", "JOB"],
    node_id: str,
    data: DatasetData | JobData,
    into: list[str],
    out_of: list[str],
) -> MarquezNode:
    return MarquezNode(
        node_id,
        kind,
        data,
        in_edges=[MarquezEdge(one, node_id) for one in sorted(into)],
        out_edges=[MarquezEdge(node_id, one) for one in sorted(out_of)],
    )


def _run(row: Row) -> RunData:
    started, completed, failed = row.started_at, row.completed_at, row.failed_at
    end = max((at for at in (completed, failed) if at is not None), default=None)
    return RunData(
        id=row.run_id,
        state=marquez_run_state(started, completed, failed),
        created_at=iso_of(row.first_event_at),
        updated_at=iso_of(row.last_event_at),
        started_at=iso(started),
        ended_at=iso(end),
        duration_ms=milliseconds_between(started, end),
        nominal_start_time=iso(row.nominal_start_at),
    )

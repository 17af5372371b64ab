"""The nodes of a graph as Marquez has them: what is known of each dataset and each job."""

from collections.abc import Iterable
from typing import Literal

import msgspec

from lineage.catalog.reader import Reader, Row, rows_for
from lineage.states import run_state
from service.answers.marquez_shapes import (
    DatasetData,
    FieldData,
    GraphEdge,
    GraphNode,
    JobData,
    NodeName,
    RunData,
    RunState,
)
from service.answers.moments import iso, iso_of, milliseconds_between
from service.answers.node_ids import node_id_of
from service.answers.schema_changes import fields_of

_DATASETS = """
SELECT d.dataset_key, d.namespace, d.name, d.first_seen_at, d.last_seen_at, a.last_written_at, (
  SELECT s.fields FROM schema_version s WHERE s.dataset_key = d.dataset_key
  ORDER BY s.last_seen_at DESC, s.schema_key LIMIT 1)
FROM dataset d LEFT JOIN dataset_activity a ON a.dataset_key = d.dataset_key
WHERE d.dataset_key IN (:keys)
"""
_TAGS = "SELECT DISTINCT dataset_key, tag FROM tag WHERE dataset_key IN (:keys) ORDER BY tag"
# By the index of runs by job: of those that evidence says nothing of, and of the few others.
_NEWEST_ROOTS = """
SELECT (
  SELECT root_run_id FROM run r WHERE r.root_job_name = j.name AND r.evidence IS NULL
  AND r.root_job_namespace = j.namespace ORDER BY r.first_event_at DESC LIMIT 1), (
  SELECT root_run_id FROM run r WHERE r.root_job_name = j.name AND r.evidence IS NOT NULL
  AND r.root_job_namespace = j.namespace ORDER BY r.first_event_at DESC LIMIT 1)
FROM (
  SELECT job_namespace AS namespace, job_name AS name FROM edge WHERE downstream_key IN (:keys)
  UNION
  SELECT last_job_namespace, last_job_name FROM dataset_activity WHERE dataset_key IN (:keys)
) AS j
"""
_ROOT_OF = "SELECT root_run_id FROM run WHERE run_key IN (:keys)"
_ROOTS = """
SELECT root_job_namespace, root_job_name, MIN(first_event_at), root_run_id, MAX(last_event_at),
  MIN(started_at), MAX(completed_at), MIN(failed_at), MAX(nominal_start_at)
FROM run WHERE root_run_id IN (:keys) GROUP BY root_job_namespace, root_job_name, root_run_id
"""
_STATES: dict[str, RunState] = {
    "FAIL": "FAILED",
    "COMPLETE": "COMPLETED",
    "RUNNING": "RUNNING",
    "OTHER": "NEW",
}


_JobName = tuple[str, str]


class Flow(msgspec.Struct):
    """A job with what it reads and writes, by key, and when that was first and last seen."""

    inputs: set[int] = msgspec.field(default_factory=set)
    outputs: set[int] = msgspec.field(default_factory=set)
    seen: list[int] = msgspec.field(default_factory=list)


class Flows(msgspec.Struct):
    """The jobs between datasets; `declared`: edges that no job is known to make."""

    jobs: dict[_JobName, Flow] = msgspec.field(default_factory=dict)
    declared: set[tuple[int, int]] = msgspec.field(default_factory=set)

    def of(self, namespace: str, name: str) -> Flow:
        """That of this job."""
        return self.jobs.setdefault((namespace, name), Flow())


def dataset_nodes(reader: Reader, keys: Iterable[int], flows: Flows) -> dict[int, GraphNode]:
    """By key; an edge that no job is known to make leads from dataset to dataset."""
    wanted = list(keys)
    tags: dict[int, list[str]] = {}
    for key, tag in rows_for(reader, _TAGS, wanted):
        tags.setdefault(key, []).append(tag)
    data = {
        row[0]: _dataset(row, tags.get(row[0], [])) for row in rows_for(reader, _DATASETS, wanted)
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
    reader: Reader, datasets: dict[int, GraphNode], flows: Flows, runs: list[int]
) -> list[GraphNode]:
    """Each with its newest run; `runs`: those of a job that no dataset here tells of."""
    newest = _newest(reader, list(datasets), runs)
    return [_job_node(name, flow, datasets, newest.get(name)) for name, flow in flows.jobs.items()]


def _newest(reader: Reader, keys: list[int], runs: list[int]) -> dict[_JobName, RunData]:
    roots = {root for row in rows_for(reader, _NEWEST_ROOTS, keys) for root in row}
    roots |= {row[0] for row in rows_for(reader, _ROOT_OF, runs)}
    rows = sorted(rows_for(reader, _ROOTS, sorted(roots - {None})))
    return {(row[0], row[1]): _run(row) for row in rows}  # the last of each job is its newest


def _job_node(
    name: _JobName, flow: Flow, datasets: dict[int, GraphNode], run: RunData | None
) -> GraphNode:
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
    )
    into, out_of = [node.id for node in read], [node.id for node in written]
    return _node("JOB", node_id_of("job", *name), data, into, out_of)


def _node(
    kind: Literal["DATASET", "JOB"],
    node_id: str,
    data: DatasetData | JobData,
    into: list[str],
    out_of: list[str],
) -> GraphNode:
    return GraphNode(
        node_id,
        kind,
        data,
        in_edges=[GraphEdge(one, node_id) for one in sorted(into)],
        out_edges=[GraphEdge(node_id, one) for one in sorted(out_of)],
    )


def _dataset(row: Row, tags: list[str]) -> DatasetData:
    _, namespace, name, first_seen_at, last_seen_at, written_at, fields = row
    return DatasetData(
        id=NodeName(namespace, name),
        name=name,
        physical_name=name,
        namespace=namespace,
        source_name=namespace,
        created_at=iso_of(first_seen_at),
        updated_at=iso_of(last_seen_at),
        last_modified_at=iso(written_at),
        fields=[FieldData(field.name, field.type) for field in fields_of(fields)],
        dataset_namespace=namespace,
        dataset=name,
        tags=tags,
    )


def _run(row: Row) -> RunData:
    _, _, first_event, run_id, last_event, started, completed, failed, nominal = row
    end = max((at for at in (completed, failed) if at is not None), default=None)
    state = run_state(started_at=started, completed_at=completed, failed_at=failed)
    return RunData(
        id=run_id,
        state=_STATES[state],
        created_at=iso_of(first_event),
        updated_at=iso_of(last_event),
        started_at=iso(started),
        ended_at=iso(end),
        duration_ms=milliseconds_between(started, end),
        nominal_start_time=iso(nominal),
    )

"""Rows of the catalog from the logs of a pass.

This runs in the driver: of a log's millions of tasks, Spark left the executions and their names.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from lineage.names.keys import key
from lineage.names.names import job_of, split_joined
from lineage.policy import NO_FOLDS, CompiledFolds
from lineage.redaction import redact_message
from lineage.states import WRITE
from slis.evidence.plans import FILE
from slis.stream.facts.spans import SeenTimes
from slis.stream.names.spellings import Spellings

_Row = dict[str, Any]
# (kind, name) to the key of the one dataset that it can mean, where Spark hides the namespace.
Resolve = Callable[[str, str], int | None]


class EvidenceRows(msgspec.Struct):
    """Rows of `application`, `execution`, `execution_io` and `evidence_stage`, and their names."""

    applications: list[_Row] = []
    executions: list[_Row] = []
    io: list[_Row] = []
    stages: list[_Row] = []
    spellings: Spellings = msgspec.field(default_factory=Spellings)


def execution_key(application_id: str, execution_id: int) -> int:
    """Return the key of an execution, in `execution`."""
    return key(application_id, str(execution_id))


def stream_key(application_id: str, run_id: str, batch: int) -> int:
    """Return the key of a stream's micro-batch, in `execution.stream_key`."""
    return key(application_id, run_id, str(batch))


def stage_key(application_id: str, stage: int, attempt: int) -> int:
    """Return the key of one attempt of a stage, in `evidence_stage`."""
    return key(application_id, "stage", str(stage), str(attempt))


def evidence_rows(
    frames: Mapping[str, Iterable[_Row]],
    ids: Mapping[str, str],
    resolve: Resolve,
    folds: CompiledFolds = NO_FOLDS,
) -> EvidenceRows:
    """Return the rows of the logs' contents.

    Args:
        frames: rows of `schemas.APPLICATIONS` as `applications`, of EXECUTIONS as `executions`, of
            TOUCHED as `touched`, of JOBS as `jobs`, of STAGES as `stages`; instants in
            microseconds.
        ids: application id by file. What a file of an unknown application says is left out: its
            first file, which names it, was not read yet.
        resolve: finds the dataset of a name without a namespace.
        folds: the policy's.
    """
    applications = list(_applications(frames["applications"], ids))
    found = EvidenceRows(applications=applications, spellings=Spellings(folds))
    touched = [row for row in frames["touched"] if row["path"] in ids]
    opaque = {
        execution_key(ids[row["path"]], row["execution_id"])
        for row in touched
        if row["execution_id"] is not None and (not row["is_whole"] or row["kind"] != FILE)
    }
    jobs = _first_jobs(frames["jobs"], ids)
    outputs = Counter(
        execution_key(ids[row["path"]], row["execution_id"])
        for row in touched
        if row["execution_id"] is not None and row["direction"] == WRITE
    )
    for row in frames["executions"]:
        if row["path"] in ids:
            found.executions.append(_execution(row, ids[row["path"]], jobs, outputs, opaque))
    times = {row["execution_key"]: row["started_at"] for row in found.executions}
    times |= {row["stream_key"]: row["started_at"] for row in found.executions}
    for row in touched:
        found.io += _io(row, ids[row["path"]], times, found.spellings, resolve)
    found.stages = [_stage(row, ids[row["path"]]) for row in frames["stages"] if row["path"] in ids]
    return found


def _applications(rows: Iterable[_Row], ids: Mapping[str, str]) -> Iterator[_Row]:
    for row in rows:
        if row["path"] not in ids:
            continue
        name = row["app_name"]
        has_listener = row["has_listener"]
        yield {
            "application_id": ids[row["path"]],
            "name": None if name is None else job_of(name),
            "has_listener": None if has_listener is None else int(has_listener),
            **{field: row[field] for field in _OF_APPLICATIONS},
        }


_OF_APPLICATIONS = (
    "attempt_of",
    "namespace",
    "started_at",
    "ended_at",
    "spark_version",
    "cut_after",
)


def _first_jobs(rows: Iterable[_Row], ids: Mapping[str, str]) -> dict[int, int]:
    jobs: dict[int, list[int]] = defaultdict(list)
    for row in rows:
        if row["path"] in ids:
            jobs[execution_key(ids[row["path"]], row["execution_id"])].append(row["spark_job_id"])
    return {execution: min(numbers) for execution, numbers in jobs.items()}


def _execution(
    row: _Row,
    application: str,
    jobs: Mapping[int, int],
    outputs: Mapping[int, int],
    opaque: set[int],
) -> _Row:
    own = execution_key(application, row["execution_id"])
    outermost, stream = row["root_execution_id"], row["stream_run_id"]
    has_batch = stream is not None and row["stream_batch"] is not None
    return {
        "execution_key": own,
        "application_id": application,
        "execution_id": row["execution_id"],
        "root_execution_id": outermost,
        "stream_key": stream_key(application, stream, row["stream_batch"]) if has_batch else None,
        "group_key": None if outermost is None else execution_key(application, outermost),
        "spark_job_id": jobs.get(own),
        "outputs": outputs.get(own),
        "is_whole": own not in opaque and not row["reads_unnamed"],
        **{field: row[field] for field in ("started_at", "ended_at")},
        "error_message": redact_message(row["error_message"]) if row["error_message"] else None,
    }


def _stage(row: _Row, application: str) -> _Row:
    execution = row["execution_id"]
    return {
        "stage_key": stage_key(application, row["stage_id"], row["attempt"]),
        "execution_key": None if execution is None else execution_key(application, execution),
        **{field: row[field] for field in ("at", "rows", "bytes")},
    }


def _io(
    row: _Row,
    application: str,
    times: Mapping[int | None, int],
    spellings: Spellings,
    resolve: Resolve,
) -> Iterator[_Row]:
    if row["execution_id"] is not None:
        owner = execution_key(application, row["execution_id"])
    else:
        owner = stream_key(application, row["stream_run_id"], row["stream_batch"])
    if row["kind"] == FILE:
        at = times.get(owner) or max(times.values(), default=0)
        name = split_joined(row["location"])
        spelling = spellings.note(*name, SeenTimes(at, at), is_dataset=True)
        dataset: int | None = spelling.dataset_key
    else:
        dataset = resolve(row["kind"], row["location"])
    if dataset is not None:
        yield {"execution_key": owner, "dataset_key": dataset, "direction": row["direction"]}

"""Differences of two runs; by default a job's last success and the first failure after it."""

from collections.abc import Mapping

import msgspec

from lineage.catalog.queries import LEAF_RUN_ID
from lineage.catalog.reader import CatalogReader, rows_for
from lineage.catalog.rows import Row
from lineage.errors import InvalidRequestError
from service.errors import UnknownRunError
from service.queries.run_snapshot import (
    MOST_RUNS_OF_ROOT,
    ComparedRun,
    RunSnapshot,
    Touch,
    load_run,
)
from service.queries.schema_changes import SchemaChange, fields_of, schema_change

_MOST_RUNS = 10_000
_SCHEMAS = "SELECT dataset_key, schema_key, fields FROM schema_version WHERE dataset_key IN (:keys)"
_RUNS_OF_JOB = """
SELECT {run_id} AS run_id, r.{part}_job_namespace AS job_namespace,
  MIN(r.first_event_at) AS began_at, MAX(r.completed_at) AS completed_at,
  MIN(r.failed_at) AS failed_at
FROM run r WHERE r.{part}_job_name = :name
AND (CAST(:namespace AS TEXT) IS NULL OR r.{part}_job_namespace = :namespace)
GROUP BY {run_id}, r.{part}_job_namespace
"""
_RUNS = f"""
SELECT * FROM ({_RUNS_OF_JOB.format(part="root", run_id="r.root_run_id")}
  UNION {_RUNS_OF_JOB.format(part="leaf", run_id=LEAF_RUN_ID)}) AS known
ORDER BY began_at DESC, run_id LIMIT :most
"""  # noqa: S608 - constants only
# Spark's events call the job of each output `APPLICATION.step`.
_STEPS = """
SELECT 1 FROM run WHERE (root_job_name = :whole OR leaf_job_name = :whole) AND job_name = :step
LIMIT 1
"""
Schemas = dict[tuple[int, int | None], str]


class ValueChange(msgspec.Struct, frozen=True):
    """Difference of one value; null where a run did not report it."""

    what: str
    first: str | None
    second: str | None


class DatasetDiff(msgspec.Struct, frozen=True):
    """Dataset that the runs did not touch alike."""

    dataset_namespace: str
    dataset: str
    direction: str  # read | write
    only_in: str | None  # first | second; null: both touched it
    changes: list[ValueChange]  # version, checksum, partition, rows, bytes
    schema: SchemaChange | None


class RunDiff(msgspec.Struct, frozen=True):
    """Differences between two runs; `same`: they reported none."""

    first: ComparedRun
    second: ComparedRun
    same: bool
    changes: list[ValueChange]
    datasets: list[DatasetDiff]
    partial: bool
    partial_reason: str | None


def compare_runs(reader: CatalogReader, first: str, second: str) -> RunDiff:
    """Return the differences of two runs; a root run includes all its children.

    Raises:
        UnknownRunError: one of them was never seen.
    """
    one, other = load_run(reader, first), load_run(reader, second)
    schemas = _schemas(reader, one, other)
    changes = [
        *_changes(one.attributes, other.attributes),
        *_changes(one.settings, other.settings),
    ]
    touches = sorted(one.figures.keys() | other.figures.keys())
    datasets = [found for touch in touches if (found := _dataset(touch, one, other, schemas))]
    status = _changes({"status": one.run.status}, {"status": other.run.status})
    partial = one.partial or other.partial
    return RunDiff(
        first=one.run,
        second=other.run,
        same=not (status or changes or datasets),
        changes=[*status, *changes],
        datasets=datasets,
        partial=partial,
        partial_reason=f"only {MOST_RUNS_OF_ROOT} runs of a root are compared" if partial else None,
    )


def last_good_and_failed(
    reader: CatalogReader, name: str, namespace: str | None = None
) -> tuple[str, str]:
    """Return the last run of this job that succeeded before a failure, and that failure's.

    The job is a root job, or one below a root: a dbt model, an Airflow task, a Spark application.

    Raises:
        UnknownRunError: no such job, or no failure after a success in what is kept.
        InvalidRequestError: several namespaces have a job of that name.
    """
    rows = _runs_of(reader, name, namespace)
    if not rows:
        message = f"no run of a job {name[:80]!r} has been seen"
        raise UnknownRunError(message)
    if len(namespaces := sorted({row.job_namespace for row in rows})) > 1:
        listed = ", ".join(namespaces[:5])
        message = f"job: {name[:80]!r} exists in several namespaces: {listed}. Give the namespace."
        raise InvalidRequestError(message)
    failure: str | None = None
    for row in rows:  # the newest first
        if row.failed_at is not None:
            failure = row.run_id
        elif row.completed_at is not None and failure is not None:
            return row.run_id, failure
    message = f"job {name[:80]!r} has no failure after a success in the stored runs"
    raise UnknownRunError(message)


def _runs_of(reader: CatalogReader, shown: str, namespace: str | None) -> list[Row]:
    """Return the runs of a job, by its own name or by that of a step, as pages show it."""
    given = {"namespace": namespace, "most": _MOST_RUNS}
    found = reader.rows(_RUNS, given | {"name": shown})
    whole = shown
    while not found and "." in whole:
        whole = whole.rpartition(".")[0]
        if reader.rows(_STEPS, {"whole": whole, "step": shown}):
            found = reader.rows(_RUNS, given | {"name": whole})
    return found


def _schemas(reader: CatalogReader, *sides: RunSnapshot) -> Schemas:
    keys = sorted({key for one in sides for key, schema in one.schemas.values() if schema})
    return {(key, schema): fields for key, schema, fields in rows_for(reader, _SCHEMAS, keys)}


def _changes(
    first: Mapping[str, str | None], second: Mapping[str, str | None]
) -> list[ValueChange]:
    pairs = [(name, first.get(name), second.get(name)) for name in dict.fromkeys([*first, *second])]
    return [ValueChange(*pair) for pair in pairs if pair[1] != pair[2]]


def _dataset(
    touch: Touch, one: RunSnapshot, other: RunSnapshot, schemas: Schemas
) -> DatasetDiff | None:
    if touch not in one.figures or touch not in other.figures:
        only_in = "first" if touch in one.figures else "second"
        return DatasetDiff(*touch, only_in=only_in, changes=[], schema=None)
    changes = _changes(one.figures[touch], other.figures[touch])
    schema = _schema(one.schemas[touch], other.schemas[touch], schemas)
    if not changes and schema is None:
        return None
    return DatasetDiff(*touch, only_in=None, changes=changes, schema=schema)


def _schema(
    first: tuple[int, int | None], second: tuple[int, int | None], schemas: Schemas
) -> SchemaChange | None:
    """Return what changed; None if both are alike, or one of them named no schema."""
    if first == second or first not in schemas or second not in schemas:
        return None
    return schema_change(fields_of(schemas[first]), fields_of(schemas[second]))

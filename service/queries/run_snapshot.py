"""Snapshot of a run, or of a root run with all its children, for a comparison."""

from typing import Any

import msgspec

from lineage.catalog.queries import LEAF_RUN_ID, ROWS_AND_BYTES
from lineage.catalog.reader import CatalogReader, rows_for
from lineage.catalog.rows import Row
from lineage.states import run_state
from service.errors import UnknownRunError
from service.queries.deleted_runs import older_runs_advice
from service.queries.descriptions import settings_of
from service.queries.run_shapes import IsoTime
from service.queries.timestamps import iso, seconds_between

MOST_RUNS_OF_ROOT = 5_000  # children of one root that are looked at
ATTRIBUTES = (
    *("code_version", "code_url", "code_path", "code_tag", "code_branch", "job_version"),
    *("engine", "engine_version", "adapter_version", "producer", "processing_type"),
)
FIGURES = ("version", "checksum", "partition", "rows", "bytes")
_COLUMNS = (
    *("run_key", "root_run_id", "root_job_namespace", "root_job_name"),
    *("leaf_job_namespace", "leaf_job_name", "started_at"),
    *("completed_at", "failed_at", "error_message", "spark_conf", "parameters"),
    *("nominal_start_at", *ATTRIBUTES),
)
_RUNS = f"""
SELECT {", ".join(f"r.{name}" for name in _COLUMNS)} FROM run r WHERE {{which}}
ORDER BY r.first_event_at, r.run_key LIMIT :most
"""  # noqa: S608 - constants only
_IO = f"""
SELECT c.namespace, c.name, io.direction, io.dataset_version AS version, io.checksum, io.partition,
  {ROWS_AND_BYTES}, io.schema_key, c.dataset_key
FROM run_io io JOIN dataset d ON d.dataset_key = io.dataset_key
JOIN dataset c ON c.dataset_key = d.canonical_key WHERE io.run_key IN (:keys)
"""  # noqa: S608 - constants only

# A root run with all of its runs, a leaf run with its parts, or a run by itself.
_WHICH = (
    "r.root_run_id = :run_id",
    f"""r.root_run_id IN (SELECT p.root_run_id FROM run p WHERE p.run_id = :run_id)
    AND {LEAF_RUN_ID} = :run_id""",  # noqa: S608 - constants only
    "r.run_id = :run_id",
)

Touch = tuple[str, str, str]  # namespace, name, direction


class ComparedRun(msgspec.Struct, frozen=True):
    """Run that is compared; a root run with all its children."""

    run_id: str
    job_namespace: str
    job_name: str
    status: str
    started_at: IsoTime | None
    finished_at: IsoTime | None
    duration_seconds: float | None
    error_message: str | None
    runs: int  # it and its children


class RunSnapshot(msgspec.Struct, frozen=True):
    """Run as it was reported: attributes and settings by name, figures by dataset.

    `schemas` holds (dataset key, schema key), the schema null where the run named none.
    """

    run: ComparedRun
    attributes: dict[str, str | None]
    settings: dict[str, str]
    figures: dict[Touch, dict[str, str | None]]
    schemas: dict[Touch, tuple[int, int | None]]
    partial: bool


def load_run(reader: CatalogReader, run_id: str) -> RunSnapshot:
    """Return the root run of this id, or the run of a leaf job, with all that belongs to it.

    Raises:
        UnknownRunError: none was ever seen.
    """
    values = {"run_id": run_id, "most": MOST_RUNS_OF_ROOT + 1}
    found = (reader.rows(_RUNS.format(which=which), values) for which in _WHICH)
    rows = next((rows for rows in found if rows), [])
    if not rows:
        advice = older_runs_advice(reader, run_id)
        message = f"no event of a run {run_id[:80]!r} has been seen{advice}"
        raise UnknownRunError(message)
    kept = rows[:MOST_RUNS_OF_ROOT]
    reported = _reported(kept)
    attributes = {name: _all(reported[name]) for name in ATTRIBUTES}
    attributes["nominal_start_at"] = iso(max(reported["nominal_start_at"], default=None))
    figures, schemas = _touched(reader, reported["run_key"])
    return RunSnapshot(
        run=_compared(run_id, reported, len(kept)),
        attributes=attributes,
        settings=_settings("spark_conf", reported) | _settings("parameters", reported),
        figures=figures,
        schemas=schemas,
        partial=len(rows) > MOST_RUNS_OF_ROOT,
    )


def _reported(rows: list[Row]) -> dict[str, list[Any]]:
    """Return the reported values by column; null means not reported."""
    columns = {name: [getattr(row, name) for row in rows] for name in _COLUMNS}
    return {
        name: [value for value in column if value is not None] for name, column in columns.items()
    }


def _compared(run_id: str, reported: dict[str, list[Any]], count: int) -> ComparedRun:
    started_at, completed_at = min(reported["started_at"], default=None), reported["completed_at"]
    end = max([*completed_at, *reported["failed_at"]], default=None)
    namespace, name = _job(run_id, reported)
    return ComparedRun(
        run_id=run_id,
        job_namespace=namespace,
        job_name=name,
        status=run_state(
            started_at=started_at,
            completed_at=max(completed_at, default=None),
            failed_at=min(reported["failed_at"], default=None),
        ),
        started_at=iso(started_at),
        finished_at=iso(end),
        duration_seconds=seconds_between(started_at, end),
        error_message=next(iter(reported["error_message"]), None),
        runs=count,
    )


def _job(run_id: str, reported: dict[str, list[Any]]) -> tuple[str, str]:
    """Return the root job of a root run, else the job below it."""
    below = reported["leaf_job_name"] and reported["root_run_id"][0] != run_id
    job = "leaf_job" if below else "root_job"
    return reported[f"{job}_namespace"][0], reported[f"{job}_name"][0]


def _all(values: list[str]) -> str | None:
    return ", ".join(sorted(set(values))) or None


def _settings(kind: str, reported: dict[str, list[Any]]) -> dict[str, str]:
    """Return settings by `kind key`; of children that differ, all values."""
    found: dict[str, set[str]] = {}
    for text in dict.fromkeys(reported[kind]):
        for key, value in settings_of(text).items():
            found.setdefault(f"{kind} {key}", set()).add(value)
    return {key: ", ".join(sorted(values)) for key, values in found.items()}


def _touched(
    reader: CatalogReader, keys: list[int]
) -> tuple[dict[Touch, dict[str, str | None]], dict[Touch, tuple[int, int | None]]]:
    """Return figures and schemas of what the runs touched; of different ones the greatest."""
    figures: dict[Touch, dict[str, Any]] = {}
    schemas: dict[Touch, tuple[int, int | None]] = {}
    for row in rows_for(reader, _IO, keys):
        touch = (row.namespace, row.name, row.direction)
        known = figures.setdefault(touch, dict.fromkeys(FIGURES))
        figures[touch] = {name: _greater(known[name], getattr(row, name)) for name in FIGURES}
        _, schema_key = schemas.get(touch, (row.dataset_key, None))
        schemas[touch] = (row.dataset_key, _greater(schema_key, row.schema_key))
    return {touch: _texts(values) for touch, values in figures.items()}, schemas


def _texts(values: dict[str, Any]) -> dict[str, str | None]:
    return {name: None if value is None else str(value) for name, value in values.items()}


def _greater(one: Any, other: Any) -> Any:  # noqa: ANN401 - numbers or texts
    return max((value for value in (one, other) if value is not None), default=None)

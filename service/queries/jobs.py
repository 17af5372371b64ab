"""Jobs by their own names, each with its newest runs; also jobs that touch no dataset."""

from typing import Any, Final

import msgspec

from lineage.catalog.job_names import NAMESPACE_PART, WITH_JOBS_FROM
from lineage.catalog.reader import CatalogReader
from lineage.catalog.rows import Row
from lineage.catalog.run_ends import error_of, failed_at
from lineage.process.error_lines import ERROR_CHARACTERS, error_line
from lineage.states import run_state
from service.queries.cursors import CursorText, cursor_of, start_key
from service.queries.datasets import escape_like
from service.queries.run_shapes import IsoTime
from service.queries.timestamps import iso, iso_of, seconds_between

MOST_LISTED_JOBS: Final = 200  # names of one page
_RUNS = 5  # shown of each job
_LOOKED_AT = 20  # newest runs of each name, which two namespaces that begin alike may use
_NAMES = f"""
{WITH_JOBS_FROM} SELECT part, name FROM job
WHERE name IS NOT NULL AND (part, name) > (CAST(:part AS TEXT), CAST(:name AS TEXT)) AND {{alike}}
LIMIT :most
"""  # noqa: S608 - SQL of ours
_NEWEST = f"""
SELECT * FROM (
  SELECT job_namespace, job_name, root_job_namespace, root_job_name, job_type, integration,
    run_id, first_event_at, started_at, completed_at, {failed_at("run")} AS failed_at,
    {error_of("run")} AS error
  FROM run WHERE {NAMESPACE_PART} = CAST(:part_{{n}} AS TEXT) || ''
  AND job_name = CAST(:name_{{n}} AS TEXT)
  ORDER BY first_event_at DESC, run_key LIMIT :looked_at) AS newest_{{n}}
"""  # noqa: S608 - SQL of ours


_Name = tuple[str, str]  # the first part of the namespace, and the name


class JobRun(msgspec.Struct, frozen=True):
    """Run of a job; `error` is the first line of what it reported."""

    run_id: str
    status: str
    first_event_at: IsoTime
    started_at: IsoTime | None
    finished_at: IsoTime | None
    duration_seconds: float | None
    error: str | None


class JobRow(msgspec.Struct, frozen=True):
    """Job by its own name, as its events name it.

    Attributes:
        root_job_name: of its newest run's root: the application, DAG or dbt command.
        job_type: as QUERY, TASK or MODEL.
        runs: the newest first.
    """

    job_namespace: str
    job_name: str
    root_job_namespace: str
    root_job_name: str
    job_type: str | None
    integration: str | None
    runs: list[JobRun]


class JobPage(msgspec.Struct, frozen=True):
    """Jobs in the order of their namespaces and names; `next_cursor` leads on."""

    jobs: list[JobRow]
    partial: bool
    partial_reason: str | None
    next_cursor: str | None


def find_jobs(
    reader: CatalogReader,
    *,
    contains: str | None = None,
    limit: int = 100,
    cursor: str | None = None,
) -> JobPage:
    """Return the jobs of at most `limit` names that contain this text.

    Raises:
        InvalidRequestError: the cursor belongs to another question, or to none.
    """
    question = "jobs", contains
    behind = start_key(cursor, question, tuple[CursorText, CursorText]) or ("", "")
    names = _names(reader, contains, behind, limit + 1)
    is_cut = len(names) > limit
    return JobPage(
        _rows(reader, names[:limit]),
        partial=is_cut,
        partial_reason=f"the jobs of {limit:,} names shown; more exist" if is_cut else None,
        next_cursor=cursor_of(question, names[limit - 1]) if is_cut else None,
    )


def _names(reader: CatalogReader, contains: str | None, behind: _Name, most: int) -> list[_Name]:
    alike = "1 = 1" if contains is None else reader.alike("name", ":contains")
    values: dict[str, Any] = {"part": behind[0], "name": behind[1], "most": most}
    if contains is not None:
        values["contains"] = f"%{escape_like(contains)}%"
    return [(part, name) for part, name in reader.rows(_NAMES.format(alike=alike), values)]


def _rows(reader: CatalogReader, names: list[_Name]) -> list[JobRow]:
    """Return the jobs of these names: a name that several namespaces use is several jobs."""
    if not names:
        return []
    sql = " UNION ALL ".join(_NEWEST.format(n=n) for n in range(len(names)))
    values = {f"part_{n}": part for n, (part, _) in enumerate(names)}
    values |= {f"name_{n}": name for n, (_, name) in enumerate(names)}
    found: dict[tuple[str, str], list[Row]] = {}
    for row in reader.rows(sql, values | {"looked_at": _LOOKED_AT}):
        found.setdefault((row.job_namespace, row.job_name), []).append(row)
    return [_job(rows) for _, rows in sorted(found.items())]


def _job(rows: list[Row]) -> JobRow:
    newest_first = sorted(rows, key=lambda row: -row.first_event_at)
    newest = newest_first[0]
    return JobRow(
        job_namespace=newest.job_namespace,
        job_name=newest.job_name,
        root_job_namespace=newest.root_job_namespace,
        root_job_name=newest.root_job_name,
        job_type=newest.job_type,
        integration=newest.integration,
        runs=[_run(row) for row in newest_first[:_RUNS]],
    )


def _run(row: Row) -> JobRun:
    started, completed, failed = row.started_at, row.completed_at, row.failed_at
    finished = max((at for at in (completed, failed) if at is not None), default=None)
    return JobRun(
        run_id=row.run_id,
        status=run_state(started_at=started, completed_at=completed, failed_at=failed),
        first_event_at=iso_of(row.first_event_at),
        started_at=iso(started),
        finished_at=iso(finished),
        duration_seconds=seconds_between(started, finished),
        error=error_line(row.error)[:ERROR_CHARACTERS] or None,
    )

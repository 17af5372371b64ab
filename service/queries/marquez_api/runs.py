"""Runs as Marquez has them: one by its id, and the newest of a job."""

from collections.abc import Iterable
from typing import Final, Literal

import msgspec

from lineage.catalog.job_names import OF_JOB
from lineage.catalog.queries import newest_write, write_bucket
from lineage.catalog.reader import CatalogReader, rows_for
from lineage.catalog.rows import convert_rows
from lineage.catalog.run_ends import failed_at
from service.queries.descriptions import settings_of
from service.queries.marquez_api.ids import unknown_node, version_id
from service.queries.marquez_api.lineage_shapes import marquez_run_state
from service.queries.marquez_api.paging import (
    LIMIT_AND_OFFSET,
    PageRange,
    capped_total,
    count_up_to,
)
from service.queries.marquez_api.shapes import MarquezRun, RunDataset, Runs, VersionId
from service.queries.runs import hidden_of
from service.queries.timestamps import iso, iso_of, milliseconds_between
from service.queries.visibility import UNSEEN, Visibility, sql_filter

MOST_CHECKED: Final = 1_000  # runs, or jobs, that are looked at one by one for a token
MOST_DATASETS: Final = 10_000  # of the runs of one answer
DATASETS_CUT: Final = f"only {MOST_DATASETS:,} datasets of these runs are listed"
_COLUMNS = (
    "run_key, run_id, job_namespace, job_name, root_run_id, root_job_namespace, root_job_name,"
    f" first_event_at, last_event_at, started_at, completed_at,"
    f" {failed_at('run')} AS failed_at, nominal_start_at,"
    " processing_type, code_url, parameters"
)
_NEWEST_FIRST = "ORDER BY first_event_at DESC, run_key DESC"
_RUNS = f"SELECT {_COLUMNS} FROM run"  # noqa: S608 - columns
_BY_ID = f"{_RUNS} WHERE run_id = :run_id {_NEWEST_FIRST}"
_BY_KEYS = f"{_RUNS} WHERE run_key IN (:keys)"
OF_JOB_PAGE = f"{_RUNS} WHERE {OF_JOB} {_NEWEST_FIRST} {LIMIT_AND_OFFSET}"
_TIMES_OF_JOB = f"SELECT first_event_at FROM run WHERE {OF_JOB}"  # noqa: S608 - SQL of ours
_FIRST_OF_JOB = f"{_TIMES_OF_JOB} ORDER BY first_event_at LIMIT 1"
# A write makes a version. What a run read is the version that was the newest when the run ended.
_WRITTEN_BEFORE = "w.dataset_key = c.dataset_key AND w.written_at <= r.last_event_at"
# Of a root run that writes for hours, the write of the hour in which the run completed.
_WRITTEN = f"""
SELECT w.written_at FROM dataset_write w
WHERE w.dataset_key = c.dataset_key AND w.root_run_id = r.root_run_id
  AND w.bucket <= {write_bucket("coalesce(r.completed_at, r.last_event_at)")}
ORDER BY w.bucket DESC LIMIT 1
"""  # noqa: S608 - our own columns
_DATASETS = f"""
SELECT DISTINCT io.run_key, io.direction, c.namespace, c.name,
  CASE io.direction WHEN 'write' THEN ({_WRITTEN})
    ELSE ({newest_write("written_at", _WRITTEN_BEFORE)}) END
    AS written_at,
  CASE io.direction WHEN 'write' THEN r.root_run_id
    ELSE ({newest_write("root_run_id", _WRITTEN_BEFORE)}) END AS root_run_id
FROM run_io io JOIN run r ON r.run_key = io.run_key JOIN dataset d ON d.dataset_key = io.dataset_key
JOIN dataset c ON c.dataset_key = d.canonical_key
WHERE io.run_key IN (:keys) AND {{seen}}
ORDER BY io.run_key, io.direction, c.namespace, c.name LIMIT {MOST_DATASETS + 1}
"""  # noqa: S608 - SQL of ours
_SEEN = """
SELECT DISTINCT io.run_key FROM run_io io JOIN dataset d ON d.dataset_key = io.dataset_key
WHERE io.run_key IN (:keys) AND {seen}
"""


class RunRow(msgspec.Struct, frozen=True):
    """Run as the catalog has it."""

    run_key: int
    run_id: str
    job_namespace: str
    job_name: str
    root_run_id: str
    root_job_namespace: str
    root_job_name: str
    first_event_at: int
    last_event_at: int
    started_at: int | None
    completed_at: int | None
    failed_at: int | None
    nominal_start_at: int | None
    processing_type: str | None
    code_url: str | None
    parameters: str | None

    @property
    def ended_at(self) -> int | None:
        """Return when the run completed or failed, whichever came last."""
        return max(
            (at for at in (self.completed_at, self.failed_at) if at is not None), default=None
        )


_RunDatasets = dict[tuple[int, Literal["read", "write"]], list[RunDataset]]


def shown_keys(reader: CatalogReader, keys: list[int], visibility: Visibility) -> set[int]:
    """Return the runs that a token may see: those that touched what it may see, and nothing else.

    Jobs are named after what they write: the name of any other run may name a hidden dataset.
    """
    if visibility.is_whole:
        return set(keys)
    condition, names = sql_filter(reader, visibility)
    touched = {key for (key,) in rows_for(reader, _SEEN.format(seen=condition), keys, names)}
    return touched - hidden_of(reader, keys, visibility).keys()


def newest_rows(reader: CatalogReader, namespace: str, name: str, page: PageRange) -> list[RunRow]:
    """Return the newest runs of a job, seen or not, by the time of their first event."""
    rows = reader.rows(OF_JOB_PAGE, _job(namespace, name) | page.values)
    return convert_rows(RunRow, rows)


def first_event_of(reader: CatalogReader, namespace: str, name: str) -> int:
    """Return when the first run of a job that has runs began."""
    first: int = reader.rows(_FIRST_OF_JOB, _job(namespace, name))[0][0]
    return first


def find_run(reader: CatalogReader, run_id: str, visibility: Visibility) -> RunRow:
    """Return the run of this id; of several jobs with a run of this id, that of the newest.

    Raises:
        UnknownNodeError: there is none that the token may see.
    """
    rows = convert_rows(RunRow, reader.rows(_BY_ID, {"run_id": run_id}))
    shown = shown_keys(reader, [row.run_key for row in rows], visibility)
    for row in rows:
        if row.run_key in shown:
            return row
    raise unknown_node("run", run_id)


def run_of_id(reader: CatalogReader, run_id: str, visibility: Visibility) -> MarquezRun:
    """Return a run.

    Raises:
        UnknownNodeError: there is none that the token may see.
    """
    found, _ = to_runs(reader, [find_run(reader, run_id, visibility)], visibility)
    return found[0]


def runs_of_keys(
    reader: CatalogReader, keys: Iterable[int], visibility: Visibility
) -> tuple[dict[int, MarquezRun], str | None]:
    """Return those of these runs that the token may see, by key, and the reason if it is cut."""
    wanted = sorted(set(keys))
    shown = shown_keys(reader, wanted, visibility)
    rows = convert_rows(RunRow, rows_for(reader, _BY_KEYS, shown))
    runs, reason = to_runs(reader, rows, visibility)
    return {row.run_key: run for row, run in zip(rows, runs, strict=True)}, reason


def runs_page(
    reader: CatalogReader, namespace: str, name: str, page: PageRange, visibility: Visibility
) -> Runs:
    """Return a page of a job's runs, newest first."""
    if visibility.is_whole:
        rows = newest_rows(reader, namespace, name, page)
        found = reader.rows(count_up_to(_TIMES_OF_JOB), _job(namespace, name))[0][0]
        total, reason = capped_total(found, "runs")
    else:
        every = newest_rows(reader, namespace, name, PageRange(MOST_CHECKED + 1, 0))
        shown = shown_keys(reader, [row.run_key for row in every[:MOST_CHECKED]], visibility)
        visible = [row for row in every if row.run_key in shown]
        rows, total = page.cut(visible), len(visible)
        reason = UNSEEN  # whether something is hidden is not to be known
    runs, cut = to_runs(reader, rows, visibility)
    reason = reason or cut
    return Runs(runs=runs, total_count=total, partial=reason is not None, partial_reason=reason)


def to_runs(
    reader: CatalogReader, rows: list[RunRow], visibility: Visibility
) -> tuple[list[MarquezRun], str | None]:
    """Return these runs with their datasets, and the reason if those are cut."""
    condition, names = sql_filter(reader, visibility)
    keys = [row.run_key for row in rows]
    found = rows_for(reader, _DATASETS.format(seen=condition), keys, names)
    datasets: _RunDatasets = {}
    for row in found[:MOST_DATASETS]:
        version = None if row.written_at is None else version_id(row.written_at, row.root_run_id)
        named = RunDataset(VersionId(row.namespace, row.name, version, row.namespace))
        datasets.setdefault((row.run_key, row.direction), []).append(named)
    reason = DATASETS_CUT if len(found) > MOST_DATASETS else None
    return [_run(one, datasets, is_whole=visibility.is_whole) for one in rows], reason


def _run(row: RunRow, datasets: _RunDatasets, *, is_whole: bool) -> MarquezRun:
    return MarquezRun(
        id=row.run_id,
        created_at=iso_of(row.first_event_at),
        updated_at=iso_of(row.last_event_at),
        nominal_start_time=iso(row.nominal_start_at),
        state=marquez_run_state(row.started_at, row.completed_at, row.failed_at),
        started_at=iso(row.started_at),
        ended_at=iso(row.ended_at),
        duration_ms=milliseconds_between(row.started_at, row.ended_at),
        # Values that may name what the token may not see.
        args=settings_of(row.parameters) if is_whole else {},
        input_dataset_versions=datasets.get((row.run_key, "read"), []),
        output_dataset_versions=datasets.get((row.run_key, "write"), []),
    )


def _job(namespace: str, name: str) -> dict[str, str]:
    return {"job_namespace": namespace, "job_name": name}

"""List of jobs, by the names in their events, that a token may see."""

from collections.abc import Iterable
from typing import Final

import msgspec

from lineage.catalog.job_names import NAMESPACE_PART, WITH_EVERY_JOB, WITH_JOBS_OF_NAMESPACE
from lineage.catalog.reader import CatalogReader
from lineage.catalog.rows import convert_rows
from lineage.catalog.run_ends import failed_at
from lineage.names.names import Name
from service.queries.marquez_api.lineage_shapes import RunState, marquez_run_state
from service.queries.marquez_api.paging import PageRange
from service.queries.marquez_api.runs import MOST_CHECKED, RunRow, newest_rows, shown_keys
from service.queries.runs import hidden_of
from service.queries.visibility import UNSEEN, Visibility

MOST_JOBS: Final = 10_000
NEWEST_RUNS: Final = PageRange(10, 0)  # runs that a job shows, as in Marquez
_JOBS_CUT: Final = f"only the first {MOST_JOBS:,} jobs by namespace and name are looked at"
_RUNS_OF_JOB = f"FROM run WHERE {NAMESPACE_PART} = j.part AND job_name = j.name"
_LISTED = f"""
SELECT r.job_namespace AS namespace, r.job_name AS name, listed.first_event_at, r.last_event_at,
  r.started_at, r.completed_at, {failed_at()} AS failed_at
FROM (
  SELECT (SELECT run_key {_RUNS_OF_JOB} ORDER BY first_event_at DESC LIMIT 1) AS newest,
    (SELECT first_event_at {_RUNS_OF_JOB} ORDER BY first_event_at LIMIT 1) AS first_event_at
  FROM job j WHERE j.name <> '' LIMIT {MOST_JOBS + 1}
) AS listed JOIN run r ON r.run_key = listed.newest
"""  # noqa: S608 - SQL of ours
EVERY = WITH_EVERY_JOB + _LISTED
OF_NAMESPACE = f"{WITH_JOBS_OF_NAMESPACE}{_LISTED} WHERE r.job_namespace = :job_namespace"


class ListedJob(msgspec.Struct, frozen=True):
    """Job: when its first run began, and how its newest run is."""

    namespace: str
    name: str
    first_event_at: int
    last_event_at: int
    started_at: int | None
    completed_at: int | None
    failed_at: int | None

    @property
    def id(self) -> Name:
        """Return namespace and name."""
        return self.namespace, self.name

    @property
    def state(self) -> RunState:
        """Return the state of the newest run."""
        return marquez_run_state(self.started_at, self.completed_at, self.failed_at)


class JobList(msgspec.Struct, frozen=True):
    """Jobs, the one with the newest event first, and the reason if the list is cut."""

    jobs: list[ListedJob]
    reason: str | None


def list_jobs(
    reader: CatalogReader,
    visibility: Visibility,
    namespace: str | None = None,
    states: Iterable[RunState] = (),
) -> JobList:
    """Return the jobs that a token may see: of a namespace, or of all.

    Args:
        reader: of the catalog.
        visibility: of the one who asks.
        namespace: exactly as events have it.
        states: of the newest run; any if there are none.
    """
    sql = EVERY if namespace is None else OF_NAMESPACE
    values = {} if namespace is None else {"job_namespace": namespace}
    rows = convert_rows(ListedJob, reader.rows(sql, values))
    reason = _JOBS_CUT if len(rows) > MOST_JOBS else None
    wanted = frozenset(states)
    jobs = [row for row in rows[:MOST_JOBS] if not wanted or row.state in wanted]
    jobs.sort(key=lambda job: (-job.last_event_at, job.namespace, job.name))
    if visibility.is_whole:
        return JobList(jobs, reason)
    return _keep_visible(reader, jobs, visibility)


def visible_jobs(
    reader: CatalogReader, newest: dict[Name, list[RunRow]], visibility: Visibility
) -> set[Name]:
    """Return the jobs that a token may see, given the newest runs of each.

    One of these runs touched what the token may see, and none touched anything else.
    """
    if visibility.is_whole:
        return set(newest)
    keys = [row.run_key for rows in newest.values() for row in rows]
    shown, hidden = shown_keys(reader, keys, visibility), hidden_of(reader, keys, visibility).keys()
    runs = {job: {row.run_key for row in rows} for job, rows in newest.items()}
    return {job for job, of_job in runs.items() if of_job & shown and not of_job & hidden}


def _keep_visible(reader: CatalogReader, jobs: list[ListedJob], visibility: Visibility) -> JobList:
    checked = jobs[:MOST_CHECKED]
    newest = {job.id: newest_rows(reader, job.namespace, job.name, NEWEST_RUNS) for job in checked}
    visible = visible_jobs(reader, newest, visibility)
    # One reason for every such token: how many jobs are hidden is not to be known.
    return JobList([job for job in checked if job.id in visible], UNSEEN)

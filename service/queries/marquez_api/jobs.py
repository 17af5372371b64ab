"""Jobs as Marquez has them: by their own names in events, with their newest runs."""

from collections.abc import Iterable

from lineage.catalog.reader import CatalogReader
from lineage.names.names import Name
from service.queries.descriptions import NO_DESCRIPTIONS, ProducerDescriptions, describe_jobs
from service.queries.marquez_api.ids import job_id, unknown_node
from service.queries.marquez_api.job_list import NEWEST_RUNS, list_jobs, visible_jobs
from service.queries.marquez_api.lineage_shapes import RunState
from service.queries.marquez_api.paging import PageRange
from service.queries.marquez_api.runs import (
    RunRow,
    first_event_of,
    newest_rows,
    runs_of_keys,
    runs_page,
)
from service.queries.marquez_api.shapes import (
    DatasetId,
    JobId,
    Jobs,
    MarquezJob,
    MarquezJobType,
    MarquezRun,
    RunDataset,
    Runs,
)
from service.queries.timestamps import iso_of
from service.queries.visibility import Visibility


def jobs_page(
    reader: CatalogReader,
    visibility: Visibility,
    page: PageRange,
    namespace: str | None = None,
    states: Iterable[RunState] = (),
) -> Jobs:
    """Return a page of the jobs of a namespace, or of all; the newest event first."""
    listed = list_jobs(reader, visibility, namespace, states)
    rows = page.cut(listed.jobs)
    newest = {row.id: newest_rows(reader, row.namespace, row.name, NEWEST_RUNS) for row in rows}
    keys = [run.run_key for runs in newest.values() for run in runs]
    runs, cut = runs_of_keys(reader, keys, visibility)
    reason = listed.reason or cut
    described = describe_jobs(reader, [(row.namespace, row.name) for row in rows], visibility)
    return Jobs(
        jobs=[
            _job(
                row.first_event_at,
                newest[row.id],
                runs,
                described.get((row.namespace, row.name), NO_DESCRIPTIONS),
                is_whole=visibility.is_whole,
            )
            for row in rows
        ],
        total_count=len(listed.jobs),
        partial=reason is not None,
        partial_reason=reason,
    )


def job_of_name(
    reader: CatalogReader, visibility: Visibility, namespace: str, name: str
) -> MarquezJob:
    """Return a job.

    Raises:
        UnknownNodeError: there is none that the token may see.
    """
    newest = _newest_of_visible(reader, visibility, namespace, name)
    runs, _ = runs_of_keys(reader, [row.run_key for row in newest], visibility)
    first = first_event_of(reader, namespace, name)
    described = describe_jobs(reader, [(namespace, name)], visibility)
    known = described.get((namespace, name), NO_DESCRIPTIONS)
    return _job(first, newest, runs, known, is_whole=visibility.is_whole)


def job_runs(reader: CatalogReader, visibility: Visibility, job: Name, page: PageRange) -> Runs:
    """Return a page of a job's runs.

    Raises:
        UnknownNodeError: there is no such job that the token may see.
    """
    _newest_of_visible(reader, visibility, *job)
    return runs_page(reader, *job, page, visibility)


def type_of(processing_type: str | None) -> MarquezJobType:
    """Return the type of a job by what its run says of itself."""
    return "STREAM" if processing_type == "STREAMING" else "BATCH"


def _newest_of_visible(
    reader: CatalogReader, visibility: Visibility, namespace: str, name: str
) -> list[RunRow]:
    newest = newest_rows(reader, namespace, name, NEWEST_RUNS)
    if not newest or not visible_jobs(reader, {(namespace, name): newest}, visibility):
        raise unknown_node("job", name)
    return newest


def _job(
    first_event_at: int,
    newest: list[RunRow],
    runs: dict[int, MarquezRun],
    described: ProducerDescriptions,
    *,
    is_whole: bool,
) -> MarquezJob:
    row = newest[0]
    latest = [runs[one.run_key] for one in newest if one.run_key in runs]
    root = (row.root_job_namespace, row.root_job_name)
    # The root may have touched what is hidden from the token, and be named after it.
    has_parent = is_whole and root != (row.job_namespace, row.job_name)
    # A run that has just begun may name no datasets yet.
    touched = next((run for run in latest if _datasets(run)), None)
    return MarquezJob(
        id=JobId(row.job_namespace, row.job_name),
        type=type_of(row.processing_type),
        name=row.job_name,
        simple_name=row.job_name,
        parent_job_name=row.root_job_name if has_parent else None,
        parent_job_uuid=job_id(*root) if has_parent else None,
        created_at=iso_of(first_event_at),
        updated_at=iso_of(row.last_event_at),
        namespace=row.job_namespace,
        inputs=_ids(touched.input_dataset_versions if touched else []),
        outputs=_ids(touched.output_dataset_versions if touched else []),
        location=row.code_url,
        description=described.description,
        tags=described.tags,
        latest_run=latest[0] if latest else None,
        latest_runs=latest,
    )


def _datasets(run: MarquezRun) -> list[RunDataset]:
    return [*run.input_dataset_versions, *run.output_dataset_versions]


def _ids(datasets: list[RunDataset]) -> list[DatasetId]:
    versions = [one.dataset_version_id for one in datasets]
    return [DatasetId(one.namespace, one.name, one.namespace) for one in versions]

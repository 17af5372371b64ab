"""Run and job of an event, as its facets report them."""

import re
from typing import Final, NamedTuple

import msgspec
from msgspec import Raw

from lineage.names.keys import hash_parts, shorten_or_none
from lineage.names.run_ids import day_of
from lineage.redaction import READ_CHARACTERS
from slis.stream.reading.event_times import parse_time
from slis.stream.reading.jobs import RunJobs
from slis.stream.reading.lenient import read_lenient, text_of
from slis.stream.reading.openlineage import (
    JSON_NULL,
    Documentation,
    Engine,
    Environment,
    ErrorMessage,
    Event,
    FullJob,
    Job,
    JobFacets,
    JobType,
    Parameters,
    Run,
    RunFacets,
    SourceCode,
    SparkApplicationDetails,
    SparkProperties,
)

_WHOLE_NUMBER: Final = re.compile(r"\s*[+-]?\d{1,10}\s*", re.ASCII)
_LARGEST_INT: Final = (1 << 31) - 1
_NO_JOB, _NO_JOB_FACETS, _NO_TYPE, _NO_ENGINE = FullJob(), JobFacets(), JobType(), Engine()
_NO_CODE, _NO_MESSAGE, _NO_APPLICATION = SourceCode(), ErrorMessage(), SparkApplicationDetails()
_NO_RUN, _NO_PROPERTIES, _NO_ENVIRONMENT = Run(), SparkProperties(), Environment()
_NO_PARAMETERS, _NO_DOCUMENTATION = Parameters(), Documentation()
ReportedTags = tuple[str | None, str | None]  # of the run and of the job, raw JSON


def upper(text: str | None) -> str | None:
    """Return the text in capital letters."""
    return None if text is None else text.upper()


def read_start(text: str | None) -> str | None:
    """Return as much of a long text as is read; None of None."""
    return None if text is None else text[:READ_CHARACTERS]


class ReportedRun(NamedTuple):
    """Run as an event reports it: a run whose events differ is reported in several ways."""

    run_key: int
    day: int
    run_id: str | None
    job_namespace: str | None
    job_name: str | None
    jobs: RunJobs
    nominal_start_at: int | None
    job_type: str | None
    processing_type: str | None
    integration: str | None
    engine: str | None
    engine_version: str | None
    adapter_version: str | None
    producer: str | None
    application_id: str | None
    error_message: str | None
    code_version: str | None
    code_url: str | None
    code_path: str | None
    code_tag: str | None
    code_branch: str | None
    job_tags: str | None
    run_tags: str | None
    spark_properties: str | None
    environment_properties: str | None
    execution_parameters: str | None


class ReportedJob(NamedTuple):
    """Job as an event reports it: raw JSON, but for the description."""

    ownership: str | None
    tags: str | None
    description: str | None
    lineage: str | None
    sql: str | None


def read_run(  # noqa: PLR0913, PLR0917 - what the event was read into
    event: Event,
    facets: RunFacets,
    own: Job,
    jobs: RunJobs,
    integration: str | None,
    tags: ReportedTags,
) -> ReportedRun:
    """Return the run as its event reports it.

    Args:
        event: of the run.
        facets: of the run.
        own: the job, by its own name.
        jobs: of the run.
        integration: of the job.
        tags: of the run and of the job.
    """
    run, job = event.run or _NO_RUN, event.job or _NO_JOB
    job_facets = job.facets or _NO_JOB_FACETS
    types = job_facets.job_type or _NO_TYPE
    engine = facets.processing_engine or _NO_ENGINE
    code = job_facets.source_code or _NO_CODE
    nominal = facets.nominal_time
    return ReportedRun(
        # A run id that two jobs use gives two runs: they are never merged.
        run_key=hash_parts((run.run_id, job.namespace, own.name)),
        day=day_of(run.run_id),
        run_id=shorten_or_none(run.run_id),
        job_namespace=job.namespace,
        job_name=job.name,
        jobs=jobs,
        nominal_start_at=parse_time(nominal.nominal_start_time) if nominal else None,
        job_type=upper(types.job_type),
        processing_type=upper(types.processing_type),
        integration=integration,
        engine=engine.name,
        engine_version=engine.version,
        adapter_version=shorten_or_none(engine.adapter_version),
        producer=shorten_or_none(event.producer),
        application_id=shorten_or_none((facets.application or _NO_APPLICATION).application_id),
        error_message=_error_message(facets),
        code_version=code.version,
        code_url=code.repo_url if code.url is None else code.url,
        code_path=code.path,
        code_tag=code.tag,
        code_branch=code.branch,
        job_tags=tags[1],
        run_tags=tags[0],
        spark_properties=text_of((facets.spark_properties or _NO_PROPERTIES).properties),
        environment_properties=text_of((facets.environment or _NO_ENVIRONMENT).properties),
        execution_parameters=text_of((facets.execution_parameters or _NO_PARAMETERS).parameters),
    )


def _error_message(facets: RunFacets) -> str | None:
    reported = (facets.error_message or _NO_MESSAGE).message
    message = reported if reported is not None else (facets.exception or _NO_MESSAGE).message
    return read_start(message)


def read_job(facets: JobFacets, tags: str | None) -> ReportedJob:
    """Return the job as its event reports it, with the tags of the job."""
    description = (facets.documentation or _NO_DOCUMENTATION).description
    return ReportedJob(
        ownership=text_of(facets.ownership),
        tags=tags,
        description=read_start(description),
        lineage=text_of(facets.lineage),
        sql=text_of(facets.sql),
    )


class _Task(msgspec.Struct, frozen=True):
    retries: Raw = JSON_NULL


class _TaskInstance(msgspec.Struct, frozen=True):
    try_number: Raw = JSON_NULL


class _Airflow(msgspec.Struct, frozen=True):
    task: _Task | None = None
    task_instance: _TaskInstance | None = msgspec.field(name="taskInstance", default=None)


def retries_left(airflow: Raw) -> int | None:
    """Return how many more tries Airflow announces: it numbers tries from 1."""
    text = text_of(airflow)
    found, _ = read_lenient(text.encode(), _Airflow) if text else (None, False)
    if found is None or found.task is None or found.task_instance is None:
        return None
    retries, number = _int(found.task.retries), _int(found.task_instance.try_number)
    return None if retries is None or number is None else max(0, retries + 1 - number)


def _int(raw: Raw) -> int | None:
    text = text_of(raw)
    if text is None or not _WHOLE_NUMBER.fullmatch(text):
        return None
    return number if abs(number := int(text)) <= _LARGEST_INT else None

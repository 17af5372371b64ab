"""OpenLineage event: what the pipeline knows of it, from its raw JSON."""

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from lineage import origins
from lineage.names.keys import hash_parts
from slis.stream.reading.event_times import parse_time
from slis.stream.reading.jobs import RunJobs, jobs_of, own_name
from slis.stream.reading.lenient import read_lenient, text_of
from slis.stream.reading.openlineage import (
    Dataset,
    Engine,
    Event,
    FullJob,
    Job,
    JobFacets,
    JobType,
    RunFacets,
    SparkJob,
    TagList,
)
from slis.stream.reading.problems import find_problem
from slis.stream.reading.reported import (
    ReportedJob,
    ReportedRun,
    ReportedTags,
    read_job,
    read_run,
    retries_left,
    upper,
)

SKEW_TOLERANCE: Final = 5 * 60_000_000  # microseconds
_SOURCE_OF_MODEL_TAGS: Final = '"DBT'  # DBT: tags of the model; DBT_META: its meta entries
_OF_ENGINES: Final = ("SPARK", "FLINK")
_OF_PRODUCER: Final = re.compile(r"/integration/([a-z]+)")
# A NUL, which no database takes in a text; not the six characters behind an escaped backslash.
_NUL: Final = re.compile(rb"(?<!\\)((?:\\\\)*)\\u0000")


class ReadEvent(msgspec.Struct, frozen=True, gc=False):
    """Event of the log. Times are microseconds since 1970.

    Attributes:
        seq: its number in the log.
        kind: run, job or dataset.
        event_time: None where it cannot be read; never later than the event was received.
        is_skewed: it gives a later one, by a clock that is ahead.
        event_type: START, RUNNING, COMPLETE, FAIL, ABORT or OTHER.
        event_key: its identity, which does not depend on how its JSON is written.
        problem: why it, or a part of it, could not be read; None where all could be.
        detail: what is wrong, and where in the event.
        run: None of another kind.
        is_connector: its sender (neither Spark nor Flink) may send nothing but RUNNING.
        model_tags: list of lists of tags that dbt gives to a model's run or job, raw JSON.
        inputs: number of the first datasets, which are read.
        outputs: number of the datasets behind them, which are written.
        datasets: with the dataset of a DatasetEvent at the end.
    """

    seq: int
    kind: str
    event_time: int | None
    is_skewed: bool
    event_type: str | None
    event_key: int
    problem: str | None
    detail: str | None
    is_streaming: bool
    is_history: bool
    run: ReportedRun | None
    jobs: RunJobs
    job_namespace: str | None
    job_name: str | None
    integration: str | None
    spark_job_id: int | None
    retries_left: int | None
    has_checkpoint: bool
    is_connector: bool
    job: ReportedJob
    model_tags: str | None
    inputs: int
    outputs: int
    datasets: list[Dataset | None]


def read_event(seq: int, received_at: int, origin: str, kind: str, body: bytes) -> ReadEvent:
    """Read an event of the log.

    An event whose core cannot be read has a `problem`; one whose facets have unexpected types has
    a `problem` too, and all that could be read.

    Args:
        seq: its number in the log.
        received_at: microseconds since 1970.
        origin: one of `lineage.origins`.
        kind: run, job or dataset.
        body: JSON, as received.
    """
    given, is_whole = read_lenient(_without_nul(body), Event)
    event = given or Event()
    reported = parse_time(event.event_time)
    problem, detail = find_problem(event, kind, reported, is_whole=is_whole)
    is_skewed = reported is not None and reported > received_at + SKEW_TOLERANCE
    job = event.job or _NO_JOB
    job_facets = job.facets or _NO_JOB_FACETS
    facets = (event.run.facets if event.run else None) or _NO_RUN_FACETS
    types = job_facets.job_type or _NO_TYPE
    job_type = upper(types.job_type)
    integration = _integration(event, facets, types)
    own = Job(job.namespace, own_name(job, integration, job_type))
    jobs = jobs_of(event, own, integration, job_type)
    inputs, outputs = event.inputs or [], event.outputs or []
    tags = text_of((facets.tags or _NO_TAGS).tags), text_of((job_facets.tags or _NO_TAGS).tags)
    return ReadEvent(
        seq=seq,
        kind=kind,
        # A clock ahead of ours must never make a dataset fresh, nor a lag negative.
        event_time=received_at if is_skewed else reported,
        is_skewed=is_skewed,
        event_type=upper(event.event_type),
        event_key=_event_key(event, reported),
        problem=problem,
        detail=detail,
        is_streaming=upper(types.processing_type) == "STREAMING",
        is_history=origin in origins.OF_HISTORY,
        run=read_run(event, facets, own, jobs, integration, tags) if kind == "run" else None,
        jobs=jobs,
        job_namespace=job.namespace,
        job_name=job.name,
        integration=integration,
        spark_job_id=(facets.spark_job or _NO_SPARK_JOB).job_id,
        retries_left=retries_left(facets.airflow),
        has_checkpoint=text_of(facets.checkpoints) is not None,
        is_connector=integration not in _OF_ENGINES,
        job=read_job(job_facets, tags[1]),
        model_tags=_model_tags(tags),
        inputs=len(inputs),
        outputs=len(outputs),
        datasets=[*inputs, *outputs, *([event.dataset] if event.dataset else ())],
    )


_NO_JOB, _NO_JOB_FACETS, _NO_RUN_FACETS, _NO_TYPE = FullJob(), JobFacets(), RunFacets(), JobType()
_NO_TAGS, _NO_SPARK_JOB, _NO_ENGINE, _NO_DATASET = TagList(), SparkJob(), Engine(), Dataset()


def _without_nul(body: bytes) -> bytes:
    if b"\\u0000" not in body:
        return body
    return _NUL.sub(rb"\1\\ufffd", body)


def _integration(event: Event, facets: RunFacets, types: JobType) -> str | None:
    engine = (facets.processing_engine or _NO_ENGINE).name
    named = types.integration if types.integration is not None else engine
    if named is None:
        # Listeners older than the jobType facet say it in the producer's URL alone.
        found = _OF_PRODUCER.search(event.producer or "")
        named = found[1] if found else None
    return upper(named)


def _event_key(event: Event, reported: int | None) -> int:
    job, dataset = event.job or _NO_JOB, event.dataset or _NO_DATASET
    run_id = event.run.run_id if event.run else None
    parts: list[str | int | None] = [
        *(run_id, upper(event.event_type), reported),
        *(job.namespace, job.name, dataset.namespace, dataset.name),
    ]
    for side in (event.inputs, event.outputs):
        for name in _names(side or ()):
            parts += name
    return hash_parts(parts)


def _names(datasets: Sequence[Dataset | None]) -> list[tuple[str | None, str | None]]:
    """Return the names in an order that does not depend on that of the event."""
    names = [(one.namespace, one.name) if one else (None, None) for one in datasets]
    if len(names) > 1:
        names.sort(key=lambda name: [(part is not None, part or "") for part in name])
    return names


def _model_tags(tags: ReportedTags) -> str | None:
    """Return the lists of tags that dbt gives to a model's run or job; most events have none."""
    of_dbt = [one for one in tags if one is not None and _SOURCE_OF_MODEL_TAGS in one]
    return f"[{','.join(of_dbt)}]" if of_dbt else None

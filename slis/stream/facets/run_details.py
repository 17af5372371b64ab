"""Code and settings of a run, stored where they are known to hold no secret.

Producers send whole configurations. What is kept is what a list names, cut to a bound: a value that
is not kept cannot leak. This runs in the driver, once for each distinct text of a batch.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any

import msgspec

from lineage.names.run_ids import day_of
from lineage.redaction import redact, redact_message
from slis.stream.facets.descriptions import stored_tags
from slis.stream.facts.runs import RunTimes
from slis.stream.reading.jobs import RunJobs
from slis.stream.reading.reported import ReportedRun

_Pairs = Iterable[tuple[Any, Any]]
_Row = tuple[Any, ...]

_SPARK_KEY = re.compile(
    r"""spark\.(
    app\.name | master | submit\.deployMode | default\.parallelism | scheduler\.mode
    | driver\.(memory|cores) | executor\.(instances|cores|memory|memoryOverhead)
    | dynamicAllocation\.(enabled|minExecutors|maxExecutors)
    | kubernetes\.(container\.image|namespace) | yarn\.queue
    | sql\.(shuffle\.partitions|adaptive\.enabled|ansi\.enabled|caseSensitive|session\.timeZone
        |sources\.partitionOverwriteMode|autoBroadcastJoinThreshold|catalogImplementation
        |storeAssignmentPolicy|legacy\.timeParserPolicy|files\.maxPartitionBytes
        |parquet\.mergeSchema)
    | databricks\.clusterUsageTags\.(clusterName|sparkVersion) | databricks\.job\.(id|runId)
    )""",
    re.VERBOSE,
)
# The last word of a parameter's key says what it is: days, ranges, modes and places are kept.
_PARAMETER_WORD = re.compile(
    r"""date|day|hour|week|month|year|ds|ts|timezone|interval
    |from|to|start|end|since|until|partition|window|batch|limit
    |env|environment|mode|region|country|market|version|backfill|dry_run|full_refresh""",
    re.VERBOSE,
)
_DATABRICKS = {"jobId": "job.id", "runId": "job.runId"}
_WORDS = re.compile(r"[.\-\s]|(?<=[a-z])(?=[A-Z])")
_USER_INFO = re.compile(r"(?<=//)[^/@\s]*@")
_VERSION_TAGS = ("job_version", "version")
_CODE_TAGS = ("code_version", "git_sha", "git_commit", "commit")
_LONGEST_VALUE = 200
_LONGEST_URL = 1_000
_LONGEST_TEXT = 4_096
_CACHED_TEXTS = 4_096


COLUMNS = (
    *("run_key", "day", "run_id", "job_namespace", "job_name"),
    *RunJobs._fields,
    *("nominal_start_at", "job_type", "processing_type", "integration", "engine"),
    *("engine_version", "adapter_version", "producer", "application_id", "error_message"),
    *("code_version", "code_url", "code_path", "code_tag", "code_branch"),
    *("job_version", "spark_conf", "parameters", "tags"),
    *RunTimes.__struct_fields__,
    "root_day",
)


def run_row(run: ReportedRun, times: RunTimes) -> _Row:
    """Return a row of `s_run` in the order of `COLUMNS`: raw JSON read, cut and redacted."""
    return (
        *(run.run_key, run.day, run.run_id, run.job_namespace, run.job_name),
        *run.jobs,
        *(
            run.nominal_start_at,
            run.job_type,
            run.processing_type,
            run.integration,
        ),
        *(run.engine, run.engine_version, run.adapter_version, run.producer),
        *(run.application_id, _read(run.error_message, redact_message)),
        _read(run.code_version, _cut) or _read(run.job_tags, code_version_of),
        _read(run.code_url, _cut_url),
        *(_read(text, _cut) for text in (run.code_path, run.code_tag, run.code_branch)),
        _read(run.job_tags, job_version_of),
        _read(run.spark_properties, spark_conf_of),
        parameters_of(run.execution_parameters, run.environment_properties),
        _read(run.run_tags, stored_tags),
        *msgspec.structs.astuple(times)[:-1],
        int(times.is_history),
        day_of(run.jobs.root_run_id),
    )


def _read(text: str | None, read: Callable[[str], str | None]) -> str | None:
    return None if text is None else read(text)


def _cut(text: str) -> str | None:
    return redact(text.strip())[:_LONGEST_VALUE] or None


def _cut_url(text: str) -> str | None:
    return redact(_USER_INFO.sub("", text.strip()))[:_LONGEST_URL] or None


@lru_cache(_CACHED_TEXTS)
def code_version_of(tags: str) -> str | None:
    """Return the version of the code that a job's tags (raw JSON of the list) name."""
    return _tagged(tags, _CODE_TAGS)


@lru_cache(_CACHED_TEXTS)
def job_version_of(tags: str) -> str | None:
    """Return the job's own version, by its tags."""
    return _tagged(tags, _VERSION_TAGS)


def _tagged(tags: str, keys: tuple[str, ...]) -> str | None:
    found = {str(key).lower(): value for key, value in _listed(tags, "key")}
    return next((_shown(found[key]) for key in keys if found.get(key)), None)


@lru_cache(_CACHED_TEXTS)
def spark_conf_of(properties: str) -> str | None:
    """Return those of Spark's properties (a JSON object) that say how a run was run."""
    return _kept((key, value) for key, value in _pairs(properties) if _SPARK_KEY.fullmatch(key))


@lru_cache(_CACHED_TEXTS)
def parameters_of(parameters: str | None, environment: str | None) -> str | None:
    """Return the run's own parameters, and the ids that Databricks gives a job and its run.

    Args:
        parameters: list of the `executionParameters` facet, raw JSON.
        environment: object of the `environment-properties` facet, raw JSON.
    """
    own = [pair for pair in _listed(parameters or "[]", "key", "name") if _is_harmless(pair[0])]
    values = dict(_pairs(environment or "{}"))
    ids = [(name, values[key]) for key, name in _DATABRICKS.items() if key in values]
    return _kept([*ids, *own])


def _is_harmless(key: object) -> bool:
    """Return whether the key's last word, or its last two joined by `_`, is on the list."""
    words = [word.lower() for part in _WORDS.split(str(key)) for word in part.split("_")]
    return any(_PARAMETER_WORD.fullmatch(word) for word in (words[-1], "_".join(words[-2:])))


def _pairs(text: str) -> _Pairs:
    """Return the pairs of a JSON object, and none of another value."""
    found = _decoded(text)
    return found.items() if isinstance(found, dict) else ()


def _listed(text: str, *names: str) -> Iterator[tuple[Any, Any]]:
    """Yield (the first of `names` that is there, value) of each object of a JSON list."""
    found = _decoded(text)
    for entry in found if isinstance(found, list) else ():
        if isinstance(entry, dict) and (name := next((n for n in names if entry.get(n)), None)):
            yield entry[name], entry.get("value")


def _decoded(text: str) -> Any:  # noqa: ANN401 - any JSON
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None


def _kept(pairs: _Pairs) -> str | None:
    """Return a JSON object of texts in the order of its keys, bounded; None where it is empty.

    Keys beyond the bound are left out, the same ones for every order of arrival.
    """
    kept: dict[str, str] = {}
    size = 2
    for key, value in sorted((str(key), _shown(value)) for key, value in pairs):
        size += len(key) + len(value) + 6
        if value and size <= _LONGEST_TEXT:
            kept[key] = value
    return msgspec.json.encode(kept).decode() if kept else None


def _shown(value: object) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return redact(_USER_INFO.sub("", text))[:_LONGEST_VALUE]

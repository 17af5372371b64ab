"""Validation of one OpenLineage event: it rejects malformed events, and nothing more.

The required fields are those of OpenLineage 2-0-2. Facets are not looked into, only walked for
being JSON: unknown ones, newer ones and broken ones are left to the pipeline, since a rejected
event is lost to every reader.
"""

import re
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Literal
from uuid import UUID

import msgspec

from collector import json_text
from collector.errors import InvalidEventError
from collector.settings import Limits
from lineage.process import clock
from lineage.process.clock import EVENT_TIMES, is_event_time

EventType = Literal["START", "RUNNING", "COMPLETE", "ABORT", "FAIL", "OTHER"]
Facets = dict[str, object]


class _Dataset(msgspec.Struct):
    namespace: str
    name: str
    facets: Facets | None = None


class _Run(msgspec.Struct):
    runId: UUID  # noqa: N815 - the field's name in OpenLineage
    facets: Facets | None = None


class _Job(msgspec.Struct):
    namespace: str
    name: str
    facets: Facets | None = None


class _Base(msgspec.Struct, kw_only=True):
    eventTime: datetime  # noqa: N815
    producer: str
    schemaURL: str  # noqa: N815


class _RunEvent(_Base, kw_only=True):
    run: _Run
    job: _Job
    eventType: EventType | None = None  # noqa: N815
    inputs: list[_Dataset] | None = None
    outputs: list[_Dataset] | None = None


class _JobEvent(_Base, kw_only=True):
    job: _Job
    inputs: list[_Dataset] | None = None
    outputs: list[_Dataset] | None = None


class _DatasetEvent(_Base, kw_only=True):
    dataset: _Dataset


class ValidEvent(msgspec.Struct, frozen=True):
    """Valid body that may be stored.

    Attributes:
        kind: `run`, `job` or `dataset`.
        body: the raw JSON, inflated.
        duplicate_keys: how many keys an object of it repeats; the last value holds.
    """

    kind: str
    body: bytes
    duplicate_keys: int


_MOST_OFFSET = timedelta(hours=18)  # of ISO 8601 in Java, by which Spark reads it
_PATH = re.compile(r" - at `(.*)`$")
_MISSING = re.compile(r"missing required field `(.*)`")
_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]")


def parse_event(body: bytes, limits: Limits) -> ValidEvent:
    """Judge one event.

    Raises:
        InvalidEventError: not JSON, too deep, or not an event; names the JSON path.
        TooManyError: more JSON values than an event may have.
    """
    json_text.check_values(body, limits.max_values)
    kind, may_repeat = _judge(body, limits)
    # The decoded value is gone by now: it may be many times as large as the body.
    return ValidEvent(kind, body, json_text.count_repeated_keys(body) if may_repeat else 0)


def _judge(body: bytes, limits: Limits) -> tuple[str, bool]:
    """Return the kind of event, and whether keys of it may be repeated."""
    value = json_text.decode_json(body, limits.max_depth)
    kind, struct = _kind(value)
    try:
        event = msgspec.convert(_with_normal_time(value), struct)
    except msgspec.ValidationError as error:
        raise _invalid(error, value) from error
    _check_time(event, value)
    _check_names(event, limits.max_name_bytes)
    return kind, json_text.may_repeat_keys(body, value)


def _invalid(error: msgspec.ValidationError, value: object) -> InvalidEventError:
    text = str(error)
    found = _PATH.search(text)
    path = found[1] if found else "$"
    what = text[: found.start()] if found else text
    if missing := _MISSING.search(what):
        path = f"{path}.{missing[1]}"
        return InvalidEventError(f"{path}: required, and missing", path=path)
    got = _text_at(value, path)
    detail = f"{path}: {what}" if got is None or got in what else f"{path}: {what}, got {got!r}"
    return InvalidEventError(detail, path=path)


def _text_at(value: object, path: str) -> str | None:
    """Return the text at a path, cut for a message, or None if it is no text."""
    for name, index in _STEP.findall(path):
        if isinstance(value, dict):
            value = value.get(name)
        elif isinstance(value, list):
            value = value[int(index)]
    return value[:80] if isinstance(value, str) else None


def _kind(value: object) -> tuple[str, type[_Base]]:
    if not isinstance(value, dict):
        detail = f"$: expected an OpenLineage event, an object; got {type(value).__name__}"
        raise InvalidEventError(detail, path="$")
    # A run event that lost its run must not pass for a job event; but OpenLineage forbids a job
    # event nothing, so that one which says what it is may carry an eventType.
    if "run" in value or ("eventType" in value and not _declares_job_event(value)):
        return "run", _RunEvent
    if "dataset" in value and "job" not in value:
        return "dataset", _DatasetEvent
    if "job" in value:
        return "job", _JobEvent
    detail = "$: expected run and job (RunEvent), dataset (DatasetEvent) or job (JobEvent)"
    raise InvalidEventError(detail, path="$")


def _declares_job_event(value: dict[str, object]) -> bool:
    return str(value.get("schemaURL")).endswith("/JobEvent")


def _named(event: _Base) -> Iterable[tuple[str, _Dataset | _Job]]:
    if isinstance(event, _DatasetEvent):
        yield "$.dataset", event.dataset
    if isinstance(event, (_RunEvent, _JobEvent)):
        yield "$.job", event.job
        for index, dataset in enumerate(event.inputs or ()):
            yield f"$.inputs[{index}]", dataset
        for index, dataset in enumerate(event.outputs or ()):
            yield f"$.outputs[{index}]", dataset


def _with_normal_time(value: object) -> object:
    if isinstance(value, dict) and isinstance(time := value.get("eventTime"), str):
        return {**value, "eventTime": clock.normalize_java_time(time)}
    return value


def _check_time(event: _Base, value: object) -> None:
    path = "$.eventTime"
    expected = None if is_event_time(event.eventTime) else EVENT_TIMES
    if abs(event.eventTime.utcoffset() or timedelta()) > _MOST_OFFSET:
        expected = "expected an offset of at most 18 hours"
    if expected:
        got = _text_at(value, path)
        raise InvalidEventError(f"{path}: {expected}, got {got!r}", path=path)


def _check_names(event: _Base, max_bytes: int) -> None:
    for path, named in _named(event):
        _check_name(f"{path}.namespace", named.namespace, max_bytes)
        _check_name(f"{path}.name", named.name, max_bytes)


def _check_name(path: str, text: str, max_bytes: int) -> None:
    if not text.strip():
        raise InvalidEventError(f"{path}: expected a name, got {text[:80]!r}", path=path)
    # PostgreSQL's text has no NUL, and a name that one catalog keeps and another cannot is no name.
    if "\0" in text:
        raise InvalidEventError(f"{path}: has a NUL character: {text[:80]!r}", path=path)
    # A character takes up to 4 bytes, so that only long names are worth encoding.
    if len(text) * 4 > max_bytes and len(text.encode()) > max_bytes:
        detail = f"{path}: longer than {max_bytes} bytes: {text[:80]!r}…"
        raise InvalidEventError(detail, path=path, reason="name_too_long")

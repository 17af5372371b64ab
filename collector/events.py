"""Validation of one OpenLineage event: what refuses nonsense, and nothing more.

The required fields are those of OpenLineage 2-0-2. Facets are not looked into, only walked for
being JSON: unknown ones, newer ones and broken ones are the pipeline's to judge, since a refused
event is lost to every reader.
"""

import json
import re
from collections.abc import Iterable
from datetime import datetime
from typing import Literal
from uuid import UUID

import msgspec

from collector.errors import InvalidEventError
from collector.locate import path_at
from collector.settings import Limits

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


class Event(msgspec.Struct, frozen=True):
    """A body that may be stored.

    Attributes:
        kind: `run`, `job` or `dataset`.
        body: the raw JSON, inflated.
        duplicate_keys: how many keys an object of it repeats; the last value holds.
    """

    kind: str
    body: bytes
    duplicate_keys: int


_decoder = msgspec.json.Decoder()
_encoder = msgspec.json.Encoder()
_OFFSET = re.compile(r"\(byte (\d+)\)")
_PATH = re.compile(r" - at `(.*)`$")
_MISSING = re.compile(r"missing required field `(.*)`")
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"')
_NOT_BRACKETS = bytes(set(range(256)) - set(b"{}[]"))


def parse(body: bytes, limits: Limits) -> Event:
    """Judge one event.

    Raises:
        InvalidEventError: not JSON, too deep, or not an event; names the JSON path.
    """
    _check_depth(body, limits.max_depth)
    value = _decode(body)
    kind, struct = _kind(value)
    try:
        event = msgspec.convert(value, struct)
    except msgspec.ValidationError as error:
        raise _invalid(error) from error
    _check_names(event, limits.max_name_bytes)
    return Event(kind, body, _duplicate_keys(body, value))


def _decode(body: bytes) -> object:
    try:
        return _decoder.decode(body)
    except UnicodeDecodeError as error:
        detail = "not UTF-8: send the event as UTF-8 JSON"
        raise InvalidEventError(detail, path="$", reason="not_utf8") from error
    except msgspec.ValidationError as error:
        raise _invalid(error) from error
    except (msgspec.DecodeError, RecursionError) as error:
        raise _malformed(body, error) from error


def _malformed(body: bytes, error: Exception) -> InvalidEventError:
    found = _OFFSET.search(str(error))
    path = path_at(body, int(found[1]) if found else len(body))
    return InvalidEventError(f"{path}: {error}", path=path, reason="not_json")


def _invalid(error: msgspec.ValidationError) -> InvalidEventError:
    text = str(error)
    found = _PATH.search(text)
    path = found[1] if found else "$"
    what = text[: found.start()] if found else text
    if missing := _MISSING.search(what):
        path = f"{path}.{missing[1]}"
        what = "required, and missing"
    return InvalidEventError(f"{path}: {what}", path=path)


def _kind(value: object) -> tuple[str, type[_Base]]:
    if not isinstance(value, dict):
        detail = f"$: expected an OpenLineage event, an object; got {type(value).__name__}"
        raise InvalidEventError(detail, path="$")
    if "run" in value or "eventType" in value:
        return "run", _RunEvent
    if "dataset" in value and "job" not in value:
        return "dataset", _DatasetEvent
    if "job" in value:
        # Of a run event that lost its run nothing could be said but its job, so both are asked.
        return "job", _JobEvent
    detail = "$: expected run and job (RunEvent), dataset (DatasetEvent) or job (JobEvent)"
    raise InvalidEventError(detail, path="$")


def _named(event: _Base) -> Iterable[tuple[str, _Dataset | _Job]]:
    if isinstance(event, _DatasetEvent):
        yield "$.dataset", event.dataset
    if isinstance(event, (_RunEvent, _JobEvent)):
        yield "$.job", event.job
        for index, dataset in enumerate(event.inputs or ()):
            yield f"$.inputs[{index}]", dataset
        for index, dataset in enumerate(event.outputs or ()):
            yield f"$.outputs[{index}]", dataset


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


def _check_depth(body: bytes, max_depth: int) -> None:
    """Refuse nesting before a recursive parser sees it; linear in the body for any input.

    Fewer opening brackets than the bound cannot nest deeper: that settles nearly every event.
    """
    if body.count(b"{") + body.count(b"[") <= max_depth:
        return
    brackets = _STRING.sub(b"", body).translate(None, _NOT_BRACKETS)
    depth = 0
    for bracket in brackets:
        depth += 1 if bracket in b"{[" else -1
        if depth > max_depth:
            raise InvalidEventError(
                f"$: nested deeper than {max_depth}", path="$", reason="too_deep"
            )


def _duplicate_keys(body: bytes, value: object) -> int:
    """Keys that an object of the body repeats.

    The decoded value has each key once, so its text has as many `":` as a body without repeats.
    Equal counts are the rule and cost 8 µs; any difference, be it blanks before colons, is settled
    by a slow and exact count.
    """
    if body.count(b'":') == _encoder.encode(value).count(b'":'):
        return 0
    repeats = 0

    def count(pairs: list[tuple[str, object]]) -> None:
        nonlocal repeats
        repeats += len(pairs) - len({key for key, _ in pairs})

    json.loads(body, object_pairs_hook=count)
    return repeats

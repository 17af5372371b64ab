"""Staged rows for merges: batches as Spark leaves them, made without Spark."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Engine

from lineage.names.keys import key
from lineage.names.run_ids import day_of
from lineage.process.clock import to_micros
from slis.indicators.accuracy.schemas import COLUMN_LINEAGE
from slis.stream.facts.spans import SeenTimes
from slis.stream.merge.merge import LogRange, merge
from slis.stream.names.claims import SYMLINK
from slis.stream.names.spellings import Spellings, spelling_key

_HOUR = 3_600_000_000
Merge = Callable[[list[dict[str, Any]]], None]


def staged_run(  # noqa: PLR0913 - by name, each with a default
    at: datetime,
    *,
    run: str = "r1",
    root: str | None = None,
    inputs: Iterable[str] = (),
    outputs: Mapping[str, Iterable[str]] | None = None,
    kind: str = "COMPLETE",
    integration: str = "TEST",
    symlinks: Mapping[str, str] | None = None,
    processing: str | None = None,
    parent: str | None = None,
    lifecycle: str | None = None,
) -> dict[str, Any]:
    """Return an event of the run.

    Args:
        at: time of the event.
        run: id of the run.
        root: id of its root run, if another.
        inputs: names of datasets in `n`, as all names here.
        outputs: names, each with those that its column lineage names.
        kind: START, RUNNING (of a stream that puts out data) or COMPLETE.
        integration: of the job.
        symlinks: the other name of some of these datasets.
        processing: BATCH or STREAMING; by default STREAMING of RUNNING, else BATCH.
        parent: id of its parent run, if not the root run.
        lifecycle: change of state of the outputs, as `CREATE`.
    """
    return {
        "at": to_micros(at),
        "run": run,
        "root": root or run,
        "inputs": list(inputs),
        "outputs": dict(outputs or {}),
        "kind": kind,
        "integration": integration,
        "symlinks": dict(symlinks or {}),
        "processing": processing or ("STREAMING" if kind == "RUNNING" else "BATCH"),
        "parent": parent or root,
        "lifecycle": lifecycle,
    }


def staged_job(at: datetime, upstream: str, downstream: str) -> dict[str, Any]:
    """Return a JobEvent that declares an edge."""
    return {"at": to_micros(at), "kind": "JOB", "edge": (upstream, downstream)}


def merge_staged(catalog: Engine, *batches: Iterable[dict[str, Any]], merged: int = 0) -> None:
    """Merge these batches, one after the other, into a catalog with so many such batches."""
    for number, events in enumerate(batches, merged):
        at = LogRange("spool", number, number, number + 1)
        merge(catalog, at, _rows(list(events)), _noon)


def _noon() -> datetime:
    return datetime.fromisoformat("2026-11-21T12:00:00+00:00")


def _rows(events: list[dict[str, Any]]) -> dict[str, tuple[tuple[str, ...], list[Any]]]:
    spellings = Spellings()
    rows: dict[str, list[dict[str, Any]]] = {"s_event": []}
    for event in events:
        for table, row in _job_rows(event) if event["kind"] == "JOB" else _run_rows(event):
            rows.setdefault(table, []).append(row)
        _note_names(spellings, event)
    columns = (
        "spelling_key dataset_key namespace name partition partition_at is_dataset first_seen_at "
        "last_seen_at folder_key"
    )
    staged = {table: _table(found) for table, found in rows.items()}
    return {**staged, "s_name": (tuple(columns.split()), list(spellings.names()))}


def _table(rows: list[dict[str, Any]]) -> tuple[tuple[str, ...], list[Any]]:
    return (tuple(rows[0]) if rows else (), [tuple(row.values()) for row in rows])


def _note_names(spellings: Spellings, event: dict[str, Any]) -> None:
    seen = SeenTimes(event["at"], event["at"])
    sources = [name for named in event.get("outputs", {}).values() for name in named]
    for name in (*event.get("edge", ()), *event.get("inputs", ()), *event.get("outputs", ())):
        spellings.note("n", name, seen, is_dataset=True)
    for name in sources:
        spellings.note("n", name, seen, is_dataset=False)


def _job_rows(event: dict[str, Any]) -> Iterable[tuple[str, dict[str, Any]]]:
    upstream, downstream = (spelling_key("n", name) for name in event["edge"])
    ends = {"upstream_spelling_key": upstream, "downstream_spelling_key": downstream}
    job = {"job_namespace": "j", "job_name": "app"}
    yield "s_declared_edge", {**ends, **job, **_span("seen", event["at"])}


def _run_rows(event: dict[str, Any]) -> Iterable[tuple[str, dict[str, Any]]]:
    at, run_key, kind = event["at"], key("j", "app", event["run"]), event["kind"]
    day = day_of(event["run"])
    job = {"job_namespace": "j", "job_name": "app"}
    root = {"root_job_namespace": "j", "root_job_name": "app", "root_run_id": event["root"]}
    yield (
        "s_run",
        {
            "run_key": run_key,
            "day": day,
            "root_day": day_of(event["root"]),
            "run_id": event["run"],
            "is_history": 0,
            **job,
            **root,
            **_span("event", at),
            "started_at": at if kind == "START" else None,
            "completed_at": at if kind == "COMPLETE" else None,
            "processing_type": event["processing"],
            "parent_run_id": event["parent"],
            "integration": event["integration"],
        },
    )
    for direction, names in (("read", event["inputs"]), ("write", event["outputs"])):
        for name in names:
            yield "s_run_io", _io(run_key, day, name, direction, at, is_streamed=kind == "RUNNING")
    for name, sources in event["outputs"].items():
        if event["lifecycle"] and event["kind"] == "COMPLETE":
            yield "s_facets", _lifecycle_row(run_key, name, event["lifecycle"], at)
        for source in sources:
            yield "s_facet_source", _facet_source(run_key, name, source)
    for name, other in event["symlinks"].items():
        yield "s_link", _link(run_key, name, other, at)


def _io(  # noqa: PLR0913 - columns of a row
    run_key: int, day: int, name: str, direction: str, at: int, *, is_streamed: bool
) -> dict[str, Any]:
    return {
        "run_key": run_key,
        "day": day,
        "spelling_key": spelling_key("n", name),
        "facets_key": run_key,
        "direction": direction,
        "hour": at // _HOUR * _HOUR if is_streamed else None,
        "streamed_at": at if is_streamed and direction == "write" else None,
        **_span("event", at),
        "is_measured": 1,
        "has_statistics": 0,
    }


def _facet_source(run_key: int, name: str, source: str) -> dict[str, Any]:
    keys = {"spelling_key": spelling_key("n", name), "facets_key": run_key}
    upstream = {"upstream_spelling_key": spelling_key("n", source)}
    return {**keys, **upstream, "oracle": COLUMN_LINEAGE}


def _lifecycle_row(run_key: int, name: str, lifecycle: str, at: int) -> dict[str, Any]:
    dataset = spelling_key("n", name)
    keys = {"spelling_key": dataset, "facets_key": run_key, "dataset_key": dataset}
    return {**keys, "lifecycle": lifecycle, **_span("seen", at)}


def _link(run_key: int, name: str, other: str, at: int) -> dict[str, Any]:
    dataset = spelling_key("n", name)
    keys = {"alias_key": spelling_key("n", other), "dataset_key": dataset}
    named = {"rule": SYMLINK, "namespace": "n", "name": other}
    facets = {"spelling_key": dataset, "facets_key": run_key}
    return {**keys, **named, **facets, **_span("seen", at)}


def _span(what: str, at: int) -> dict[str, int]:
    return {f"first_{what}_at": at, f"last_{what}_at": at}

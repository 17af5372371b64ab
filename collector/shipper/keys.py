"""Chooses the key of a record, and by that its partition."""

import msgspec

from lineage.event_log.records import Record


class _Run(msgspec.Struct):
    runId: str = ""  # noqa: N815 - OpenLineage's name


class _Job(msgspec.Struct):
    namespace: str = ""
    name: str = ""


class _Event(msgspec.Struct):
    run: _Run | None = None
    job: _Job | None = None


_EVENT = msgspec.json.Decoder(_Event)


def key_of(record: Record) -> bytes:
    """Return the key by which Kafka chooses a partition: the events of a run stay together."""
    if not record.is_event:
        return record.collector.encode()
    try:
        event = _EVENT.decode(record.body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return record.collector.encode()
    if event.run is not None and event.run.runId:
        return event.run.runId.encode()
    job = event.job or _Job()
    return f"{job.namespace}:{job.name}".encode()

"""Uploader of a process that follows a source without end."""

from threading import Event

import structlog

from service.ingest.collector_client import CollectorClient, Target
from service.ingest.event_uploader import EventUploader

_log = structlog.get_logger()


def endless_uploader(target: Target, stopping: Event) -> EventUploader:
    """Return an uploader that tries until the collector answers, and logs what is in the way."""
    return EventUploader(CollectorClient(target, stopping=stopping, on_trouble=_report))


def _report(trouble: str) -> None:
    _log.warning("collector_not_reached", trouble=trouble, next="trying again without end")

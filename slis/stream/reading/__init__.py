"""Reading of OpenLineage events: from raw JSON to `ReadEvent`."""

from slis.stream.reading.event import ReadEvent, read_event

__all__ = ["ReadEvent", "read_event"]

"""From the raw JSON of an OpenLineage event to what the pipeline knows of it."""

from slis.stream.reading.event import ReadEvent, read_event

__all__ = ["ReadEvent", "read_event"]

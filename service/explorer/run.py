"""Facts that a run reported about its code and engine."""

from service.explorer.words import plain
from service.queries.run_shapes import RunDetail

_TEXTS = (
    *("application_id", "engine", "engine_version", "integration", "adapter_version", "producer"),
    *("processing_type", "job_version", "code_version", "code_tag", "code_branch", "code_path"),
    "code_url",
)


def facts_of(run: RunDetail) -> list[tuple[str, str]]:
    """Return (name, value) pairs; URLs stay text, because an event must not choose a link."""
    pairs = ((plain(name), getattr(run, name)) for name in _TEXTS)
    return [(name, value) for name, value in pairs if value]

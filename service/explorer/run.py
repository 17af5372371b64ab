"""One run: what it said of its code and engine, in pairs."""

from service.answers.run_shapes import RunDetail
from service.explorer.words import plain

_TEXTS = (
    *("application_id", "engine", "engine_version", "integration", "adapter_version", "producer"),
    *("processing_type", "job_version", "code_version", "code_tag", "code_branch", "code_path"),
    "code_url",
)


def told_of(run: RunDetail) -> list[tuple[str, str]]:
    """(name, value) of what it told; an address is text: no event decides where a link leads."""
    pairs = ((plain(name), getattr(run, name)) for name in _TEXTS)
    return [(name, value) for name, value in pairs if value]

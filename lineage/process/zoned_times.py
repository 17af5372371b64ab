"""Normalize times as Java writes them: with the name of the zone, without seconds that are 0."""

import re

# A zone's name alone would name two instants in the hour that clocks repeat.
_JAVA = re.compile(
    r"(?P<minute>\d{4}-\d\d-\d\dT\d\d:\d\d)(?P<seconds>:\d\d(\.\d+)?)?"
    r"((?P<offset>Z|[+-]\d\d:?\d\d)(\[[\w+/-]+\])?)?",
    re.ASCII | re.IGNORECASE,
)


def normalize(text: str) -> str:
    """Return the time with seconds and without the name of its zone, or other text unchanged."""
    found = _JAVA.fullmatch(text)
    if found is None:
        return text
    return f"{found['minute']}{found['seconds'] or ':00'}{found['offset'] or ''}"

"""UUIDs for what Marquez identifies by UUID, and the catalog by other means."""

from typing import Final
from uuid import UUID

from lineage.names.keys import key

_VERSION, _VARIANT = 8, 0b10  # RFC 9562: a layout of our own
_LOW_BITS, _MIDDLE_BITS, _TIME_BITS = 62, 12, 54  # of 122: time, 6 unused bits, key
_LOW: Final = (1 << _LOW_BITS) - 1


def version_id(written_at: int, root_run_id: str) -> str:
    """Return the UUID of the version that a write made; newer versions have greater UUIDs."""
    return _uuid(written_at, key(root_run_id))


def written_at_of(version: str) -> int | None:
    """Return when the version was written, in µs; None if `version` is no UUID of a version."""
    try:
        given = UUID(version)
    except ValueError:
        return None
    if given.version != _VERSION:
        return None
    high = given.int >> 80
    middle = (given.int >> 64) & ((1 << _MIDDLE_BITS) - 1)
    return (high << _MIDDLE_BITS | middle) >> (48 + _MIDDLE_BITS - _TIME_BITS)


def schema_id(schema_key: int) -> str:
    """Return the UUID of a schema."""
    return _uuid(0, schema_key)


def job_id(namespace: str, name: str) -> str:
    """Return the UUID of a job."""
    return _uuid(0, key(namespace, name))


def _uuid(time: int, number: int) -> str:
    head = time << (48 + _MIDDLE_BITS - _TIME_BITS)
    high, middle = head >> _MIDDLE_BITS, head & ((1 << _MIDDLE_BITS) - 1)
    marks = _VERSION << 76 | _VARIANT << _LOW_BITS
    return str(UUID(int=high << 80 | middle << 64 | marks | number & _LOW))

"""What becomes of incidents when the clock was ahead and is right again."""

from typing import Final

from msgspec.structs import replace

from alerts.incidents.incident import Incident

_TIMES: Final = (
    *("onset", "seen_at", "opened_at", "good_at", "root_good_at", "resolved_at"),
    "acknowledged_at",
)


def cap_times(own: Incident, at: int) -> Incident:
    """Return the incident with each time that is ahead of `at` set to `at`.

    Otherwise it would neither open nor close before the clock comes to that time again.
    """
    changes: dict[str, object] = {}
    for name in _TIMES:
        value = getattr(own, name)
        if value is not None and value > at:
            changes[name] = at
    if any(opened > at for opened in own.opens):
        changes["opens"] = tuple(min(opened, at) for opened in own.opens)
    if any(since > at for _, since in own.trailing):
        changes["trailing"] = tuple((key, min(since, at)) for key, since in own.trailing)
    return replace(own, **changes) if changes else own

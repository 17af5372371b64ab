"""What becomes of what people were told when the clock was ahead and is right again."""

from typing import Final

from msgspec.structs import replace
from sqlalchemy import ColumnElement, and_, or_

from alerts.notify.notification_state import MICROS, NotificationState
from alerts.notify.routing_settings import RoutingSettings
from lineage.catalog.tables import incident_telling

# Nothing that was told to nobody yet waits longer, and no escalation is a week away.
_LONGEST_WAIT: Final = 3_600 * MICROS
_LONGEST_ESCALATION: Final = 7 * 86_400 * MICROS


def is_ahead(at: int) -> ColumnElement[bool]:
    """Whether a row is due so late that it was written under a clock that was ahead."""
    own = incident_telling.c
    return or_(
        and_(~own.is_told, own.due_at > at + _LONGEST_WAIT),
        own.due_at > at + _LONGEST_ESCALATION,
    )


def correct_state(
    state: NotificationState, at: int, settings: RoutingSettings
) -> NotificationState:
    """Return it with the times that are ahead of `at` set to `at`: escalation counts from now."""
    limits = {"notified_at": at, "last_notified_at": at}
    for name, seconds in (
        ("hold_until", settings.release_seconds),
        ("repage_at", settings.again_seconds),
    ):
        limits[name] = at + max(_LONGEST_WAIT, int(seconds * MICROS))
    changes = {
        name: at
        for name, limit in limits.items()
        if (value := getattr(state, name)) is not None and value > limit
    }
    return replace(state, **changes) if changes else state

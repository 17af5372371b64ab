"""Messages to send, and a clock."""

from datetime import UTC, datetime, timedelta
from typing import Any

from alerts.incidents.times import NamedTime
from alerts.notify.message import Impacted, Message, MessageLinks, MessageRoot
from lineage.process.clock import to_micros

START = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
BEGAN = to_micros(START)
LINKS = MessageLinks(
    explorer="https://lineward.test/lineage?job=shop/orders_daily&at=1",
    runbook="https://lineward.test/runbooks/job-failed",
    dashboard="https://grafana.test/d/lineward?var-dataset=db.orders",
    full_list="https://lineward.test/incidents/inc-1/impact",
)


class Ticking:
    """Clock that stands still until a test moves it."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        """Return the time."""
        return self.now

    @property
    def micros(self) -> int:
        """Return the time in µs."""
        return to_micros(self.now)

    def pass_(self, seconds: float) -> None:
        """Let time go by."""
        self.now += timedelta(seconds=seconds)


TIMES = (NamedTime("late since", BEGAN - 300_000_000), NamedTime("detected at", BEGAN))


def message(revision: int = 1, kind: str = "opened", **given: object) -> Message:
    """Return a message on one failed job; fields may be given."""
    fields: dict[str, Any] = {
        "incident_id": "inc-1",
        "revision": revision,
        "kind": kind,
        "severity": "page",
        "what": "orders_daily failed: 2 critical datasets will be late",
        "since": BEGAN - 300_000_000,
        "at": BEGAN,
        "root": MessageRoot("job", "orders_daily", "shop"),
        "owner": "orders",
    }
    return Message(**(fields | given))


def full_message(**given: object) -> Message:
    """Return a message with all its parts."""
    impacted = (
        Impacted("postgres://db", "orders", "critical", "stale", BEGAN + 1_800_000_000),
        Impacted("s3://lake", "marts/revenue", "critical", "will_miss", BEGAN + 7_200_000_000),
    )
    return message(
        impacted=impacted,
        impacted_count=400,
        tiers=(("critical", 2), ("important", 98), ("optional", 300)),
        first_difference="spark 3.5.1 → 4.0.0",
        links=LINKS,
        correlation_id="9f1c",
        note="",
        is_flapping=True,
        is_bridged=True,
        times=TIMES,
        **given,
    )

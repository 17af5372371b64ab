"""Alerts on what leaves Lineward: events on their way to a Marquez, messages to people."""

from collections.abc import Iterator
from typing import Final

from alerts.rules.burn_windows import PAGE, TICKET
from alerts.rules.model import Alert, since
from alerts.rules.promql import bridge, query_template
from alerts.rules.roots import OUTSIDE, of_root

_WAITING: Final = query_template(
    "max(lineage_notifications_undelivered)", "humanize", "unknown many"
)


def outward(owner: str) -> Iterator[Alert]:
    """What is told of what leaves Lineward: events for Marquez, messages for people."""
    yield _forwarding_stopped(owner)
    yield _risen(
        "MarquezEventsLost",
        "lineage_marquez_unforwarded_total",
        ("events are lost to Marquez", "left a full spool before Marquez had them"),
        owner,
    )
    yield _risen(
        "MarquezEventsSetAside",
        "lineage_marquez_set_aside_total",
        ("events are not taken by Marquez", "were set aside, by reason in the metric's label"),
        owner,
    )
    yield _delivery_stuck(owner)
    yield _delivery_failing(owner)


def _forwarding_stopped(owner: str) -> Alert:
    sent = "sum(increase(lineage_marquez_forwarded_total[15m]))"
    waiting = "max(min_over_time(lineage_marquez_forward_backlog_events[15m]))"
    probed = query_template("max(lineage_marquez_up)", "humanize", "unknown")
    return Alert(
        name="MarquezForwardingStopped",
        expr=f"{waiting} > 0\nand\n{sent} == 0",
        hold="5m",
        severity=TICKET,
        owner=owner,
        about=of_root("marquez"),
        summary="Marquez has taken no event for 15m",
        description=(
            "{{ $value | humanize }} events or more have waited for Marquez for 15m and none was"
            f" acknowledged (its probe: {probed}; 1 is up). They stay in the spool until it is"
            f" nearly full. Told since {since('MarquezForwardingStopped')}."
        ),
    )


def _risen(name: str, counter: str, told: tuple[str, str], owner: str) -> Alert:
    """A ticket for an hour after a counter of the catalog rose, or began above 0.

    What it was when Prometheus first saw the catalog is not told: it may be years old.
    """
    # Several services, or one that got another address, show the same counter: the highest.
    now = f"sum(max by (reason) ({bridge(counter)}))"
    before = f"sum(max by (reason) (last_over_time({counter}[1d] offset 1h)))"
    known = "max(last_over_time(lineage_catalog_readable[1d] offset 1h))"
    return Alert(
        name=name,
        expr=f"{now} - ({before} or 0 * {known}) > 0",
        severity=TICKET,
        owner=owner,
        about=of_root("marquez"),
        summary=f"{{{{ $value | humanize }}}} {told[0]}",
        description=(
            f"{{{{ $value | humanize }}}} events of the last hour {told[1]} ({counter}). None may"
            f" be. Told since {since(name)}."
        ),
    )


def _delivery_stuck(owner: str) -> Alert:
    oldest = "lineage_notification_oldest_undelivered_seconds"
    return Alert(
        name="NotificationDeliveryStuck",
        expr=f"max({bridge(oldest)}) > 600",
        severity=PAGE,
        owner=owner,
        about={**of_root("delivery"), **OUTSIDE},
        summary="A notification has not been delivered for {{ $value | humanizeDuration }}",
        description=(
            "The oldest notification has waited {{ $value | humanizeDuration }} (at most 10m);"
            f" {_WAITING} wait. Whoever they are for does not know. Told since"
            f" {since('NotificationDeliveryStuck')}."
        ),
    )


def _delivery_failing(owner: str) -> Alert:
    failed = "increase(lineage_notification_failed_total[15m])"
    return Alert(
        name="NotificationDeliveryFailing",
        expr=f"sum({failed}) > 0",
        hold="15m",
        severity=TICKET,
        owner=owner,
        about=of_root("delivery"),
        summary="Attempts to notify have been failing for 15m",
        description=(
            '{{ $value | printf "%.0f" }} attempts to notify failed in the last 15m (none should),'
            f" since {since('NotificationDeliveryFailing')}. Each is tried again; {_WAITING} wait."
        ),
    )

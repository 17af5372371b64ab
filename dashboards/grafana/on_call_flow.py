"""Rows of the on-call dashboard on flow: events in, budgets down, messages out."""

from alerts.rules.burn_windows import BURN_WINDOWS
from alerts.rules.recordings import bad_ratio, unexplained_ratio
from dashboards.grafana import links
from dashboards.grafana.queries import SELECTED_TIER, counter_increase, service_max
from dashboards.grafana.spec import (
    GREEN,
    ORANGE,
    PLAIN,
    RED,
    Link,
    Panel,
    Query,
    ThresholdStep,
    bad_from,
)

_PAGING = min(float(one.factor) for one in BURN_WINDOWS if one.severity == "page")
_BURN_STEPS: tuple[ThresholdStep, ...] = ((None, GREEN), (1, ORANGE), (_PAGING, RED))


def ingestion_panels() -> tuple[Panel, ...]:
    """Return panels of missing events, late datasets and stopped stages."""
    lag = "sum by (le, processing) (rate(lineage_ingestion_lag_seconds_bucket[5m]))"
    return (
        _trend(
            "Rejected by the collector",
            "Requests and events that the collector rejected in 5 minutes, by the reason"
            " returned to the sender. Bodies are stored. The runbook LineageErrorRateBurn says"
            " whether and how to send them again.",
            (
                Query(
                    "sum by (reason) (increase(lineage_collector_refused_total[5m]))", "{{reason}}"
                ),
            ),
            (links.debug(then=True), links.runbook("LineageErrorRateBurn")),
        ),
        _trend(
            "Errors by stage",
            "Rejected and failed events in 5 minutes, by stage and cause, as counted by M9.",
            (
                Query(
                    counter_increase("lineage_errors_total", "5m", "stage", "cause"),
                    "{{stage}}: {{cause}}",
                ),
            ),
            (links.debug(then=True), links.runbook("LineageErrorRateBurn")),
        ),
        _trend(
            "Not forwarded to Marquez",
            "In an hour: events that Marquez rejected, by reason, and events deleted from a"
            " full spool before they were sent. No data: nothing is forwarded.",
            (
                Query(
                    counter_increase("lineage_marquez_set_aside_total", "1h", "reason"),
                    "{{reason}}",
                ),
                Query("max(increase(lineage_marquez_unforwarded_total[1h]))", "left unsent"),
            ),
            (
                links.debug(then=True),
                links.runbook("MarquezEventsSetAside"),
                links.runbook("MarquezEventsLost"),
            ),
        ),
        Panel(
            kind="trend",
            title="Ingestion lag, 95 %",
            description=(
                "M6: from event time to commit in the catalog, 95th percentile of 5 minutes."
                " Objective: 30 s for streams, 5 minutes for batches."
            ),
            unit="s",
            queries=(Query(f"histogram_quantile(0.95, {lag})", "{{processing}}"),),
            no_value="no data",
            steps=((None, GREEN), (30, ORANGE), (300, RED)),
            width=6,
            lowest=0,
            links=(links.debug(then=True), links.runbook("IngestionLagBurn")),
        ),
    )


def burning_panels() -> tuple[Panel, ...]:
    """Return the burn rates of all bad items, and of those that no open incident explains."""
    return (
        _burn(
            "Burn rate, 1 h",
            bad_ratio("1h"),
            "Bad over allowed bad in the last hour. At 1 the error budget lasts 30 days."
            " Escalations use this rate.",
        ),
        _burn(
            "Burn rate outside open incidents",
            unexplained_ratio("1h"),
            "The burn rate of pages and tickets: without bad time of M1, M2 and M3a in open"
            " incidents. Above the line without an open incident: a problem has no notification"
            " yet.",
        ),
    )


def _burn(title: str, ratio: str, words: str) -> Panel:
    objective = service_max("lineage_sli_objective_ratio", "sli", "tier", where=SELECTED_TIER)
    share = service_max(ratio, "sli", "tier", where=SELECTED_TIER)
    return Panel(
        kind="trend",
        title=title,
        description=words,
        unit="none",
        # An objective of all leaves no budget to burn.
        queries=(Query(f"{share} / on (sli, tier) (1 - ({objective} < 1))", "{{sli}} ({{tier}})"),),
        no_value="no data",
        steps=_BURN_STEPS,
        width=12,
        height=9,
        lowest=0,
        links=(links.debug(then=True), links.runbook("burn-rates")),
    )


def notifications_panel() -> tuple[Panel, ...]:
    """Return messages that were taken, that were not, and that wait."""
    sent = counter_increase("lineage_notifications_total", "1d", "channel", "kind")
    failed = counter_increase("lineage_notification_failed_total", "1h", "channel", "reason")
    return (
        Panel(
            kind="bars",
            title="Notifications in 24 hours",
            description=(
                "Notifications accepted by their channel, by channel and kind. Empty"
                " although incidents opened: check the failed attempts and the owners' channels."
            ),
            unit="short",
            queries=(Query(f"sort_desc({sent})", "{{channel}} {{kind}}"),),
            no_value="none",
            steps=((None, PLAIN),),
            width=10,
            lowest=0,
            links=(links.page("Incidents", "/incidents"), links.runbook("asking")),
        ),
        _trend(
            "Failed delivery attempts",
            "In an hour, by channel and reason. Only passing faults (timeout, 429, 5xx) are"
            " retried; a rejected token or channel is not. `undelivered`: the notification has"
            " waited for ten minutes, and is retried. `gave_up`: the notification was retried for a"
            " day, and never reached its channel.",
            (Query(failed, "{{channel}}: {{reason}}"),),
            (links.runbook("NotificationDeliveryFailing"), links.debug(then=True)),
            width=10,
        ),
        Panel(
            kind="stat",
            title="Waiting notifications",
            description=(
                "Not delivered yet. Above 0 for minutes: see the failed delivery attempts."
            ),
            unit="short",
            queries=(Query(service_max("lineage_notifications_undelivered")),),
            no_value="unknown",
            steps=((None, GREEN), (1, ORANGE)),
            width=4,
            links=(links.runbook("NotificationDeliveryStuck"),),
        ),
    )


def _trend(
    title: str,
    words: str,
    queries: tuple[Query, ...],
    leads: tuple[Link, ...],
    width: int = 6,
) -> Panel:
    return Panel(
        kind="trend",
        title=title,
        description=words,
        unit="short",
        queries=queries,
        no_value="none",
        steps=bad_from(1),
        width=width,
        lowest=0,
        links=leads,
    )

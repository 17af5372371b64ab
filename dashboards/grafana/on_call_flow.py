"""Rows of the on-call dashboard on flow: events in, budgets down, messages out."""

from alerts.rules.recordings import bad_ratio, unexplained_ratio
from alerts.rules.windows import BURN_WINDOWS
from dashboards.grafana import links
from dashboards.grafana.queries import TIER, once, risen
from dashboards.grafana.spec import GREEN, ORANGE, PLAIN, RED, Link, Panel, Query, Step, most

_PAGING = min(float(one.factor) for one in BURN_WINDOWS if one.severity == "page")
_BURN_STEPS: tuple[Step, ...] = ((None, GREEN), (1, ORANGE), (_PAGING, RED))


def ingestion() -> tuple[Panel, ...]:
    """What did not come in, what was late, what did not go on."""
    lag = "sum by (le, processing) (rate(lineage_ingestion_lag_seconds_bucket[5m]))"
    return (
        _trend(
            "Refused at the door",
            "Requests and events that the collector refused in 5 minutes, by the reason told to"
            " the sender. They are kept: `lineward act requeue-rejected` brings mended ones back.",
            (
                Query(
                    "sum by (reason) (increase(lineage_collector_refused_total[5m]))", "{{reason}}"
                ),
            ),
            (links.debug(then=True), links.runbook("LineageErrorRateBurn")),
        ),
        _trend(
            "Failed on the way",
            "Events refused or failed in 5 minutes, by stage and cause, as M9 counts them.",
            (Query(risen("lineage_errors_total", "5m", "stage", "cause"), "{{stage}}: {{cause}}"),),
            (links.debug(then=True), links.runbook("LineageErrorRateBurn")),
        ),
        _trend(
            "Not forwarded to Marquez",
            "In an hour: events that Marquez does not take, by reason, and those that left a full"
            " spool before they were sent. No sample: nothing is forwarded.",
            (
                Query(risen("lineage_marquez_set_aside_total", "1h", "reason"), "{{reason}}"),
                Query("max(increase(lineage_marquez_unforwarded_total[1h]))", "left unsent"),
            ),
            (links.debug(then=True), links.runbook("MarquezForwardingStopped")),
        ),
        Panel(
            kind="trend",
            title="Ingestion lag, 95 %",
            description=(
                "M6: from an event's time to its facts in the catalog, the 95th percentile of 5"
                " minutes. Objective: 30 s of streams, 5 minutes of batches."
            ),
            unit="s",
            queries=(Query(f"histogram_quantile(0.95, {lag})", "{{processing}}"),),
            no_value="no sample",
            steps=((None, GREEN), (30, ORANGE), (300, RED)),
            width=6,
            lowest=0,
            links=(links.debug(then=True), links.runbook("IngestionLagBurn")),
        ),
    )


def burning() -> tuple[Panel, ...]:
    """All that is bad, and what no open incident explains."""
    return (
        _burn(
            "How fast budgets burn, 1 h",
            bad_ratio("1h"),
            "Bad over what the objective lets be bad, in the last hour: at 1 the budget lasts its"
            " 30 days. Tickets and escalations go by it.",
        ),
        _burn(
            "Of that, in no open incident",
            unexplained_ratio("1h"),
            "The same without what an open incident explains: this pages. Above the line with no"
            " incident open: something is bad that nobody was told of.",
        ),
    )


def _burn(title: str, ratio: str, words: str) -> Panel:
    objective = once("lineage_sli_objective_ratio", "sli", "tier", where=TIER)
    share = once(ratio, "sli", "tier", where=TIER)
    return Panel(
        kind="trend",
        title=title,
        description=words,
        unit="none",
        # An objective of all leaves no budget to burn.
        queries=(Query(f"{share} / on (sli, tier) (1 - ({objective} < 1))", "{{sli}} ({{tier}})"),),
        no_value="no sample",
        steps=_BURN_STEPS,
        width=12,
        height=9,
        lowest=0,
        links=(links.debug(then=True), links.runbook("burn-rates")),
    )


def told() -> tuple[Panel, ...]:
    """Messages that were taken, that were not, and that wait."""
    sent = risen("lineage_notifications_total", "1d", "channel", "kind")
    failed = risen("lineage_notification_failed_total", "1h", "channel", "reason")
    return (
        Panel(
            kind="bars",
            title="Told in 24 hours",
            description=(
                "Messages that Slack, PagerDuty or a webhook took, by channel and kind. Nothing"
                " though incidents opened: look at what failed, and who can be told at all."
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
            "Attempts that failed",
            "In an hour, by channel and reason; each is tried again. `gave_up` and `undelivered`"
            " were not told where they should have been.",
            (Query(failed, "{{channel}}: {{reason}}"),),
            (links.runbook("NotificationDeliveryFailing"), links.debug(then=True)),
            width=10,
        ),
        Panel(
            kind="stat",
            title="Messages that wait",
            description="Not taken yet. Above 0 for minutes: see the attempts that failed.",
            unit="short",
            queries=(Query(once("lineage_notifications_undelivered")),),
            no_value="not known",
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
        steps=most(1),
        width=width,
        lowest=0,
        links=leads,
    )

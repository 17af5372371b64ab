"""On-call dashboard: open incidents, affected datasets, and notified people."""

from dashboards.grafana import links
from dashboards.grafana.on_call_flow import burning_panels, ingestion_panels, notifications_panel
from dashboards.grafana.queries import (
    SELECTED_DATASET,
    SELECTED_OWNER,
    SELECTED_TIER,
    consumers,
    evaluation_age,
    open_incidents,
    per_incident,
    recent_changes,
    recent_failures,
    service_max,
    waiting_events,
)
from dashboards.grafana.spec import (
    GREEN,
    RED,
    YELLOW,
    Board,
    Link,
    Panel,
    PanelRow,
    Query,
    bad_from,
)

_CRITICAL_BAD = 'tier="critical",state="bad"'
_ALL = "critical|important|optional"


def on_call_dashboard() -> Board:
    """Return the dashboard for an on-call engineer."""
    return Board(
        uid=links.ON_CALL,
        title="Lineage: on call",
        description=(
            "For on-call engineers: incidents, their roots, affected datasets, notifications."
        ),
        since="now-6h",
        refresh="30s",
        rows=(
            PanelRow("Now", _now()),
            PanelRow("Open incidents", (_incidents(),)),
            PanelRow("Missing lineage and failed runs", (_missing(), _failed())),
            PanelRow("Ingestion", ingestion_panels()),
            PanelRow("Burn rates", burning_panels()),
            PanelRow("Consumers of recent changes", (_changed(),)),
            PanelRow("Notifications", notifications_panel()),
        ),
    )


def _now() -> tuple[Panel, ...]:
    bad = f"sum({service_max('lineage_datasets', 'tier', 'state', where=_CRITICAL_BAD)})"
    none = f"0 * sum({service_max('lineage_datasets', 'tier', 'state')})"
    return (
        _stat(
            "Incidents (page)",
            "Open or acknowledged. Acknowledge your incident, start at its root, follow its"
            " runbook.",
            Query(open_incidents("page")),
            bad_from(1),
            (links.page("Incidents", "/incidents"), links.runbook("LinewardIncidentPage")),
        ),
        _stat(
            "Tickets",
            "Open or acknowledged. A ticket may concern a critical dataset, and may become a page.",
            Query(open_incidents("ticket")),
            ((None, GREEN), (1, YELLOW)),
            (links.page("Incidents", "/incidents"), links.runbook("LinewardIncidentTicket")),
        ),
        _stat(
            "Critical datasets bad",
            "Bad in any SLI now. 0 is shown only if the evaluation is current. The reasons are"
            " below.",
            Query(f"{bad} or {none}"),
            bad_from(1),
            (
                links.page("Critical and bad", "/datasets?tier=critical&state=bad"),
                links.debug(then=True),
            ),
        ),
        _stat(
            "Event backlog",
            "Events in the log and in shippers that are not processed yet. Rising for minutes:"
            " the pipeline is down or too slow, or Kafka accepts no events.",
            Query(waiting_events()),
            ((None, GREEN), (10_000, YELLOW), (100_000, RED)),
            (
                links.debug(then=True),
                links.runbook("LineageSpoolGrowing"),
                links.runbook("LineageShipperStopped"),
            ),
        ),
        _stat(
            "Oldest undelivered notification",
            "Over 10 minutes: its recipient was not notified; the fallback channel was, if set.",
            Query(service_max("lineage_notification_oldest_undelivered_seconds")),
            bad_from(600),
            (links.runbook("NotificationDeliveryStuck"),),
            unit="s",
        ),
        _stat(
            "Age of figures",
            "Time since the last evaluation. Over 60 s current figures are hidden: check the"
            " pipeline first.",
            Query(evaluation_age()),
            bad_from(60),
            (links.debug(then=True), links.runbook("LineageEvaluationStale")),
            unit="s",
        ),
    )


def _stat(  # noqa: PLR0913, PLR0917 - what makes one figure
    title: str,
    description: str,
    query: Query,
    steps: tuple[tuple[float | None, str], ...],
    leads: tuple[Link, ...],
    unit: str = "short",
) -> Panel:
    return Panel(
        kind="stat",
        title=title,
        description=description,
        unit=unit,
        queries=(query,),
        no_value="unknown",
        steps=steps,
        width=4,
        height=5,
        links=leads,
    )


def _incidents() -> Panel:
    age = "time() - max by (incident) (lineage_incident_onset_timestamp_seconds)"
    left = "max by (incident) (lineage_incident_hit_timestamp_seconds) - time()"
    return Panel(
        kind="table",
        title="Open incidents with owner and deadline",
        description=(
            "One row for each fault, the most severe 200: root, start, affected critical"
            " datasets (bad because of it, or downstream), and the time until the next dataset of"
            " a paging tier is overdue (negative: it is overdue). A dash: the time is unknown."
        ),
        unit="short",
        queries=(
            Query(per_incident(age), "age", "s"),
            Query(
                per_incident("max by (incident) (lineage_incident_critical_datasets)"),
                "critical datasets",
            ),
            Query(per_incident(left), "until next deadline", "s"),
        ),
        columns=("severity", "kind", "root_namespace", "root", "owner", "incident"),
        sorted_by=("severity", "until next deadline"),
        no_value="none",
        width=24,
        height=9,
        links=(links.page("Incidents", "/incidents"), links.runbook("LinewardIncidentPage")),
        data_links=links.of_incident(),
    )


def _missing() -> Panel:
    where = f'sli="coverage",state="bad",{SELECTED_TIER},{SELECTED_OWNER},{SELECTED_DATASET}'
    lasting = f"max_over_time(lineage_dataset_state{{{where}}}[1h])"
    labels = ("dataset_namespace", "dataset", "tier", "owner", "reason")
    return Panel(
        kind="table",
        title="Without lineage in the last hour",
        description=(
            "Datasets that were bad in M1 in the last hour, with reasons, at most the 500 most"
            " severe. `lineage_missing`: the job ran and reported nothing; check its listener."
        ),
        unit="short",
        queries=(Query(f"max by ({', '.join(labels)}) ({lasting})", "bad"),),
        columns=labels,
        sorted_by=("tier", "dataset"),
        no_value="none",
        width=12,
        height=9,
        links=(
            links.page("All bad datasets", "/datasets?state=bad"),
            links.runbook("unreported"),
            links.runbook("LineageCoverageBurn"),
        ),
        data_links=links.of_dataset(),
    )


def _failed() -> Panel:
    of = recent_failures()
    return Panel(
        kind="table",
        title="Failed runs and their downstream datasets",
        description=(
            "Newest failed runs of 24 hours whose datasets were not written since, by job, with"
            " the number of downstream datasets. Start with jobs that have critical datasets"
            " downstream."
        ),
        unit="short",
        queries=(
            Query(consumers(of, "critical"), "critical downstream"),
            Query(consumers(of, _ALL), "all downstream"),
            Query(of, "failed", "dateTimeFromNow"),
        ),
        columns=("job_name", "dataset_namespace", "dataset"),
        sorted_by=("-critical downstream", "-failed"),
        no_value="none",
        width=12,
        height=9,
        links=(links.page("All bad datasets", "/datasets?state=bad"), links.runbook("failed")),
        data_links=links.of_dataset(),
    )


def _changed() -> Panel:
    of = recent_changes()
    columns = tuple(Query(consumers(of, tier), f"{tier} consumers") for tier in _ALL.split("|"))
    return Panel(
        kind="table",
        title="Downstream of recent changes",
        description=(
            "Datasets with a new schema or new writing code in 7 days, with the number of"
            " downstream datasets of each tier. Look here first if something breaks downstream."
        ),
        unit="short",
        queries=(*columns, Query(of, "changed", "dateTimeFromNow")),
        columns=("dataset_namespace", "dataset", "change"),
        sorted_by=("-critical consumers", "-changed"),
        no_value="none",
        width=24,
        height=9,
        links=(links.page("Datasets", "/datasets"), links.runbook("schema_changed")),
        data_links=links.of_dataset(),
    )

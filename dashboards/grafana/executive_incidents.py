"""Rows of the executive dashboard on incidents and on changes."""

from dashboards.grafana import links
from dashboards.grafana.queries import (
    SELECTED_DATASET,
    consumers,
    open_incidents,
    recent_changes,
    service_max,
)
from dashboards.grafana.spec import Panel, Query


def incident_panels() -> tuple[Panel, ...]:
    """Return the number of incidents, and the mean times to detect, notify and resolve."""
    return (
        Panel(
            kind="trend",
            title="Open incidents",
            description=(
                "Open or acknowledged, by severity. The on-call dashboard shows who"
                " acknowledged each incident."
            ),
            unit="short",
            queries=(Query(open_incidents("page|ticket"), "{{severity}}"),),
            no_value="unknown",
            width=8,
            height=6,
            lowest=0,
            links=(links.on_call(), links.page("Incidents", "/incidents")),
        ),
        _mean(
            "Time to detect (MTTD)",
            "found",
            "from the fault until its incident opened. Minutes are normal, because of hold"
            " times and cadences",
        ),
        _mean(
            "Time to notify",
            "notified",
            "from the fault until a channel accepted the page (M8)",
        ),
        _mean(
            "Time to resolve (MTTR)", "resolved", "from the fault until its incident was resolved"
        ),
        Panel(
            kind="stat",
            title="Pages this week",
            description=(
                "Incidents with severity page that opened in the last 7 days, without merged"
                " ones. If there are too many to follow up, raise the hold times or fix"
                " recurring causes."
            ),
            unit="short",
            queries=(
                Query(service_max("lineage_incidents_opened", where='severity="page",window="7d"')),
            ),
            no_value="unknown",
            width=4,
            height=6,
            links=(links.on_call(), links.page("Incidents", "/incidents")),
        ),
    )


def _mean(title: str, phase: str, words: str) -> Panel:
    expr = service_max("lineage_incident_mean_seconds", "severity", where=f'phase="{phase}"')
    return Panel(
        kind="stat",
        title=title,
        description=f"Mean of 30 days, {words}. Without false alarms. No data: no such incident.",
        unit="s",
        queries=(Query(expr, "{{severity}}"),),
        no_value="no data",
        width=4,
        height=6,
        links=(links.on_call(), links.runbook("ImpactAnalysisBurn")),
    )


def changes_panel() -> Panel:
    """Return the table of changes and their impact."""
    of = recent_changes(SELECTED_DATASET)
    return Panel(
        kind="table",
        title="Changes of 7 days by critical consumers",
        description=(
            "Datasets with a new schema or a new version of the writing code: time, and number"
            " of critical downstream datasets. If there are many, inform their owners: the"
            " runbook `escalating` says how."
        ),
        unit="short",
        queries=(
            Query(consumers(of, "critical"), "critical consumers"),
            Query(of, "changed", "dateTimeFromNow"),
        ),
        columns=("dataset_namespace", "dataset", "change"),
        sorted_by=("-critical consumers", "-changed"),
        no_value="none",
        width=24,
        height=9,
        links=(links.on_call(), links.runbook("schema_changed"), links.runbook("escalating")),
        data_links=links.of_dataset(),
    )

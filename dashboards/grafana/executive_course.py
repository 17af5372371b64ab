"""Rows of the executive dashboard on what happened: incidents, changes."""

from dashboards.grafana import links
from dashboards.grafana.queries import DATASET, changes, consumers, once, open_incidents
from dashboards.grafana.spec import Panel, Query


def incidents() -> tuple[Panel, ...]:
    """How many, and how soon they are found, told and mended."""
    return (
        Panel(
            kind="trend",
            title="Open incidents",
            description="Open or acknowledged, by severity. Who is on each: the on-call dashboard.",
            unit="short",
            queries=(Query(open_incidents("page|ticket"), "{{severity}}"),),
            no_value="not known",
            width=8,
            height=6,
            lowest=0,
            links=(links.on_call(), links.page("Incidents", "/incidents")),
        ),
        _mean(
            "Time to find (MTTD)",
            "found",
            "from the fault until its incident opened. Minutes are normal: holds and cadences",
        ),
        _mean("Time to tell", "told", "from the fault until Slack or PagerDuty took its page (M8)"),
        _mean("Time to mend (MTTR)", "mended", "from the fault until its incident was resolved"),
        Panel(
            kind="stat",
            title="Pages this week",
            description=(
                "Incidents that page and opened in the last 7 days, those merged into another left"
                " out. More than the on-call can follow up on is too many: raise holds, or mend."
            ),
            unit="short",
            queries=(Query(once("lineage_incidents_opened", where='severity="page",window="7d"')),),
            no_value="not known",
            width=4,
            height=6,
            links=(links.on_call(), links.page("Incidents", "/incidents")),
        ),
    )


def _mean(title: str, phase: str, words: str) -> Panel:
    expr = once("lineage_incident_mean_seconds", "severity", where=f'phase="{phase}"')
    return Panel(
        kind="stat",
        title=title,
        description=f"Mean of 30 days, {words}. False alarms are left out; none: no sample.",
        unit="s",
        queries=(Query(expr, "{{severity}}"),),
        no_value="no sample",
        width=4,
        height=6,
        links=(links.on_call(), links.runbook("ImpactAnalysisBurn")),
    )


def changed() -> Panel:
    """What became another, and how much depends on it."""
    of = changes(DATASET)
    return Panel(
        kind="table",
        title="Changes of 7 days by critical consumers",
        description=(
            "Datasets whose schema, or the version of the code that writes them, became another:"
            " when, and how many critical datasets are made of them, all the way down. Many: see"
            " that their owners know (lineward act notify-downstream)."
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
        links=(links.on_call(), links.runbook("schema_changed")),
        data_links=links.of_dataset(),
    )

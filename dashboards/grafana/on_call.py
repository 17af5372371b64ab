"""The on-call dashboard: what is broken, who is hurt, and who was told."""

from dashboards.grafana import links
from dashboards.grafana.on_call_flow import burning, ingestion, told
from dashboards.grafana.queries import (
    DATASET,
    OWNER,
    TIER,
    changes,
    consumers,
    evaluation_age,
    failures,
    of_incident,
    once,
    open_incidents,
)
from dashboards.grafana.spec import GREEN, RED, YELLOW, Board, Link, Panel, Query, Row, most

_CRITICAL_BAD = 'tier="critical",state="bad"'
_ALL = "critical|important|optional"


def on_call() -> Board:
    """For whoever was called."""
    return Board(
        uid=links.ON_CALL,
        title="Lineage: what is broken",
        description="For whoever is on call: incidents, their roots, who is hurt, who was told.",
        since="now-6h",
        refresh="30s",
        rows=(
            Row("Now", _now()),
            Row("Open incidents", (_incidents(),)),
            Row("Missing lineage and failed runs", (_missing(), _failed())),
            Row("Ingestion", ingestion()),
            Row("Burn rates", burning()),
            Row("Consumers of recent changes", (_changed(),)),
            Row("Who was told", told()),
        ),
    )


def _now() -> tuple[Panel, ...]:
    bad = f"sum({once('lineage_datasets', 'tier', 'state', where=_CRITICAL_BAD)})"
    none = f"0 * sum({once('lineage_datasets', 'tier', 'state')})"
    waiting = f"{once('lineage_pipeline_backlog_events')} or "
    waiting += once("lineage_collector_spool_waiting_events")
    return (
        _stat(
            "Incidents that page",
            "Open or acknowledged. Acknowledge yours, start at its root, follow its runbook.",
            Query(open_incidents("page")),
            most(1),
            (links.page("Incidents", "/incidents"), links.runbook("LinewardIncidentPage")),
        ),
        _stat(
            "Tickets",
            "Open or acknowledged, nothing critical is hit by them: for working hours.",
            Query(open_incidents("ticket")),
            ((None, GREEN), (1, YELLOW)),
            (links.page("Incidents", "/incidents"), links.runbook("LinewardIncidentTicket")),
        ),
        _stat(
            "Critical datasets that are bad",
            "By any SLI, now; 0 is said only of an evaluation of now. Each has its reason below.",
            Query(f"{bad} or {none}"),
            most(1),
            (
                links.page("Critical and bad", "/datasets?tier=critical&state=bad"),
                links.debug(then=True),
            ),
        ),
        _stat(
            "Events that wait for the catalog",
            "Spooled and not yet processed. Rising for minutes: the pipeline is down or too slow.",
            Query(waiting),
            ((None, GREEN), (10_000, YELLOW), (100_000, RED)),
            (links.debug(then=True), links.runbook("LineageSpoolGrowing")),
        ),
        _stat(
            "Oldest message not delivered",
            "Over 10 minutes whoever it is for does not know: the fallback channel was told.",
            Query(once("lineage_notification_oldest_undelivered_seconds")),
            most(600),
            (links.runbook("NotificationDeliveryStuck"),),
            unit="s",
        ),
        _stat(
            "Figures are this old",
            "Since the last evaluation. Over 60 s figures of now are left out: the pipeline first.",
            Query(evaluation_age()),
            most(60),
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
        no_value="not known",
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
        title="What is wrong, whose it is, how long is left",
        description=(
            "One row for each fault (the gravest 200), however many datasets are bad by it: root,"
            " since when, the critical datasets that are bad by it or below, and the time until the"
            " next of a tier that pages is hit; below 0 it was. A dash: nothing says when."
        ),
        unit="short",
        queries=(
            Query(of_incident(age), "age", "s"),
            Query(
                of_incident("max by (incident) (lineage_incident_critical_datasets)"),
                "critical datasets",
            ),
            Query(of_incident(left), "until the next limit", "s"),
        ),
        columns=("severity", "kind", "root_namespace", "root", "owner", "incident"),
        sorted_by=("severity", "until the next limit"),
        no_value="none",
        width=24,
        height=9,
        links=(links.page("Incidents", "/incidents"), links.runbook("LinewardIncidentPage")),
        data_links=links.of_incident(),
    )


def _missing() -> Panel:
    where = f'sli="coverage",state="bad",{TIER},{OWNER},{DATASET}'
    lasting = f"max_over_time(lineage_dataset_state{{{where}}}[1h])"
    labels = ("dataset_namespace", "dataset", "tier", "owner", "reason")
    return Panel(
        kind="table",
        title="Without lineage in the last hour",
        description=(
            "Datasets that were bad in M1 at some time of the last hour, with the reason; of"
            " the 500 gravest. `lineage_missing`: it ran and told nothing, look at its listener."
        ),
        unit="short",
        queries=(Query(f"max by ({', '.join(labels)}) ({lasting})", "bad"),),
        columns=labels,
        sorted_by=("tier", "dataset"),
        no_value="none",
        width=12,
        height=9,
        links=(links.page("All bad datasets", "/datasets?state=bad"), links.runbook("missing")),
        data_links=links.of_dataset(),
    )


def _failed() -> Panel:
    of = failures()
    return Panel(
        kind="table",
        title="Runs that failed, and what is behind them",
        description=(
            "Newest failed runs of 24 hours of datasets that were not written since, by job, with"
            " the number of datasets made of them. Begin with what has critical ones behind it."
        ),
        unit="short",
        queries=(
            Query(consumers(of, "critical"), "critical behind"),
            Query(consumers(of, _ALL), "all behind"),
            Query(of, "failed", "dateTimeFromNow"),
        ),
        columns=("job_name", "dataset_namespace", "dataset"),
        sorted_by=("-critical behind", "-failed"),
        no_value="none",
        width=12,
        height=9,
        links=(links.page("All bad datasets", "/datasets?state=bad"), links.runbook("failed")),
        data_links=links.of_dataset(),
    )


def _changed() -> Panel:
    of = changes()
    columns = tuple(Query(consumers(of, tier), f"{tier} consumers") for tier in _ALL.split("|"))
    return Panel(
        kind="table",
        title="Who reads of what changed",
        description=(
            "Datasets whose schema or writing code became another in 7 days, and how many datasets"
            " of each tier are made of them: where to look first when something breaks downstream."
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

"""Rows of the debug dashboard on the way of an event, and on room."""

from typing import Final

from alerts.rules.service_queries import SHIPPER_LAG, SHIPPERS_WAITING
from dashboards.grafana import links
from dashboards.grafana.queries import counter_increase, service_max
from dashboards.grafana.spec import (
    GREEN,
    ORANGE,
    PLAIN,
    RED,
    Panel,
    PanelKind,
    Query,
    ThresholdStep,
    bad_from,
)

_NEITHER: Final[tuple[ThresholdStep, ...]] = ((None, PLAIN),)
_MOST_SERIES = 10_000  # what docs/metrics.md promises


def _panel(  # noqa: PLR0913 - what makes one picture
    title: str,
    words: str,
    *queries: Query,
    leads: str,
    unit: str = "short",
    steps: tuple[ThresholdStep, ...] = _NEITHER,
    kind: PanelKind = "trend",
    width: int = 8,
    no_value: str = "no data",
) -> Panel:
    return Panel(
        kind=kind,
        title=title,
        description=words,
        unit=unit,
        queries=queries,
        no_value=no_value,
        steps=steps,
        width=width,
        lowest=None if kind == "heat" else 0,
        links=(links.on_call(then=True), links.runbook(leads)),
    )


def spool_panels() -> tuple[Panel, ...]:
    """Return the panels of the spool: waiting events, their age, and the free room."""
    used, most_bytes = (f"lineage_collector_spool_{name}" for name in ("bytes", "max_bytes"))
    return (
        _panel(
            "Spool depth",
            "Events that are not in the catalog, counted by the service and by the collector. In"
            " shippers: events that are not in Kafka yet; the service does not count them. A"
            " sawtooth is normal. A steady rise means that the pipeline is too slow, or in"
            " shippers, that Kafka does not accept events.",
            Query(service_max("lineage_pipeline_backlog_events"), "by the service"),
            Query(service_max("lineage_collector_spool_waiting_events"), "by the collector"),
            Query(SHIPPERS_WAITING, "in shippers"),
            leads="LineageSpoolGrowing",
        ),
        _panel(
            "Oldest waiting event",
            "Age of the oldest waiting event; 0 if no event waits. No data: the spool is not on"
            " the same machine as the service. Minutes: the pipeline is down or stuck in a"
            " batch. In shippers: age of the oldest event that Kafka has not accepted.",
            Query(service_max("lineage_pipeline_backlog_oldest_seconds"), "oldest"),
            Query(SHIPPER_LAG, "in shippers"),
            unit="s",
            steps=((None, GREEN), (60, ORANGE), (300, RED)),
            leads="LineageIngestionStopped",
        ),
        _panel(
            "Spool usage",
            "Bytes in the spool over its limit. At 100 % senders receive 503 and must keep"
            " their events.",
            Query(f"max({used} / {most_bytes})", "used"),
            unit="percentunit",
            steps=((None, GREEN), (0.5, ORANGE), (0.8, RED)),
            leads="LineageSpoolFailing",
        ),
    )


def stage_panels() -> tuple[Panel, ...]:
    """Return the panels of each stage, of the whole way, and of the batches' durations."""
    words = (
        "Mean delay of the events in the newest batch, by stage. The band that grows shows"
        " where time is lost."
    )
    heats = (
        ("Sent → received", "received", "From event time to arrival: producer and network."),
        (
            "Received → landed",
            "landed",
            "From arrival to commit in the catalog: the pipeline.",
        ),
        ("Landed → evaluated", "evaluated", "From commit to the next evaluation."),
    )
    commits = "sum by (le) (increase(lineage_collector_commit_seconds_bucket[5m]))"
    lags = "sum by (le) (increase(lineage_ingestion_lag_seconds_bucket[5m]))"
    return (
        *(
            _panel(
                title,
                f"{text} {words}",
                Query(service_max("lineage_stage_seconds", where=f'stage="{stage}"'), stage),
                unit="s",
                kind="heat",
                leads="IngestionLagBurn",
            )
            for title, stage, text in heats
        ),
        _panel(
            "Sent → landed, all events",
            "Histogram of M6: events of 5 minutes by lag.",
            Query(lags, "{{le}}"),
            unit="s",
            kind="heat",
            leads="IngestionLagBurn",
        ),
        _panel(
            "Received → durable",
            "Group commits of the spool in 5 minutes by duration, fsync included. Above 100 ms"
            " the disk is too slow.",
            Query(commits, "{{le}}"),
            unit="s",
            kind="heat",
            leads="LineageSpoolFailing",
        ),
        _panel(
            "Micro-batches and evaluations",
            "Micro-batch: from the arrival of its last event to the commit. Evaluation:"
            " duration for all SLIs.",
            Query(service_max("lineage_batch_seconds"), "micro-batch"),
            Query(service_max("lineage_evaluation_seconds"), "evaluation"),
            unit="s",
            leads="LineageEvaluationStale",
        ),
    )


def unparsed_panel() -> tuple[Panel, ...]:
    """Return rejected and failed events with their reasons, recent and in total."""
    total = service_max("lineage_errors_total", "stage", "cause")
    return (
        _panel(
            "Rejected by the collector",
            "In 5 minutes, by the reason returned to the sender. Bodies are stored with the"
            " JSON path of the error.",
            Query("sum by (reason) (increase(lineage_collector_refused_total[5m]))", "{{reason}}"),
            steps=bad_from(1),
            leads="LineageErrorRateBurn",
            no_value="none",
        ),
        _panel(
            "Parser failures",
            "Events that the pipeline could not process in 5 minutes, by reason. The events"
            " stay in the lake. The runbook LineageErrorRateBurn says what to do with them.",
            Query(counter_increase("lineage_pipeline_errors_total", "5m", "reason"), "{{reason}}"),
            steps=bad_from(1),
            leads="LineageErrorRateBurn",
            no_value="none",
        ),
        _panel(
            "Since the catalog began",
            "Rejected and failed events by stage and cause, without history loads.",
            Query(f"sort_desc({total})", "{{stage}}: {{cause}}"),
            kind="bars",
            leads="LineageErrorRateBurn",
            no_value="none",
        ),
    )


def evidence_panels() -> tuple[Panel, ...]:
    """Return the panels of evidence: correct edges by version, and what event logs add."""
    labels = ("producer", "adapter_version")
    bounds = {"ratio": "agree", "lower": "at least", "upper": "at most"}
    columns = (
        Query(
            service_max("lineage_accuracy_bound_ratio", *labels, where=f'bound="{bound}"'),
            text,
            "percentunit",
        )
        for bound, text in bounds.items()
    )
    return (
        Panel(
            kind="table",
            title="Edges that agree with evidence, by producer and version",
            description=(
                "M4: checked edges that agree with event logs and SQL, with 95 % confidence"
                " bounds. If `at most` of a version is below the objective, upgrade that"
                " version."
            ),
            unit="percentunit",
            queries=tuple(columns),
            columns=labels,
            sorted_by=("at most",),
            no_value="nothing was checked",
            width=16,
            links=(links.on_call(then=True), links.runbook("LineageAccuracyBurn")),
        ),
        _panel(
            "Known from event logs",
            "Runs for which event logs know more than events: failed or ended without such an"
            " event, or alone (no event was received).",
            Query(service_max("lineage_evidence_runs", "evidence"), "{{evidence}}"),
            kind="bars",
            leads="unreported",
            no_value="no folder was scanned",
        ),
    )


def growth_panels() -> tuple[Panel, ...]:
    """Return panels of the space used by the catalog and by Prometheus."""
    datasets = service_max("lineage_datasets", "tier", "state")
    return (
        _panel(
            "Catalog and lake",
            "Bytes of the catalog and of the lake. If they grow faster than incoming events,"
            " check retention_days and compaction.",
            Query(service_max("lineage_catalog_bytes"), "catalog"),
            Query(service_max("lineage_lake_bytes"), "lake"),
            unit="bytes",
            leads="LineageSpoolFailing",
        ),
        _panel(
            "Datasets",
            "Datasets by their most severe state. A rise without a new team: a job creates a"
            " new dataset name on each run; `lineward lint` prints the folding rule.",
            Query(f"sum by (state) ({datasets})", "{{state}}"),
            leads="renamed",
        ),
        _panel(
            "Series in Prometheus",
            f"Series of Lineward by scrape job. The service exports at most {_MOST_SERIES:,},"
            " whatever the number of datasets.",
            Query('count by (job) ({__name__=~"lineage_.+"})', "{{job}}"),
            steps=bad_from(_MOST_SERIES),
            leads="LineageSeriesAbsent",
        ),
    )

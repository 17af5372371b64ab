"""Rows of the debug dashboard on the way of an event, and on room."""

from typing import Final

from dashboards.grafana import links
from dashboards.grafana.queries import once, risen
from dashboards.grafana.spec import GREEN, ORANGE, PLAIN, RED, Kind, Panel, Query, Step, most

_NEITHER: Final[tuple[Step, ...]] = ((None, PLAIN),)
_MOST_SERIES = 10_000  # what docs/metrics.md promises


def _panel(  # noqa: PLR0913 - what makes one picture
    title: str,
    words: str,
    *queries: Query,
    leads: str,
    unit: str = "short",
    steps: tuple[Step, ...] = _NEITHER,
    kind: Kind = "trend",
    width: int = 8,
    no_value: str = "no sample",
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


def spool() -> tuple[Panel, ...]:
    """How much waits, for how long, and how much room is left."""
    used, most_bytes = (f"lineage_collector_spool_{name}" for name in ("bytes", "max_bytes"))
    return (
        _panel(
            "Spool depth",
            "Events that are spooled and not in the catalog, as the service and as the collector"
            " count them. A saw is normal; a slope means that the pipeline does not keep up.",
            Query(once("lineage_pipeline_backlog_events"), "by the service"),
            Query(once("lineage_collector_spool_waiting_events"), "by the collector"),
            leads="LineageSpoolGrowing",
        ),
        _panel(
            "Oldest event that waits",
            "How long ago it arrived; 0 when none waits. No sample: the spool is not beside the"
            " service. Minutes: the pipeline is down, or stuck at one batch.",
            Query(once("lineage_pipeline_backlog_oldest_seconds"), "oldest"),
            unit="s",
            steps=((None, GREEN), (60, ORANGE), (300, RED)),
            leads="LineageIngestionStopped",
        ),
        _panel(
            "Spool, of its bound",
            "Bytes held over bytes that it may hold. At 100 % senders get 503 and keep what they"
            " have, if they can.",
            Query(f"max({used} / {most_bytes})", "used"),
            unit="percentunit",
            steps=((None, GREEN), (0.5, ORANGE), (0.8, RED)),
            leads="LineageSpoolFailing",
        ),
    )


def stages() -> tuple[Panel, ...]:
    """Each stage by itself, the whole way, and what the batches took."""
    words = "Mean of the newest batch's events. A dark band that climbs is where time is lost."
    heats = (
        ("Sent → received", "received", "From the event's time to its arrival: producer, network."),
        (
            "Received → landed",
            "landed",
            "From its arrival to its facts in the catalog: the pipeline.",
        ),
        ("Landed → evaluated", "evaluated", "From the catalog until an evaluation saw it."),
    )
    commits = "sum by (le) (increase(lineage_collector_commit_seconds_bucket[5m]))"
    lags = "sum by (le) (increase(lineage_ingestion_lag_seconds_bucket[5m]))"
    return (
        *(
            _panel(
                title,
                f"{text} {words}",
                Query(once("lineage_stage_seconds", where=f'stage="{stage}"'), stage),
                unit="s",
                kind="heat",
                leads="IngestionLagBurn",
            )
            for title, stage, text in heats
        ),
        _panel(
            "Sent → landed, all events",
            "M6's histogram: events of 5 minutes by how late their facts were, each counted.",
            Query(lags, "{{le}}"),
            unit="s",
            kind="heat",
            leads="IngestionLagBurn",
        ),
        _panel(
            "Received → durable",
            "Group commits of the spool in 5 minutes by how long they took, fsync included. Above"
            " 100 ms the disk is the matter.",
            Query(commits, "{{le}}"),
            unit="s",
            kind="heat",
            leads="LineageSpoolFailing",
        ),
        _panel(
            "Micro-batches and evaluations",
            "Micro-batch: from the arrival of its last event to its commit. Evaluation: of all"
            " SLIs.",
            Query(once("lineage_batch_seconds"), "micro-batch"),
            Query(once("lineage_evaluation_seconds"), "evaluation"),
            unit="s",
            leads="LineageEvaluationStale",
        ),
    )


def unparsed() -> tuple[Panel, ...]:
    """Refused and failed events with their reasons, of late and in all."""
    total = once("lineage_errors_total", "stage", "cause")
    return (
        _panel(
            "Rejected by the collector",
            "In 5 minutes, by the reason told to the sender. The bodies are kept, with the path"
            " that was wrong.",
            Query("sum by (reason) (increase(lineage_collector_refused_total[5m]))", "{{reason}}"),
            steps=most(1),
            leads="LineageErrorRateBurn",
            no_value="none",
        ),
        _panel(
            "Parser failures",
            "Events that the pipeline could not take in, in 5 minutes, by reason; they stay in the"
            " lake. `lineward act replay` takes them again once the reason is mended.",
            Query(risen("lineage_pipeline_errors_total", "5m", "reason"), "{{reason}}"),
            steps=most(1),
            leads="LineageErrorRateBurn",
            no_value="none",
        ),
        _panel(
            "Since the catalog began",
            "Events refused or failed by stage and cause, history loads excepted.",
            Query(f"sort_desc({total})", "{{stage}}: {{cause}}"),
            kind="bars",
            leads="LineageErrorRateBurn",
            no_value="none",
        ),
    )


def evidence() -> tuple[Panel, ...]:
    """Who reports edges rightly, by version; what event logs know more of."""
    labels = ("producer", "adapter_version")
    bounds = {"ratio": "agree", "lower": "at least", "upper": "at most"}
    columns = (
        Query(
            once("lineage_accuracy_bound_ratio", *labels, where=f'bound="{bound}"'),
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
                "M4: checked edges that agree with event logs and SQL, with the 95 % bounds of that"
                " share. A version whose `at most` is below the objective is wrong: upgrade it."
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
            "Runs of which event logs know more than their events: failed or ended though no event"
            " said so, or alone (no event came).",
            Query(once("lineage_evidence_runs", "evidence"), "{{evidence}}"),
            kind="bars",
            leads="unreported",
            no_value="no folder was ever looked at",
        ),
    )


def growth() -> tuple[Panel, ...]:
    """What takes room, here and in Prometheus."""
    datasets = once("lineage_datasets", "tier", "state")
    return (
        _panel(
            "Catalog and lake",
            "Bytes of the catalog and of the lake. Steeper than the events that come in: look at"
            " retention_days and at the compaction.",
            Query(once("lineage_catalog_bytes"), "catalog"),
            Query(once("lineage_lake_bytes"), "lake"),
            unit="bytes",
            leads="LineageSpoolFailing",
        ),
        _panel(
            "Datasets",
            "By their worst state. A climb without a new team: a job that names a dataset anew"
            " each time; `lineward lint` prints the fold.",
            Query(f"sum by (state) ({datasets})", "{{state}}"),
            leads="renamed",
        ),
        _panel(
            "Series in Prometheus",
            f"Of Lineward, by scrape job. At most {_MOST_SERIES:,} of the service, whatever the"
            " number of datasets.",
            Query('count by (job) ({__name__=~"lineage_.+"})', "{{job}}"),
            steps=most(_MOST_SERIES),
            leads="LineageSeriesAbsent",
        ),
    )

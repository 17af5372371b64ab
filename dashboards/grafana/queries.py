"""Pieces of PromQL that panels share; several services show the same, so each is taken once."""

from typing import Final

from alerts.rules.service_queries import SHIPPERS_WAITING

SELECTED_TIER: Final = 'tier=~"$tier"'
SELECTED_OWNER: Final = 'owner=~"$owner"'
SELECTED_DATASET: Final = 'dataset_namespace=~"$dataset_namespace",dataset=~"$dataset"'
NAMED: Final = ("dataset_namespace", "dataset")


def service_max(metric: str, *labels: str, where: str = "") -> str:
    """Return the maximum over all services, by these labels."""
    by = f" by ({', '.join(labels)})" if labels else ""
    selected = f"{metric}{{{where}}}" if where else metric
    return f"max{by} ({selected})"


def waiting_events() -> str:
    """Return the query of all events that wait for the pipeline.

    The service counts the log: a spool or a topic. A topic lacks what shippers hold. Where no
    service counts, the shippers do, otherwise the collector beside the spool.
    """
    log = service_max("lineage_pipeline_backlog_events")
    spool = service_max("lineage_collector_spool_waiting_events")
    return f"{log} + ({SHIPPERS_WAITING} or vector(0)) or {SHIPPERS_WAITING} or {spool}"


def counter_increase(counter: str, window: str, *labels: str, where: str = "") -> str:
    """Return the query of a catalog counter's increase."""
    selected = f"{counter}{{{where}}}" if where else counter
    return f"max by ({', '.join(labels)}) (increase({selected}[{window}]))"


def open_incidents(severity: str) -> str:
    """Return the query of the open incidents: 0 where the catalog has none."""
    where = f'severity=~"{severity}",state=~"open|acknowledged"'
    return (
        f"sum by (severity) ({service_max('lineage_incidents', 'state', 'severity', where=where)})"
    )


def _incident() -> str:
    """Return 1 for each open incident, with its root; one root each while it moves upstream."""
    opened = f"topk by (incident) (1, lineage_incident_open{{{SELECTED_OWNER}}})"
    root = "topk by (incident) (1, lineage_incident_root)"
    named = f"max by (incident, severity, owner) ({opened})"
    rooted = f"max by (incident, kind, root_namespace, root) ({root})"
    return f"{named} * on (incident) group_left (kind, root_namespace, root) {rooted}"


def per_incident(value: str) -> str:
    """Return a value per open incident, with all its labels."""
    return f"({_incident()}) * on (incident) group_left () ({value})"


def recent_changes(where: str = SELECTED_DATASET) -> str:
    """Return the timestamp of each recent change, in ms."""
    labels = (*NAMED, "change")
    return f"{service_max('lineage_recent_change_timestamp_seconds', *labels, where=where)} * 1000"


def recent_failures(where: str = SELECTED_DATASET) -> str:
    """Return the timestamp of each recent failed run, in ms."""
    labels = (*NAMED, "job_namespace", "job_name")
    return f"{service_max('lineage_failed_run_timestamp_seconds', *labels, where=where)} * 1000"


def consumers(of: str, tier: str) -> str:
    """Return the query of the number of readers in these tiers of each series of `of`."""
    below = service_max(
        "lineage_dataset_consumers", *NAMED, "tier", where=f'{SELECTED_DATASET},tier=~"{tier}"'
    )
    counted = f"sum by ({', '.join(NAMED)}) ({below})"
    return f"0 * ({of}) + on ({', '.join(NAMED)}) group_left () {counted}"


def evaluation_age() -> str:
    """Return the query of the seconds since the last evaluation; a future one counts too."""
    return "abs(time() - max(lineage_sli_evaluated_timestamp_seconds))"


WITHOUT_LINEAGE: Final = service_max(
    "lineage_datasets_without_lineage", "tier", "owner", where=SELECTED_TIER
)

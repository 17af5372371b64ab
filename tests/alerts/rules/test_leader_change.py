from pathlib import Path

from tests.alerts.rules.promtool import asked, budget, only
from tests.alerts.rules.series import counted

ACCESS = ("unauthorized_access", "all")
RULES = only(budget(*ACCESS), named=("lineward-incidents", "lineward-health", "lineward-burn"))
# The first leader has its last sample in minute 70, the next one has its first sample 45 s later.
_END, _BEGIN = 281, 284
INCIDENT = 'lineage_incident_open{incident="i-7",root_kind="job",severity="page",owner="shop"}'
# What only a leader exports: its value before and after minute 65, and the alert that rests on it.
FAULTS = [
    (INCIDENT, 1, 1, "LinewardIncidentPage"),
    (counted("total", *ACCESS), 0, 6, "UnauthorizedAccess"),
    (counted("good", *ACCESS), 0, 0, "UnauthorizedAccess"),
    (counted("explained", *ACCESS), 0, 0, "UnauthorizedAccess"),
    ("lineage_notification_oldest_undelivered_seconds", 0, 700, "NotificationDeliveryStuck"),
    ("lineage_events_set_aside", 0, 3, "LineageEventsSetAside"),
    ("lineage_limit_failures", 0, 3, "LineageLimitsFailing"),
    ("lineage_marquez_unforwarded_total", 0, 4, "MarquezEventsLost"),
    ('lineage_policy_rejected{role="pipeline"}', 0, 1, "PolicyRejected"),
    ('lineage_policy_in_force{role="service"}', 1, 0, "PolicyNotInForce"),
    ("lineage_sli_evaluated_timestamp_seconds", 3800, 3765, "LineageEvaluationStale"),
    ("lineage_pipeline_batch_timestamp_seconds", 3600, 3585, "LineageIngestionStopped"),
    ("lineage_pipeline_backlog_events", 5, 5, "LineageIngestionStopped"),
]


def of_instance(series: str, instance: str) -> str:
    """Return the series as one service exports it."""
    metric, _, labels = series.rstrip("}").partition("{")
    return f'{metric}{{{labels}{"," if labels else ""}instance="{instance}"}}'


def change_leader() -> dict[str, str]:
    """Return the series of two services, each sample 15 s after the one before."""
    found = {
        of_instance("lineage_catalog_readable", "b"): "1x340",
        # A third service has a policy: that of the others is missing nevertheless.
        of_instance('lineage_policy_in_force{role="service"}', "c"): "1x340",
        of_instance("lineage_service_leader", "a"): f"1x{_END - 1} stale",
        of_instance("lineage_service_leader", "b"): f"0x{_BEGIN - 1} 1x60",
    }
    for series, before, after, _ in FAULTS:
        found[of_instance(series, "a")] = f"{before}x259 {after}x{_END - 261} stale"
        found[of_instance(series, "b")] = f"_x{_BEGIN} {after}x60"
    return found


def test_a_change_of_the_leader_resolves_no_alert(tmp_path: Path):
    """Compare how long each alert has been active, also one that does not fire yet."""
    names = sorted({name for *_, name in FAULTS})
    began = dict.fromkeys(names, 65 * 60) | {"LinewardIncidentPage": 0}
    query = f'max by (alertname) (ALERTS_FOR_STATE{{alertname=~"{"|".join(names)}"}})'
    rows = [f'{{alertname="{name}"}} {began[name]}' for name in names]

    assert asked(tmp_path, RULES, change_leader(), 73, query, *rows, each="15s") == ""

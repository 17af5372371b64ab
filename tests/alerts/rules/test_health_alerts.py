from pathlib import Path

import pytest

from tests.alerts.rules.promtool import (
    At,
    ExpectedAlert,
    alert_differences,
    asked,
    budget,
    only,
    rules_of,
)
from tests.alerts.rules.series import counted, healthy

MINUTES = 110
# Those of few budgets: what concerns us here is the same, and minutes pass quickly.
FEW = only(budget("freshness", "critical"), budget("unauthorized_access", "all"))
SERVICE = {"area": "service", "owner": "platform"}
OUTAGE = {**SERVICE, "root": "ingestion", "severity": "page"}
MARQUEZ = {**SERVICE, "root": "marquez", "severity": "ticket"}

FIRST_LOOK = "Run `lineward status`; on Kubernetes begin with `kubectl -n NAMESPACE get pods`."
NOT_SCRAPED = (
    "No target of the scrape job lineward has answered for 2m, since 1970-01-01 00:16:00 +0000 UTC:"
    " all targets are down, or Prometheus has no target of this job. Alerts on the metrics of this"
    f" job cannot fire. {FIRST_LOOK} If no shell opens, read runbooks/pages/LinewardScrapeDown.md"
    " in Lineward's repository. `lineward runbook LinewardScrapeDown` prints what to do."
)


def _failing(role: str, severity: str, **labels: str) -> tuple[dict[str, str], int, ExpectedAlert]:
    """Return the case of a role that fails from minute 16 on."""
    return (
        {f'lineage_role_working{{role="{role}"}}': "1x15 0x40"},
        21,
        ExpectedAlert(
            "LineageRoleFailing",
            {**SERVICE, "root": "role", "severity": severity, "role": role, **labels},
            f"Role {role} of Lineward is failing",
            f"The role {role} has failed for 5m, since 1970-01-01 00:16:00 +0000 UTC: it is not"
            " running, or it reports a failure. `lineward status` shows the error, the number of"
            " attempts and the log file; on Kubernetes begin with `kubectl -n NAMESPACE get pods`."
            " `lineward runbook LineageRoleFailing` prints what to do.",
        ),
    )


def shipper_stopped(lag: str, waiting: str, failures: str, since: str) -> ExpectedAlert:
    """Return the alert of one shipper that sends nothing."""
    return ExpectedAlert(
        "LineageShipperStopped",
        OUTAGE,
        "Shippers that send nothing to Kafka: 1",
        "Shippers that are down, or whose oldest event has waited for over 5m: 1. Kafka does not"
        " accept events, or a shipper does not run or hangs. The oldest event has waited for"
        f" {lag}. Shippers hold {waiting} events; {failures} attempts to send failed in the last"
        " 5m. The spools of the collectors keep the events until they are full. Firing since"
        f" 1970-01-01 {since}:00 +0000 UTC. {FIRST_LOOK} `lineward runbook LineageShipperStopped`"
        " prints what to do.",
    )


# Differences from a healthy service, the minute of the alert, and the alert. promtool's CPU is that
# of the minutes: a fault begins as early as its alert allows.
CASES = [
    (
        {"up": "1x15 0x30"},
        18,
        ExpectedAlert(
            "LinewardScrapeDown",
            {**OUTAGE, "job": "lineward", "reach": "outside"},
            "Prometheus cannot scrape lineward",
            NOT_SCRAPED,
        ),
    ),
    (
        {"up": "1x15 stale"},
        18,
        ExpectedAlert(
            "LinewardScrapeDown",
            {**OUTAGE, "job": "lineward", "reach": "outside"},
            "Prometheus cannot scrape lineward",
            NOT_SCRAPED,
        ),
    ),
    (
        {"lineage_limit_failures": "0x15 3x40"},
        26,
        ExpectedAlert(
            "LineageLimitsFailing",
            {**SERVICE, "root": "limits", "severity": "ticket"},
            "3 datasets have no freshness limit because of an error of Lineward",
            "Lineward failed to learn the limit of 3 datasets, since 1970-01-01 00:16:00 +0000 UTC."
            " Their freshness is unknown; all other datasets are evaluated as usual. In the list"
            " of `lineward datasets --state unknown`, these datasets have the reason"
            " `limit_failed`. `lineward runbook LineageLimitsFailing` prints what to do.",
        ),
    ),
    (
        {"lineage_collector_alive": "1x15 0x30"},
        17,
        ExpectedAlert(
            "LineageCollectorDown",
            OUTAGE,
            "Collector is down: events sent over HTTP are being lost",
            "The collector has sent no heartbeat for 1m (normally one each second), since"
            " 1970-01-01 00:16:00 +0000 UTC. Events that jobs send over HTTP are being lost."
            f" {FIRST_LOOK} `lineward runbook LineageCollectorDown` prints what to do.",
        ),
    ),
    (
        {"lineage_collector_commit_failures_total": "0x15 3x30"},
        16,
        ExpectedAlert(
            "LineageSpoolFailing",
            {**OUTAGE, "reach": "outside"},
            "Collector cannot write to its spool",
            "3 group commits of the spool failed in 5m (disk full, spool full, or failed fsync),"
            " since now. The collector answers 503; senders that do not retry lose their events."
            " If the disk of the data folder is full (`lineward status` names it), free space on"
            " it. Never delete spool.db. If the spool has reached its maximum size, its reader has"
            " stopped: the pipeline, or with a log in Kafka the shipper. `lineward runbook"
            " LineageSpoolFailing` prints what to do.",
        ),
    ),
    (
        {"lineage_collector_spool_damaged_timestamp_seconds": "-90000x15 900x30"},
        16,
        ExpectedAlert(
            "LineageSpoolDamaged",
            {**SERVICE, "root": "spool", "severity": "page"},
            "Collector spool was damaged 1m 0s ago",
            "The spool was damaged, or acknowledged events were missing from it, 1m 0s ago. The"
            " collector repaired the spool and accepts events. In total, at most 4 events were lost"
            " before the pipeline read them. Check the disk (`sudo dmesg`). Have producers send"
            " their events again. `lineward runbook LineageSpoolDamaged` prints what to do.",
        ),
    ),
    (
        {"lineage_events_set_aside": "0x15 3x30"},
        16,
        ExpectedAlert(
            "LineageEventsSetAside",
            {**SERVICE, "root": "events", "severity": "ticket"},
            "3 events are set aside: the pipeline cannot process them",
            "3 events failed while other events were stored, and have not been posted again, since"
            " now. Their runs are missing from the catalog. `lineward act requeue-set-aside` lists"
            " them by error. `lineward runbook LineageEventsSetAside` prints what to do.",
        ),
    ),
    (
        {"lineage_pipeline_backlog_events": "5x10 0+600x100"},
        43,
        ExpectedAlert(
            "LineageSpoolGrowing",
            {**SERVICE, "root": "backlog", "severity": "ticket"},
            "19.2k events wait for the pipeline, and their number is growing",
            "19.2k events are in the log and not yet in the catalog, growing by 600 a minute since"
            " 1970-01-01 00:28:00 +0000 UTC. The fullest spool uses 30% of its maximum size; when"
            " it is full, its collector answers 503. `lineward runbook LineageSpoolGrowing` prints"
            " what to do.",
        ),
    ),
    (
        {
            "lineage_shipper_lag_seconds": "2x15 60+60x40",
            "lineage_shipper_waiting_events": "3x15 900x40",
            "lineage_shipper_failures_total": "0x15 3+3x40",
        },
        23,
        shipper_stopped("8m 0s", "900", "15", "00:21"),
    ),
    (
        {
            'up{job="lineward-shipper",instance="c:8703"}': "1x15 0x40",
            "lineage_shipper_lag_seconds": "2x15 stale",
        },
        18,
        shipper_stopped("an unknown time", "3", "0", "00:16"),
    ),
    (
        {"lineage_pipeline_batch_timestamp_seconds": "0+60x15 900x30"},
        22,
        ExpectedAlert(
            "LineageIngestionStopped",
            OUTAGE,
            "No event has reached the catalog for 7m 0s",
            "The pipeline committed its last batch 7m 0s ago (limit: 5m while events wait), and"
            " 5 events have waited for 5m. No incident of a dataset opens meanwhile: nobody is"
            f" notified of late data. Firing since 1970-01-01 00:21:00 +0000 UTC. {FIRST_LOOK}"
            " `lineward runbook LineageIngestionStopped` prints what to do.",
        ),
    ),
    (
        {"lineage_sli_evaluated_timestamp_seconds": "0+60x15 900x30"},
        19,
        ExpectedAlert(
            "LineageEvaluationStale",
            OUTAGE,
            "SLIs were last evaluated 4m 0s ago",
            "The last evaluation was 4m 0s ago (limit: 2m; a negative time means that a clock was"
            " ahead). Until the next evaluation, good datasets are shown as unknown, bad ones stay"
            " bad, and gauges of current states are not exported. No incident of a dataset opens"
            " meanwhile: nobody is notified of late data. Firing since 1970-01-01 00:18:00 +0000"
            f" UTC. {FIRST_LOOK} `lineward runbook LineageEvaluationStale` prints what to do.",
        ),
    ),
    (
        {"lineage_sli_evaluated_timestamp_seconds": "0+60x15 4500x30"},
        17,
        ExpectedAlert(
            "LineageEvaluationStale",
            OUTAGE,
            "SLIs were last evaluated -58m 0s ago",
            "The last evaluation was -58m 0s ago (limit: 2m; a negative time means that a clock was"
            " ahead). Until the next evaluation, good datasets are shown as unknown, bad ones stay"
            " bad, and gauges of current states are not exported. No incident of a dataset opens"
            " meanwhile: nobody is notified of late data. Firing since 1970-01-01 00:16:00 +0000"
            f" UTC. {FIRST_LOOK} `lineward runbook LineageEvaluationStale` prints what to do.",
        ),
    ),
    (
        {"lineage_sli_evaluated_timestamp_seconds": "0+60x15 stale"},
        21,
        ExpectedAlert(
            "LineageEvaluationAbsent",
            {**OUTAGE, "reach": "outside"},
            "SLI evaluation unknown: datasets are not watched",
            "lineage_sli_evaluated_timestamp_seconds has been absent for 5m, since"
            " 1970-01-01 00:16:00 +0000 UTC: no evaluation has ended yet, the catalog cannot be"
            " read (lineage_catalog_readable: 1; 1 is good), or no service leads"
            f" (lineage_service_leader: 1; 1 is good). {FIRST_LOOK} `lineward runbook"
            " LineageEvaluationAbsent` prints what to do.",
        ),
    ),
    _failing("service", "page", reach="outside"),
    _failing("collector", "page"),
    _failing("pipeline", "page"),
    _failing("marquez", "ticket"),
    (
        {"lineage_policy_rejected": "0x15 1x30"},
        18,
        ExpectedAlert(
            "PolicyRejected",
            {**SERVICE, "root": "policy", "severity": "ticket", "role": "service"},
            "The service rejects the policy file",
            "The service has rejected the policy file for 2m, since 1970-01-01 00:16:00 +0000 UTC."
            " The previous policy stays in force until the file is valid. Do not restart the role"
            " before: it would have no policy, or not start. `lineward status` shows the error."
            " `lineward runbook PolicyRejected` prints what to do.",
        ),
    ),
    (
        {"lineage_policy_in_force": "1x15 0x30"},
        18,
        ExpectedAlert(
            "PolicyNotInForce",
            {
                **SERVICE,
                "root": "policy",
                "severity": "page",
                "role": "service",
                "reach": "outside",
            },
            "The service has no valid policy",
            "The service started with an invalid policy file and has had no policy for 2m, since"
            " 1970-01-01 00:16:00 +0000 UTC. Until the file is valid, a service without a policy"
            " rejects all requests, also Alertmanager's. Incidents and notifications use the last"
            " valid policy; without one, notifications go to the fallback channel; if none is set,"
            " nobody is notified. `lineward policy check FILE` shows the errors of the file."
            " `lineward runbook PolicyNotInForce` prints what to do.",
        ),
    ),
    (
        {"lineage_marquez_forwarded_total": "0+10x15 150x40"},
        35,
        ExpectedAlert(
            "MarquezForwardingStopped",
            MARQUEZ,
            "Marquez has accepted no event for 15m",
            "At least 3 events have waited for Marquez for 15m, and Marquez has accepted none"
            " (lineage_marquez_up: 1). They stay in the spool until it is nearly full. Firing since"
            " 1970-01-01 00:30:00 +0000 UTC. `lineward runbook MarquezForwardingStopped` prints"
            " what to do.",
        ),
    ),
    (
        {"lineage_marquez_unforwarded_total": "0x70 4x30"},
        71,
        ExpectedAlert(
            "MarquezEventsLost",
            MARQUEZ,
            "4 events were not forwarded to Marquez",
            "In the last hour, 4 events left a full spool before Marquez had accepted them"
            " (lineage_marquez_unforwarded_total; expected: 0). Firing since now. `lineward runbook"
            " MarquezEventsLost` prints what to do.",
        ),
    ),
    (
        {"lineage_marquez_set_aside_total": "7x70 9x30"},
        71,
        ExpectedAlert(
            "MarquezEventsSetAside",
            MARQUEZ,
            "2 events were not accepted by Marquez",
            "In the last hour, 2 events that Marquez did not accept were set aside"
            " (lineage_marquez_set_aside_total, by reason; expected: 0). Firing since now."
            " `lineward runbook MarquezEventsSetAside` prints what to do.",
        ),
    ),
    (
        {
            "lineage_notification_oldest_undelivered_seconds": "0x15 0+60x30",
            "lineage_notifications_undelivered": "0x15 2x30",
        },
        27,
        ExpectedAlert(
            "NotificationDeliveryStuck",
            {**SERVICE, "root": "delivery", "severity": "page", "reach": "outside"},
            "A notification has not been delivered for 11m 0s",
            "The oldest notification has waited for 11m 0s (limit: 10m); 2 notifications are"
            " waiting. Their recipients have not been notified: inform them yourself. `lineward"
            " incidents` lists the open incidents with their owners. Firing since now. `lineward"
            " runbook NotificationDeliveryStuck` prints what to do.",
        ),
    ),
    (
        {"lineage_notification_failed_total": "0x10 0+1x50"},
        27,
        ExpectedAlert(
            "NotificationDeliveryFailing",
            {**SERVICE, "root": "delivery", "severity": "ticket"},
            "Attempts to deliver notifications have been failing for 15m",
            "15 delivery attempts failed in the last 15m (expected: 0), since"
            " 1970-01-01 00:12:00 +0000 UTC. Most frequent failures (reason and channel):"
            " not_authed slack:C1. 0 notifications are waiting and are retried. What a provider"
            " rejects (invalid token, unknown channel) is not retried: correct the channel. Then"
            " run `lineward act requeue-notifications CHANNEL`, read the plan, and run it with"
            " `--yes`. With the reason `no_way` of the channel `nobody`, nobody was notified: call"
            " the owner. `lineward runbook NotificationDeliveryFailing` prints what to do.",
        ),
    ),
]


@pytest.mark.parametrize(
    ("faults", "minute", "expected"), CASES, ids=[one[2].name for one in CASES]
)
def test_each_fault_alerts_in_its_minute_and_alone(
    tmp_path: Path, faults: dict[str, str], minute: int, expected: ExpectedAlert
):
    """Fire the alert of this fault in its minute, and no alert a minute earlier."""
    series = healthy(MINUTES, **faults)

    assert alert_differences(tmp_path, FEW, series, At(minute - 1), At(minute, (expected,))) == ""


@pytest.mark.parametrize("name", ["LineageSpoolGrowing", "LineageIngestionStopped"])
def test_without_a_spool_beside_the_service_the_collector_counts_waiting_events(
    tmp_path: Path, name: str
):
    """Use the collector's count, since the pipeline's own is absent there."""
    faults, minute, expected = next(case for case in CASES if case[2].name == name)
    series = healthy(MINUTES, **faults)
    counted_here = series.pop("lineage_pipeline_backlog_events")
    series["lineage_collector_spool_waiting_events"] = counted_here

    assert alert_differences(tmp_path, FEW, series, At(minute - 1), At(minute, (expected,))) == ""


def test_a_healthy_service_fires_the_watchdog_alone(tmp_path: Path):
    """Fire it from the first minute on, with new counters and events that Marquez set aside."""
    firing = 'ALERTS{alertstate="firing"}'
    watchdog = 'ALERTS{alertname="Watchdog",alertstate="firing",area="service"} 1'
    series = healthy(MINUTES)

    moments = [At(minute) for minute in (0, 1, 6, 30, 61, MINUTES)]
    assert alert_differences(tmp_path, rules_of(), series, *moments) == ""
    assert asked(tmp_path, rules_of(), series, 1, firing, watchdog) == ""


def test_missing_counters_alert(tmp_path: Path):
    """Alert for an SLI that was counted before; ignore an SLI without earlier counts."""
    series = healthy(MINUTES)
    for counter in ("total", "good"):
        series[counted(counter, "accuracy", "critical")] = "0+600x15 stale"
        del series[counted(counter, "query_latency", "all")]
    ticket = ExpectedAlert(
        "LineageSeriesAbsent",
        {
            **SERVICE,
            "root": "series",
            "severity": "ticket",
            "sli": "accuracy",
            "tier": "critical",
        },
        "The counters of sli=accuracy, tier=critical are missing",
        "lineage_sli_total of sli=accuracy, tier=critical existed within the last day (1 series)"
        " and has been absent for 10m: its objective is not monitored. `lineward runbook"
        " LineageSeriesAbsent` prints what to do.",
    )

    assert alert_differences(tmp_path, FEW, series, At(25), At(26, (ticket,))) == ""


def test_the_first_event_that_marquez_rejects_alerts(tmp_path: Path):
    """Alert although the counter of its reason begins with this event."""
    series = healthy(MINUTES)
    series['lineage_marquez_set_aside_total{reason="http_413"}'] = "_x70 2x30"
    case = next(alert for _, _, alert in CASES if alert.name == "MarquezEventsSetAside")

    assert alert_differences(tmp_path, FEW, series, At(69), At(70, (case,))) == ""

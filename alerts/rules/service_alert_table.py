"""Alerts on Lineward itself: while it is down, nobody is notified of anything else.

They stand in the order in which lineage passes the roles. A page goes outside if its fault can keep
the service from answering Alertmanager or from sending: no service, no policy, a catalog that
cannot be read or written, a full disk, a delivery that is stuck.

A description may hold `{since}`, since when the alert fires, and the names of the row's `figures`.
"""

from typing import Final

from alerts.rules import service_queries as queries
from alerts.rules.model import OUTAGE_LABEL, ServiceAlert
from alerts.rules.promql import equal, list_template, none_of, one_of, query_template
from lineage.states import PAGE, TICKET

ROLE_FAILING: Final = "LineageRoleFailing"
INGESTING: Final = ("collector", "pipeline")
_SERVICE: Final = "service"  # this role cannot notify of its own failure

_VALUE: Final = "{{ $value | humanize }}"
_COUNT: Final = '{{ $value | printf "%.0f" }}'
_DURATION: Final = "{{ $value | humanizeDuration }}"
_PODS: Final = "on Kubernetes begin with `kubectl -n NAMESPACE get pods`"
FIRST_LOOK: Final = f"Run `lineward status`; {_PODS}."
_ROLE: Final = "{{ $labels.role }}"
_SERIES: Final = "sli={{ $labels.sli }}, tier={{ $labels.tier }}"
_UNDELIVERED: Final = query_template(
    "max(lineage_notifications_undelivered)", "humanize", "an unknown number of"
)
_FAILURES: Final = list_template(
    queries.FREQUENT_FAILURES, "{{ .Labels.reason }} {{ .Labels.channel }}"
)


def _role_failing(roles: str, severity: str, *, is_outside: bool = False) -> ServiceAlert:
    return ServiceAlert(
        name=ROLE_FAILING,
        severity=severity,
        root="role",
        is_outside=is_outside,
        expr=queries.role_failing(roles),
        hold="5m",
        by=("role",),
        summary=f"Role {_ROLE} of Lineward is failing",
        description=(
            f"The role {_ROLE} has failed for 5m, since {{since}}: it is not running, or it reports"
            " a failure. `lineward status` shows the error, the number of attempts and the log"
            f" file; {_PODS}."
        ),
    )


SERVICE_ALERTS: Final = (
    ServiceAlert(
        name="LineageCollectorDown",
        severity=PAGE,
        root=OUTAGE_LABEL,
        expr=queries.COLLECTOR_DOWN,
        hold="1m",
        summary="Collector is down: events sent over HTTP are being lost",
        description=(
            "The collector has sent no heartbeat for 1m (normally one each second), since {since}."
            f" Events that jobs send over HTTP are being lost. {FIRST_LOOK}"
        ),
    ),
    ServiceAlert(
        name="LineageSpoolFailing",
        severity=PAGE,
        root=OUTAGE_LABEL,
        is_outside=True,
        expr=queries.SPOOL_FAILING,
        summary="Collector cannot write to its spool",
        description=(
            f"{_COUNT} group commits of the spool failed in 5m (disk full, spool full, or failed"
            " fsync), since {since}. The collector answers 503; senders that do not retry lose"
            " their events. If the disk of the data folder is full (`lineward status` names it),"
            " free space on it. Never delete spool.db. If the spool has reached its maximum size,"
            " its reader has stopped: the pipeline, or with a log in Kafka the shipper."
        ),
    ),
    ServiceAlert(
        name="LineageSpoolDamaged",
        severity=PAGE,
        root="spool",
        expr=queries.SPOOL_DAMAGED,
        summary=f"Collector spool was damaged {_DURATION} ago",
        description=(
            f"The spool was damaged, or acknowledged events were missing from it, {_DURATION} ago."
            " The collector repaired the spool and accepts events. In total, at most {lost} events"
            " were lost before the pipeline read them. Check the disk (`sudo dmesg`). Have"
            " producers send their events again."
        ),
        figures={
            "lost": query_template(
                "max(lineage_collector_spool_lost_events_total)", "humanize", "an unknown number"
            )
        },
    ),
    ServiceAlert(
        name="LineageSpoolGrowing",
        severity=TICKET,
        root="backlog",
        expr=queries.SPOOL_GROWING,
        hold="15m",
        summary=f"{_VALUE} events wait for the pipeline, and their number is growing",
        description=(
            f"{_VALUE} events are in the log and not yet in the catalog, growing by {{growth}} a"
            " minute since {since}. The fullest spool uses {used} of its maximum size; when it is"
            " full, its collector answers 503."
        ),
        figures={
            "growth": query_template(queries.GROWTH_PER_MINUTE, "humanize", "an unknown number"),
            "used": query_template(queries.SPOOL_USED, "humanizePercentage", "an unknown part"),
        },
    ),
    ServiceAlert(
        name="LineageShipperStopped",
        severity=PAGE,
        root=OUTAGE_LABEL,
        expr=queries.SHIPPER_STOPPED,
        hold="2m",
        summary=f"Shippers that send nothing to Kafka: {_VALUE}",
        description=(
            f"Shippers that are down, or whose oldest event has waited for over 5m: {_VALUE}. Kafka"
            " does not accept events, or a shipper does not run or hangs. The oldest event has"
            " waited for {lag}. Shippers hold {waiting} events; {failures} attempts to send failed"
            " in the last 5m. The spools of the collectors keep the events until they are full."
            f" Firing since {{since}}. {FIRST_LOOK}"
        ),
        figures={
            "lag": query_template(queries.SHIPPER_LAG, "humanizeDuration", "an unknown time"),
            "waiting": query_template(queries.SHIPPERS_WAITING, "humanize", "an unknown number of"),
            "failures": query_template(
                queries.SHIPPER_FAILURES, "humanize", "an unknown number of"
            ),
        },
    ),
    ServiceAlert(
        name="LineageIngestionStopped",
        severity=PAGE,
        root=OUTAGE_LABEL,
        expr=queries.INGESTION_STOPPED,
        hold="1m",
        summary=f"No event has reached the catalog for {_DURATION}",
        description=(
            f"The pipeline committed its last batch {_DURATION} ago (limit: 5m while events wait),"
            " and {waiting} events have waited for 5m. No incident of a dataset opens meanwhile:"
            f" nobody is notified of late data. Firing since {{since}}. {FIRST_LOOK}"
        ),
        figures={"waiting": query_template(queries.WAITED_5M, "humanize", "an unknown number of")},
    ),
    ServiceAlert(
        name="LineageEventsSetAside",
        severity=TICKET,
        root="events",
        expr=queries.EVENTS_SET_ASIDE,
        summary=f"{_VALUE} events are set aside: the pipeline cannot process them",
        description=(
            f"{_VALUE} events failed while other events were stored, and have not been posted"
            " again, since {since}. Their runs are missing from the catalog. `lineward act"
            " requeue-set-aside` lists them by error."
        ),
    ),
    ServiceAlert(
        name="LineageEvaluationStale",
        severity=PAGE,
        root=OUTAGE_LABEL,
        expr=queries.EVALUATION_STALE,
        hold="1m",
        summary=f"SLIs were last evaluated {_DURATION} ago",
        description=(
            f"The last evaluation was {_DURATION} ago (limit: 2m; a negative time means that a"
            " clock was ahead). Until the next evaluation, good datasets are shown as unknown, bad"
            " ones stay bad, and gauges of current states are not exported. No incident of a"
            " dataset opens meanwhile: nobody is notified of late data. Firing since {since}."
            f" {FIRST_LOOK}"
        ),
    ),
    ServiceAlert(
        name="LineageEvaluationAbsent",
        severity=PAGE,
        root=OUTAGE_LABEL,
        is_outside=True,
        expr=f"absent({queries.EVALUATED})",
        hold="5m",
        summary="SLI evaluation unknown: datasets are not watched",
        description=(
            f"{queries.EVALUATED} has been absent for 5m, since {{since}}: no evaluation has ended"
            " yet, the catalog cannot be read (lineage_catalog_readable: {readable}; 1 is good), or"
            f" no service leads (lineage_service_leader: {{leader}}; 1 is good). {FIRST_LOOK}"
        ),
        figures={
            "readable": query_template("max(lineage_catalog_readable)", "humanize", "unknown"),
            "leader": query_template("max(lineage_service_leader)", "humanize", "unknown"),
        },
    ),
    ServiceAlert(
        name="LineageSeriesAbsent",
        severity=TICKET,
        root="series",
        expr=queries.SERIES_ABSENT,
        hold="10m",
        by=("sli", "tier"),
        summary=f"The counters of {_SERIES} are missing",
        description=(
            f"lineage_sli_total of {_SERIES} existed within the last day ({{{{ $value }}}} series)"
            " and has been absent for 10m: its objective is not monitored."
        ),
    ),
    ServiceAlert(
        name="LineageLimitsFailing",
        severity=TICKET,
        root="limits",
        expr=queries.LIMITS_FAILING,
        hold="10m",
        summary=f"{_VALUE} datasets have no freshness limit because of an error of Lineward",
        description=(
            f"Lineward failed to learn the limit of {_VALUE} datasets, since {{since}}. Their"
            " freshness is unknown; all other datasets are evaluated as usual. In the list of"
            " `lineward datasets --state unknown`, these datasets have the reason `limit_failed`."
        ),
    ),
    _role_failing(equal("role", _SERVICE), PAGE, is_outside=True),
    _role_failing(one_of("role", INGESTING), PAGE),
    _role_failing(none_of("role", (_SERVICE, *INGESTING)), TICKET),
    ServiceAlert(
        name="PolicyRejected",
        severity=TICKET,
        root="policy",
        expr=queries.POLICY_REJECTED,
        hold="2m",
        by=("role",),
        summary=f"The {_ROLE} rejects the policy file",
        description=(
            f"The {_ROLE} has rejected the policy file for 2m, since {{since}}. The previous policy"
            " stays in force until the file is valid. Do not restart the role before: it would have"
            " no policy, or not start. `lineward status` shows the error."
        ),
    ),
    ServiceAlert(
        name="PolicyNotInForce",
        severity=PAGE,
        root="policy",
        is_outside=True,
        expr=queries.POLICY_NOT_IN_FORCE,
        hold="2m",
        by=("role",),
        summary=f"The {_ROLE} has no valid policy",
        description=(
            f"The {_ROLE} started with an invalid policy file and has had no policy for 2m, since"
            " {since}. Until the file is valid, a service without a policy rejects all requests,"
            " also Alertmanager's. Incidents and notifications use the last valid policy; without"
            " one, notifications go to the fallback channel; if none is set, nobody is notified."
            " `lineward policy check FILE` shows the errors of the file."
        ),
    ),
    ServiceAlert(
        name="MarquezForwardingStopped",
        severity=TICKET,
        root="marquez",
        expr=queries.FORWARDING_STOPPED,
        hold="5m",
        summary="Marquez has accepted no event for 15m",
        description=(
            f"At least {_VALUE} events have waited for Marquez for 15m, and Marquez has accepted"
            " none (lineage_marquez_up: {up}). They stay in the spool until it is nearly full."
            " Firing since {since}."
        ),
        figures={"up": query_template("max(lineage_marquez_up)", "humanize", "unknown")},
    ),
    ServiceAlert(
        name="MarquezEventsLost",
        severity=TICKET,
        root="marquez",
        expr=queries.risen("lineage_marquez_unforwarded_total"),
        summary=f"{_VALUE} events were not forwarded to Marquez",
        description=(
            f"In the last hour, {_VALUE} events left a full spool before Marquez had accepted them"
            " (lineage_marquez_unforwarded_total; expected: 0). Firing since {since}."
        ),
    ),
    ServiceAlert(
        name="MarquezEventsSetAside",
        severity=TICKET,
        root="marquez",
        expr=queries.risen("lineage_marquez_set_aside_total"),
        summary=f"{_VALUE} events were not accepted by Marquez",
        description=(
            f"In the last hour, {_VALUE} events that Marquez did not accept were set aside"
            " (lineage_marquez_set_aside_total, by reason; expected: 0). Firing since {since}."
        ),
    ),
    ServiceAlert(
        name="NotificationDeliveryStuck",
        severity=PAGE,
        root="delivery",
        is_outside=True,
        expr=queries.DELIVERY_STUCK,
        summary=f"A notification has not been delivered for {_DURATION}",
        description=(
            f"The oldest notification has waited for {_DURATION} (limit: 10m); {{undelivered}}"
            " notifications are waiting. Their recipients have not been notified: inform them"
            " yourself. `lineward incidents` lists the open incidents with their owners. Firing"
            " since {since}."
        ),
        figures={"undelivered": _UNDELIVERED},
    ),
    ServiceAlert(
        name="NotificationDeliveryFailing",
        severity=TICKET,
        root="delivery",
        expr=queries.DELIVERY_FAILING,
        hold="15m",
        summary="Attempts to deliver notifications have been failing for 15m",
        description=(
            f"{_COUNT} delivery attempts failed in the last 15m (expected: 0), since {{since}}."
            " Most frequent failures (reason and channel): {failures}. {undelivered} notifications"
            " are waiting and are retried. What a provider rejects (invalid token, unknown channel)"
            " is not retried: correct the channel. Then run `lineward act requeue-notifications"
            " CHANNEL`, read the plan, and run it with `--yes`. With the reason `no_way` of the"
            " channel `nobody`, nobody was notified: call the owner."
        ),
        figures={"undelivered": _UNDELIVERED, "failures": _FAILURES},
    ),
)

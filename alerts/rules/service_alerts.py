"""Alerts on Lineward itself."""

from typing import Final

import msgspec

from alerts.rules import service_queries as queries
from alerts.rules.model import OUTAGE_LABEL, AlertRule, ServiceAlert
from alerts.rules.promql import quote
from alerts.rules.service_alert_table import FIRST_LOOK, SERVICE_ALERTS
from lineage.states import PAGE

WATCHDOG: Final = "Watchdog"
SCRAPE_DOWN: Final = "LinewardScrapeDown"


class ScrapeJobs(msgspec.Struct, frozen=True):
    """Names of Prometheus' scrape jobs (`job_name` of its configuration)."""

    service: str = "lineward"
    collector: str = "lineward-collector"
    shipper: str = "lineward-shipper"


def watchdog() -> AlertRule:
    """Return the alert that always fires: its absence means that alerting is down."""
    return AlertRule(
        name=WATCHDOG,
        expr="vector(1)",
        severity=None,
        owner=None,
        about={"area": "service"},
        summary="Prometheus and Alertmanager work",
        description=(
            "This alert always fires. Its external receiver raises an alarm when the alert is"
            " missing for 10m: then Prometheus, Alertmanager or the network path is down."
        ),
    )


def service_alerts(owner: str, jobs: ScrapeJobs) -> tuple[AlertRule, ...]:
    """Return the alerts, in the order in which lineage passes the roles."""
    scraped = ((jobs.service, True), (jobs.collector, False))
    return (
        *(_scrape_down(job, owner, is_outside=is_outside) for job, is_outside in scraped),
        *(_with_job(row, jobs).alert(owner) for row in SERVICE_ALERTS),
    )


def _with_job(row: ServiceAlert, jobs: ScrapeJobs) -> ServiceAlert:
    expr = row.expr.replace(quote(queries.SHIPPER_JOB), quote(jobs.shipper))
    return msgspec.structs.replace(row, expr=expr)


def _scrape_down(job: str, owner: str, *, is_outside: bool) -> AlertRule:
    row = ServiceAlert(
        name=SCRAPE_DOWN,
        severity=PAGE,
        root=OUTAGE_LABEL,
        is_outside=is_outside,
        expr=queries.scrape_down(job),
        hold="2m",
        by=("job",),
        summary="Prometheus cannot scrape {{ $labels.job }}",
        description=(
            "No target of the scrape job {{ $labels.job }} has answered for 2m, since {since}: all"
            " targets are down, or Prometheus has no target of this job. Alerts on the metrics of"
            f" this job cannot fire. {FIRST_LOOK} If no shell opens, read"
            f" runbooks/pages/{SCRAPE_DOWN}.md in Lineward's repository."
        ),
    )
    return row.alert(owner)

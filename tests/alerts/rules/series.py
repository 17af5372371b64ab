"""Series of a healthy service, as Prometheus scrapes them each minute."""

from alerts.rules.budgets import load_budgets
from lineage.policy import DEFAULT

_STEP = 600  # dataset-seconds or events a minute
HEALTH = {
    'up{job="lineward",instance="a:8702"}': "1x{n}",
    'up{job="lineward-collector",instance="a:8700"}': "1x{n}",
    "lineage_catalog_readable": "1x{n}",
    "lineage_service_leader": "1x{n}",
    "lineage_sli_evaluated_timestamp_seconds": "0+60x{n}",
    "lineage_pipeline_batch_timestamp_seconds": "0+60x{n}",
    "lineage_pipeline_backlog_events": "5x{n}",
    "lineage_collector_alive": "1x{n}",
    "lineage_limit_failures": "0x{n}",
    "lineage_events_set_aside": "0x{n}",
    "lineage_collector_commit_failures_total": "0x{n}",
    "lineage_collector_spool_damaged_timestamp_seconds": "-90000x{n}",
    "lineage_collector_spool_lost_events_total": "4x{n}",
    "lineage_collector_spool_waiting_events": "7x{n}",
    "lineage_collector_spool_bytes": "300x{n}",
    "lineage_collector_spool_max_bytes": "1000x{n}",
    'up{job="lineward-shipper",instance="c:8703"}': "1x{n}",
    "lineage_shipper_lag_seconds": "2x{n}",
    "lineage_shipper_waiting_events": "3x{n}",
    "lineage_shipper_failures_total": "0x{n}",
    "lineage_marquez_up": "1x{n}",
    "lineage_marquez_forwarded_total": "0+10x{n}",
    "lineage_marquez_forward_backlog_events": "3x{n}",
    "lineage_marquez_unforwarded_total": "0x{n}",
    'lineage_marquez_set_aside_total{reason="http_400"}': "7x{n}",
    'lineage_role_working{role="collector"}': "1x{n}",
    'lineage_role_working{role="marquez"}': "1x{n}",
    'lineage_role_working{role="pipeline"}': "1x{n}",
    'lineage_role_working{role="service"}': "1x{n}",
    'lineage_policy_rejected{role="service"}': "0x{n}",
    'lineage_policy_in_force{role="service"}': "1x{n}",
    "lineage_notifications_undelivered": "0x{n}",
    "lineage_notification_oldest_undelivered_seconds": "0x{n}",
    'lineage_notification_failed_total{channel="slack:C1",reason="not_authed"}': "0x{n}",
}


def healthy(minutes: int, **faults: str) -> dict[str, str]:
    """Return all series; `faults` are values of metrics that differ, by names or with labels."""
    series = {name: values.format(n=minutes) for name, values in HEALTH.items()}
    for one in load_budgets(DEFAULT):
        for counter in ("total", "good"):
            series[counted(counter, one.sli.name, one.tier)] = f"0+{_STEP}x{minutes}"
    for metric, values in faults.items():
        name = next(name for name in series if metric in {name, name.split("{")[0]})
        series[name] = values
    return series


def counted(
    counter: str, sli: str, tier: str, *, epoch: str = "e1", origin: str = "declared"
) -> str:
    """Return the name of the counter of all, good or explained events."""
    metric = "lineage_sli_total" if counter == "total" else f"lineage_sli_{counter}_total"
    return f'{metric}{{sli="{sli}",tier="{tier}",tier_origin="{origin}",epoch="{epoch}"}}'


def values(*spans: tuple[int, float], start: float = 0) -> str:
    """Return a counter that rises by so much a minute for so many minutes, span after span."""
    level, found = start, [f"{start:g}"]
    for minutes, step in spans:
        found.append(f"{level + step:.10g}+{step:.10g}x{minutes - 1}")
        level += step * minutes
    return " ".join(found)


def burning(
    sli: str, tier: str, *spans: tuple[int, float], explained: bool = False, step: float = 600
) -> dict[str, str]:
    """Return counters of which a share is bad for so many minutes, span after span."""
    total = values(*((minutes, step) for minutes, _ in spans))
    good = values(*((minutes, step * (1 - share)) for minutes, share in spans))
    found = {counted("total", sli, tier): total, counted("good", sli, tier): good}
    if explained:
        increases = values(*((minutes, step * share) for minutes, share in spans))
        found[counted("explained", sli, tier)] = increases
    return found

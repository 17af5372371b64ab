"""PromQL of the alerts on Lineward itself.

Gauges are read from the catalog by the service that leads. During a change of the leader two
services may export them: the highest value is taken.
"""

from typing import Final

from alerts.rules.promql import bridge, selector

# As the service counts events that wait; where no spool is beside it, as the collector does.
_WAITING: Final = ("lineage_pipeline_backlog_events", "lineage_collector_spool_waiting_events")
EVALUATED: Final = "lineage_sli_evaluated_timestamp_seconds"
_BATCH: Final = "lineage_pipeline_batch_timestamp_seconds"
# As long as the alerts on an age hold: the age of a last value grows, and would fire by itself.
_BRIDGED: Final = "1m"


def waiting(function: str) -> str:
    """Return a query: this function of the number of events that wait for the pipeline."""
    return f"({' or '.join(f'max({function.format(name)})' for name in _WAITING)})"


def scrape_down(job: str) -> str:
    """Return a query for a scrape job without a target that is up."""
    up = selector("up", job=job)
    return f"max by (job) ({up}) == 0\nor\nabsent({up})"


def role_failing(roles: str) -> str:
    """Return a query for failing roles; each `lineward up` has its own: the lowest is taken."""
    return f"min by (role) (lineage_role_working{{{roles}}}) == 0"


def risen(counter: str) -> str:
    """Return a query for a counter of the catalog that rose in the last hour, or began above 0.

    Its value when Prometheus first saw the catalog does not count: it may be years old.
    """
    # Several services, or one that got another address, export the same counter.
    now = f"sum(max by (reason) ({bridge(counter)}))"
    before = f"sum(max by (reason) (last_over_time({counter}[1d] offset 1h)))"
    known = "max(last_over_time(lineage_catalog_readable[1d] offset 1h))"
    return f"{now} - ({before} or 0 * {known}) > 0"


_GROWN: Final = waiting("deriv({}[30m])")
_BATCH_AGE: Final = f"time() - max({bridge(_BATCH, _BRIDGED)})"
_EVALUATION_AGE: Final = f"time() - max({bridge(EVALUATED, _BRIDGED)})"

GROWTH_PER_MINUTE: Final = f"{_GROWN} * 60"
SPOOL_USED: Final = "max(lineage_collector_spool_bytes / lineage_collector_spool_max_bytes)"
WAITED_5M: Final = waiting("min_over_time({}[5m])")

COLLECTOR_DOWN: Final = "max(lineage_collector_alive) == 0"
SPOOL_FAILING: Final = "sum(increase(lineage_collector_commit_failures_total[5m])) > 0"
SPOOL_DAMAGED: Final = (
    "time() - max(lineage_collector_spool_damaged_timestamp_seconds) < 3600"  # shown for 1h
)
SPOOL_GROWING: Final = f"{waiting('{}')} > 10000\nand\n{_GROWN} > 0"
# NaN while the shipper cannot read its spool: a comparison drops it.
SHIPPERS_WAITING: Final = "sum(lineage_shipper_waiting_events >= 0)"
SHIPPER_LAG: Final = "max(lineage_shipper_lag_seconds >= 0)"
SHIPPER_JOB: Final = "$shipper_job"  # stands for the name of the scrape job
# One that does not run has no lag.
SHIPPER_STOPPED: Final = (
    f"count(lineage_shipper_lag_seconds > 300\nor\n{selector('up', job=SHIPPER_JOB)} == 0) > 0"
)
SHIPPER_FAILURES: Final = "sum(increase(lineage_shipper_failures_total[5m]))"
INGESTION_STOPPED: Final = f"({_BATCH_AGE} > 300)\nand\n{WAITED_5M} > 0"
EVENTS_SET_ASIDE: Final = f"max({bridge('lineage_events_set_aside')}) > 0"
EVALUATION_STALE: Final = f"{_EVALUATION_AGE} > 120\nor\n{_EVALUATION_AGE} < -120"
SERIES_ABSENT: Final = (
    "count by (sli, tier) (last_over_time(lineage_sli_total[1d]))"
    "\nunless\ncount by (sli, tier) (lineage_sli_total)"
)
LIMITS_FAILING: Final = f"max({bridge('lineage_limit_failures')}) > 0"
POLICY_REJECTED: Final = f"max by (role) ({bridge('lineage_policy_rejected')}) == 1"
# Of several services, the one without a policy rejects all requests.
POLICY_NOT_IN_FORCE: Final = f"min by (role) ({bridge('lineage_policy_in_force')}) == 0"
FORWARDING_STOPPED: Final = (
    "max(min_over_time(lineage_marquez_forward_backlog_events[15m])) > 0"
    "\nand\nsum(increase(lineage_marquez_forwarded_total[15m])) == 0"
)
DELIVERY_STUCK: Final = f"max({bridge('lineage_notification_oldest_undelivered_seconds')}) > 600"
_FAILURES: Final = "increase(lineage_notification_failed_total[15m])"
DELIVERY_FAILING: Final = f"sum({_FAILURES}) > 0"
FREQUENT_FAILURES: Final = f"sort_desc(topk(3, sum by (channel, reason) ({_FAILURES}) > 0))"

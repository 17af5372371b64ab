"""Alerts on Lineward itself: without it, nobody hears of anything else.

Gauges are read from the catalog, so that several services show the same: the highest is taken.
"""

from collections.abc import Iterator
from typing import Final

import msgspec

from alerts.rules.model import Alert, since
from alerts.rules.promql import asked, selector
from alerts.rules.windows import PAGE, TICKET

WATCHDOG: Final = "Watchdog"
SCRAPE_DOWN: Final = "LinewardScrapeDown"
OUTAGE: Final = {"area": "service", "root": "ingestion"}  # no lineage comes in
_EVALUATED: Final = "lineage_sli_evaluated_timestamp_seconds"
# As the service counts it; where no spool is beside the service, as the collector does.
_WAITING: Final = ("lineage_pipeline_backlog_events", "lineage_collector_spool_waiting_events")
OUTSIDE: Final = {"reach": "outside"}  # told by somebody other than the service


class Jobs(msgspec.Struct, frozen=True):
    """What Prometheus calls the targets (`job_name` of its scrape configuration)."""

    service: str = "lineward"
    collector: str = "lineward-collector"


def of_root(root: str) -> dict[str, str]:
    """Labels: what one cause makes true is one message."""
    return {"area": "service", "root": root}


def watchdog() -> Alert:
    """Fires always: who hears it no longer knows that alerting is dead."""
    return Alert(
        name=WATCHDOG,
        expr="vector(1)",
        severity=None,
        owner=None,
        about={"area": "service"},
        summary="Prometheus and Alertmanager work",
        description=(
            "Fires always. Whoever receives it outside has to raise the alarm when it stays away"
            " for 10m: then Prometheus, Alertmanager or the way out is dead."
        ),
    )


def health(owner: str, jobs: Jobs) -> Iterator[Alert]:
    """What is told of the roles, in the order in which lineage passes them."""
    yield _scrape_down(jobs.service, owner, {**OUTAGE, **OUTSIDE})
    yield _scrape_down(jobs.collector, owner, OUTAGE)
    yield _collector_down(owner)
    yield _spool_failing(owner)
    yield _spool_damaged(owner)
    yield _spool_growing(owner)
    yield _ingestion_stopped(owner)
    yield _events_set_aside(owner)
    yield _evaluation_stale(owner)
    yield _evaluation_absent(owner)
    yield _series_absent(owner)
    yield _limits_failing(owner)
    yield _policy_rejected(owner)
    yield _policy_not_in_force(owner)


def _scrape_down(job: str, owner: str, about: dict[str, str]) -> Alert:
    up = selector("up", job=job)
    return Alert(
        name=SCRAPE_DOWN,
        expr=f"max by (job) ({up}) == 0\nor\nabsent({up})",
        hold="2m",
        severity=PAGE,
        owner=owner,
        about=about,
        summary="Prometheus gets no answer from {{ $labels.job }}",
        description=(
            "No target of the scrape job {{ $labels.job }} has answered Prometheus for 2m, since"
            f" {since(SCRAPE_DOWN, job=job)}: nothing that it tells can be alerted on."
        ),
    )


def _collector_down(owner: str) -> Alert:
    return Alert(
        name="LineageCollectorDown",
        expr="max(lineage_collector_alive) == 0",
        hold="1m",
        severity=PAGE,
        owner=owner,
        about=OUTAGE,
        summary="The collector does not live: events are lost",
        description=(
            "The collector has not beaten for 1m (it does each second), since"
            f" {since('LineageCollectorDown')}. What jobs send over HTTP now is lost."
        ),
    )


def _spool_failing(owner: str) -> Alert:
    failures = "increase(lineage_collector_commit_failures_total[5m])"
    return Alert(
        name="LineageSpoolFailing",
        expr=f"sum({failures}) > 0",
        severity=PAGE,
        owner=owner,
        about=OUTAGE,
        summary="The collector cannot write to its spool",
        description=(
            '{{ $value | printf "%.0f" }} group commits of the spool failed in 5m (disk full, spool'
            f" full, or failed fsync), since {since('LineageSpoolFailing')}. Senders are answered"
            " 503; those that do not repeat lose their events."
        ),
    )


def _spool_damaged(owner: str) -> Alert:
    age = "time() - max(lineage_collector_spool_damaged_timestamp_seconds)"
    lost = asked("max(lineage_collector_spool_lost_events_total)", "humanize", "an unknown number")
    return Alert(
        name="LineageSpoolDamaged",
        expr=f"{age} < 3600",
        severity=PAGE,
        owner=owner,
        about=of_root("spool"),
        summary="The collector's spool was damaged {{ $value | humanizeDuration }} ago",
        description=(
            "The spool was damaged, or acknowledged events were missing from it,"
            " {{ $value | humanizeDuration }} ago. The collector repaired it and goes on. At most"
            f" {lost} events that the pipeline had not read were lost in all."
        ),
    )


def _events_set_aside(owner: str) -> Alert:
    return Alert(
        name="LineageEventsSetAside",
        expr="max(lineage_events_set_aside) > 0",
        severity=TICKET,
        owner=owner,
        about=of_root("events"),
        summary="{{ $value | humanize }} events are set aside: the pipeline cannot land them",
        description=(
            "{{ $value | humanize }} events failed alone while others landed, and were not posted"
            f" again, since {since('LineageEventsSetAside')}. Their runs are missing in the"
            " catalog; `lineward act requeue-set-aside` lists them by error."
        ),
    )


def _spool_growing(owner: str) -> Alert:
    grown = _waiting("deriv({}[30m])")
    growth = asked(f"{grown} * 60", "humanize", "an unknown number")
    used = "max(lineage_collector_spool_bytes / lineage_collector_spool_max_bytes)"
    share = asked(used, "humanizePercentage", "an unknown part")
    return Alert(
        name="LineageSpoolGrowing",
        expr=f"{_waiting('{}')} > 10000\nand\n{grown} > 0",
        hold="15m",
        severity=TICKET,
        owner=owner,
        about=of_root("backlog"),
        summary="{{ $value | humanize }} events wait in the spool, and more come than leave",
        description=(
            "{{ $value | humanize }} events are spooled and not in the catalog, growing by"
            f" {growth} a minute since {since('LineageSpoolGrowing')}. The spool holds {share} of"
            " what it may; full, it answers 503."
        ),
    )


def _waiting(function: str) -> str:
    """PromQL: that function of how many events the pipeline has not taken."""
    return f"({' or '.join(f'max({function.format(name)})' for name in _WAITING)})"


def _ingestion_stopped(owner: str) -> Alert:
    age = "time() - max(lineage_pipeline_batch_timestamp_seconds)"
    waiting = _waiting("min_over_time({}[5m])")
    return Alert(
        name="LineageIngestionStopped",
        expr=f"({age} > 300)\nand\n{waiting} > 0",
        hold="1m",
        severity=PAGE,
        owner=owner,
        about=OUTAGE,
        summary="No event has reached the catalog for {{ $value | humanizeDuration }}",
        description=(
            "The pipeline's last batch was committed {{ $value | humanizeDuration }} ago (at most"
            f" 5m while events wait), and {asked(waiting, 'humanize', 'unknown many')} events have"
            f" waited for 5m. Told since {since('LineageIngestionStopped')}."
        ),
    )


def _evaluation_stale(owner: str) -> Alert:
    age = f"time() - max({_EVALUATED})"
    return Alert(
        name="LineageEvaluationStale",
        expr=f"{age} > 120\nor\n{age} < -120",
        hold="1m",
        severity=PAGE,
        owner=owner,
        about=OUTAGE,
        summary="The SLIs were last evaluated {{ $value | humanizeDuration }} ago",
        description=(
            "The last evaluation was {{ $value | humanizeDuration }} ago (at most 2m; below zero by"
            " a clock that was ahead). Until there is one of now nobody knows how any dataset is,"
            f" and gauges of now are left out. Told since {since('LineageEvaluationStale')}."
        ),
    )


def _evaluation_absent(owner: str) -> Alert:
    readable = asked("max(lineage_catalog_readable)", "humanize", "unknown")
    return Alert(
        name="LineageEvaluationAbsent",
        expr=f"absent({_EVALUATED})",
        hold="5m",
        severity=PAGE,
        owner=owner,
        about=OUTAGE,
        summary="Nothing says when the SLIs were last evaluated",
        description=(
            f"{_EVALUATED} has been absent for 5m, since {since('LineageEvaluationAbsent')}:"
            f" no evaluation ever ended, or the catalog cannot be read (readable: {readable})."
        ),
    )


def _series_absent(owner: str) -> Alert:
    before = "count by (sli, tier) (last_over_time(lineage_sli_total[1d]))"
    own = "sli={{ $labels.sli }}, tier={{ $labels.tier }}"
    return Alert(
        name="LineageSeriesAbsent",
        expr=f"{before}\nunless\ncount by (sli, tier) (lineage_sli_total)",
        hold="10m",
        severity=TICKET,
        owner=owner,
        about=of_root("series"),
        summary=f"The counters of {own} are gone",
        description=(
            f"lineage_sli_total of {own} was there within the last day ({{{{ $value }}}} series)"
            " and has been absent for 10m: its objective is watched by nobody."
        ),
    )


def _limits_failing(owner: str) -> Alert:
    return Alert(
        name="LineageLimitsFailing",
        expr="max(lineage_limit_failures) > 0",
        hold="10m",
        severity=TICKET,
        owner=owner,
        about=of_root("limits"),
        summary="{{ $value | humanize }} datasets have no limit because of an error of Lineward",
        description=(
            "Lineward failed to learn the limit of {{ $value | humanize }} datasets, since"
            f" {since('LineageLimitsFailing')}. Their freshness is unknown; all other datasets are"
            " evaluated as usual."
        ),
    )


def _policy_rejected(owner: str) -> Alert:
    return Alert(
        name="PolicyRejected",
        expr="max by (role) (lineage_policy_rejected) == 1",
        hold="2m",
        severity=TICKET,
        owner=owner,
        about=of_root("policy"),
        summary="The {{ $labels.role }} rejects the policy file",
        description=(
            "The {{ $labels.role }} has rejected the policy file for 2m, since"
            f" {since('PolicyRejected')}. An older policy stays in force"
            " until the file is valid; after a restart there would be none. `lineward status` shows"
            " the error."
        ),
    )


def _policy_not_in_force(owner: str) -> Alert:
    return Alert(
        name="PolicyNotInForce",
        expr="max by (role) (lineage_policy_in_force) == 0",
        hold="2m",
        severity=PAGE,
        owner=owner,
        about=of_root("policy"),
        summary="The {{ $labels.role }} has no valid policy",
        description=(
            "The {{ $labels.role }} started with an invalid policy file and has had no policy for"
            f" 2m, since {since('PolicyNotInForce')}. Until the file is"
            " valid, no incident opens, nobody is notified, and the API answers nobody."
        ),
    )

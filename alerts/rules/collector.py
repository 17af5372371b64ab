"""Alerts on the collector: what is sent, and what waits in the spool."""

from collections.abc import Iterator
from typing import Final

from alerts.rules.burn_windows import PAGE, TICKET
from alerts.rules.model import Alert, since
from alerts.rules.promql import query_template
from alerts.rules.roots import OUTAGE, of_root

# As the service counts it; where no spool is beside the service, as the collector does.
_WAITING: Final = ("lineage_pipeline_backlog_events", "lineage_collector_spool_waiting_events")


def collector(owner: str) -> Iterator[Alert]:
    """Alerts on the collector, the most severe first."""
    yield _collector_down(owner)
    yield _spool_failing(owner)
    yield _spool_damaged(owner)
    yield _spool_growing(owner)


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
    lost = query_template(
        "max(lineage_collector_spool_lost_events_total)", "humanize", "an unknown number"
    )
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


def _spool_growing(owner: str) -> Alert:
    grown = waiting("deriv({}[30m])")
    growth = query_template(f"{grown} * 60", "humanize", "an unknown number")
    used = "max(lineage_collector_spool_bytes / lineage_collector_spool_max_bytes)"
    share = query_template(used, "humanizePercentage", "an unknown part")
    return Alert(
        name="LineageSpoolGrowing",
        expr=f"{waiting('{}')} > 10000\nand\n{grown} > 0",
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


def waiting(function: str) -> str:
    """PromQL: that function of how many events the pipeline has not taken."""
    return f"({' or '.join(f'max({function.format(name)})' for name in _WAITING)})"

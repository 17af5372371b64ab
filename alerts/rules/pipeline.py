"""Alerts on the pipeline: what is landed, and what is evaluated."""

from collections.abc import Iterator
from typing import Final

from alerts.rules.burn_windows import PAGE, TICKET
from alerts.rules.collector import waiting
from alerts.rules.model import Alert, since
from alerts.rules.promql import bridge, query_template
from alerts.rules.roots import OUTAGE, of_root

_EVALUATED: Final = "lineage_sli_evaluated_timestamp_seconds"
_BATCH: Final = "lineage_pipeline_batch_timestamp_seconds"
# As long as the alerts on an age hold: the age of a last value grows, and fires none by itself.
_BRIDGED: Final = "1m"


def pipeline(owner: str) -> Iterator[Alert]:
    """Alerts on the pipeline, in the order in which lineage passes it."""
    yield _ingestion_stopped(owner)
    yield _events_set_aside(owner)
    yield _evaluation_stale(owner)
    yield _evaluation_absent(owner)
    yield _series_absent(owner)
    yield _limits_failing(owner)


def _ingestion_stopped(owner: str) -> Alert:
    age = f"time() - max({bridge(_BATCH, _BRIDGED)})"
    events = waiting("min_over_time({}[5m])")
    return Alert(
        name="LineageIngestionStopped",
        expr=f"({age} > 300)\nand\n{events} > 0",
        hold="1m",
        severity=PAGE,
        owner=owner,
        about=OUTAGE,
        summary="No event has reached the catalog for {{ $value | humanizeDuration }}",
        description=(
            "The pipeline's last batch was committed {{ $value | humanizeDuration }} ago (at most"
            f" 5m while events wait), and {query_template(events, 'humanize', 'unknown many')}"
            f" events have waited for 5m. Told since {since('LineageIngestionStopped')}."
        ),
    )


def _events_set_aside(owner: str) -> Alert:
    return Alert(
        name="LineageEventsSetAside",
        expr=f"max({bridge('lineage_events_set_aside')}) > 0",
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


def _evaluation_stale(owner: str) -> Alert:
    age = f"time() - max({bridge(_EVALUATED, _BRIDGED)})"
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
    readable = query_template("max(lineage_catalog_readable)", "humanize", "unknown")
    leader = query_template("max(lineage_service_leader)", "humanize", "unknown")
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
            f" no evaluation ever ended, the catalog cannot be read (readable: {readable}), or no"
            f" service leads (leader: {leader})."
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
        expr=f"max({bridge('lineage_limit_failures')}) > 0",
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

"""Alerts on Lineward itself: without it, nobody hears of anything else.

Gauges are read from the catalog by the service that leads, for a moment perhaps by two: the highest
is taken.
"""

from collections.abc import Iterator
from typing import Final

import msgspec

from alerts.rules.burn_windows import PAGE
from alerts.rules.collector import collector
from alerts.rules.model import Alert, since
from alerts.rules.pipeline import pipeline
from alerts.rules.promql import selector
from alerts.rules.roles import roles
from alerts.rules.roots import OUTAGE, OUTSIDE

WATCHDOG: Final = "Watchdog"
SCRAPE_DOWN: Final = "LinewardScrapeDown"


class ScrapeJobs(msgspec.Struct, frozen=True):
    """What Prometheus calls the targets (`job_name` of its scrape configuration)."""

    service: str = "lineward"
    collector: str = "lineward-collector"


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


def health(owner: str, jobs: ScrapeJobs) -> Iterator[Alert]:
    """What is told of the roles, in the order in which lineage passes them."""
    yield _scrape_down(jobs.service, owner, {**OUTAGE, **OUTSIDE})
    yield _scrape_down(jobs.collector, owner, OUTAGE)
    yield from collector(owner)
    yield from pipeline(owner)
    yield from roles(owner)


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

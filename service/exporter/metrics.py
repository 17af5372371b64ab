"""Metrics of the service: read from the catalog at each scrape, so that counters survive restarts.

Names and labels are documented in `docs/metrics.md`. A dead pipeline shows no good figure: when the
last evaluation is stale, every gauge that rests on it is left out, and alerts see it absent.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime

import structlog
from prometheus_client.core import (
    GaugeMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from lineage.catalog.reader import CatalogReader, NoCatalogError, open_reader
from lineage.catalog.trouble import CatalogError
from lineage.policy import Policy
from lineage.process.clock import SECOND_MICROS, Clock, system_clock
from service.errors import RejectedInputError, UnreachableError
from service.exporter import metric_rows
from service.exporter.cached_metrics import CachedMetrics, recent_figures, size_figures
from service.exporter.datasets import (
    limit_failures,
    missed_changes,
    name_growth,
    pii_figures,
    standing_metrics,
)
from service.exporter.events import error_families, lag_families, set_aside_family, stage_figures
from service.exporter.evidence import evidence_families
from service.exporter.incidents import (
    incident_families,
    incident_figures,
    verdict_families,
    window_figures,
)
from service.exporter.integrations import kubernetes_families, marquez_families
from service.exporter.notifications import delivery_families
from service.exporter.processes import (
    collector_families,
    job_families,
    pipeline_families,
    policy_families,
    role_families,
)
from service.exporter.slis import (
    corrected_family,
    counter_families,
    objective_family,
    ratio_families,
    served_families,
)
from service.queries.marquez_status import marquez_status
from service.queries.roles import roles_of, status_policies
from service.queries.slis import mostly_unknown, objectives_of
from service.queries.timestamps import Evaluated, last_evaluation
from service.release import installed_version
from service.runtime.jobs import PeriodicJobState, all_jobs
from service.runtime.policies import PolicyInForce
from service.runtime.settings import Settings

_log = structlog.get_logger(__name__)


class CatalogCollector(Collector):
    """Collector of metrics from one catalog. Safe for several scrapes at once."""

    def __init__(
        self,
        settings: Settings,
        clock: Clock = system_clock,
        policy: PolicyInForce | None = None,
        leads: Callable[[], bool] = lambda: True,
        jobs: Callable[[], Sequence[PeriodicJobState]] = tuple,
    ) -> None:
        """Read nothing yet.

        Args:
            settings: of this process.
            clock: of this process.
            policy: in force.
            leads: whether this replica exports what the catalog says. Rules sum over replicas, and
                each replica would say the same.
            jobs: returns the periodic jobs of this process.
        """
        self._settings, self._leads = settings, leads
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: tuple[int, metric_rows.DatasetSnapshot] | None = None
        self._policy = policy or PolicyInForce(settings.policy)
        self._cached = CachedMetrics(self._of_days)
        self._jobs = jobs

    def drop_cache(self) -> None:
        """Forget what `renew_cache` computed."""
        self._cached.drop()

    def renew_cache(self) -> None:
        """Compute the metrics that are too slow to compute on every scrape."""
        self._cached.renew()

    def describe(self) -> list[Metric]:
        """Return no metrics: a registry would otherwise scrape the catalog to learn the names."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Yield all families, of one moment of the catalog; without one, those that need none."""
        now, leads = self._clock(), self._leads()
        yield InfoMetricFamily("lineage_build", "Release.", {"version": installed_version()})
        yield _gauge("lineage_service_leader", "1 if this replica is the leader.", float(leads))
        yield from collector_families(self._settings, now)
        yield from role_families(roles_of(self._settings.data_dir, now)[1])
        yield from job_families(all_jobs(self._settings.data_dir, now.timestamp(), self._jobs()))
        families = self._families(now, leads=leads)
        yield _gauge(
            "lineage_catalog_readable", "1 if the catalog can be read.", float(bool(families))
        )
        yield from families or self._own_policy()

    def _families(self, now: datetime, *, leads: bool) -> list[Metric]:
        """Collect all metrics of the catalog, or none if it cannot be read."""
        try:
            return self._readable(now, leads=leads)
        except NoCatalogError:
            return []
        except (CatalogError, UnreachableError) as error:
            _log.warning("catalog_unreadable", error=str(error)[:200])
            return []

    def _readable(self, now: datetime, *, leads: bool) -> list[Metric]:
        with open_reader(self._settings.catalog) as reader:
            stale = self._settings.stale_evaluation_seconds
            evaluated = last_evaluation(reader, now=now, stale_seconds=stale)
            families = list(self._of_catalog(reader, evaluated, now)) if leads else []
        if not leads:
            return list(self._own_policy())
        return [*pipeline_families(self._settings, now, self._policy.standing()), *families]

    def _own_policy(self) -> Iterator[Metric]:
        yield from policy_families(status_policies(self._policy.standing()))

    def _of_catalog(
        self, reader: CatalogReader, evaluated: Evaluated, now: datetime
    ) -> Iterator[Metric]:
        yield from counter_families(reader)
        yield from lag_families(reader)
        yield from error_families(reader)
        yield set_aside_family(reader)
        yield from served_families(reader)
        yield from delivery_families(reader, now)
        yield from incident_families(reader)
        yield from incident_figures(reader, now)
        yield from verdict_families(reader)
        yield from self._of_policy(reader, now)
        yield corrected_family(reader, now)
        yield from marquez_families(marquez_status(reader, self._settings, now))
        yield from kubernetes_families(reader, now)
        yield from stage_figures(reader, self._settings, now)
        yield from self._cached.current()
        if evaluated.as_of is None:
            return
        name = "lineage_sli_evaluated_timestamp_seconds"
        yield _gauge(name, "Time of the last evaluation.", evaluated.as_of / SECOND_MICROS)
        took = evaluated.seconds or 0.0
        yield _gauge("lineage_evaluation_seconds", "Duration of the last evaluation.", took)
        yield missed_changes(reader)
        if not evaluated.stale:
            yield from ratio_families(reader, mostly_unknown(reader, now))
            yield from name_growth(reader)
            yield limit_failures(reader)
            yield from evidence_families(reader)
            yield from standing_metrics(self._standing(reader, evaluated.as_of))

    def _of_policy(self, reader: CatalogReader, now: datetime) -> Iterator[Metric]:
        """Collect the metrics of the policy in force; none without a policy."""
        if (policy := self._known_policy()) is not None:
            yield objective_family(objectives_of(policy))
            yield from window_figures(reader, policy, now)

    def _known_policy(self) -> Policy | None:
        try:
            return self._policy.current()
        except RejectedInputError:
            return None

    def _of_days(self) -> list[Metric]:
        """Collect the metrics that are too slow to compute on every scrape."""
        policy = self._known_policy()
        with open_reader(self._settings.catalog) as reader:
            return [
                *recent_figures(reader, self._clock()),
                *(pii_figures(reader, policy) if policy else ()),
                *size_figures(reader, self._settings),
            ]

    def _standing(self, reader: CatalogReader, as_of: int) -> metric_rows.DatasetSnapshot:
        """Read once an evaluation: between two of them, no state changes."""
        with self._lock:
            if self._kept is None or self._kept[0] != as_of:
                self._kept = (as_of, metric_rows.standing(reader))
            return self._kept[1]


def _gauge(name: str, help_text: str, value: float) -> Metric:
    return GaugeMetricFamily(name, help_text, value=value)

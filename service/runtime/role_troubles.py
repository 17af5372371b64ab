"""Failing roles of `lineward up`, for incidents, metrics and pages."""

from collections.abc import Iterator, Mapping
from datetime import datetime

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from alerts.detection.self_monitoring import RoleFailure
from lineage.process.clock import Clock, to_micros
from service.queries.roles import RUNNING, Role, roles_of, trouble_of
from service.runtime.settings import Settings


class RoleTroubles:
    """Reads what the supervisor wrote last, each time it is called."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        self._data_dir, self._clock = settings.data_dir, clock

    def __call__(self) -> Mapping[str, RoleFailure]:
        """Return, by role, since when it fails, and a sentence on it."""
        now = self._clock()
        found = {}
        for role in roles_of(self._data_dir, now)[1]:
            words = trouble_of(role, now)
            if words is not None and role.failing_since is not None:
                since = to_micros(datetime.fromisoformat(role.failing_since))
                found[role.role] = RoleFailure(since, words)
        return found


def role_families(roles: list[Role]) -> Iterator[Metric]:
    """Yield the metrics of the state and restarts of each role."""
    working = GaugeMetricFamily(
        "lineage_role_working",
        "1 if the role runs and reports no failure.",
        labels=("role",),
    )
    restarts = CounterMetricFamily(
        "lineage_role_restarts", "Restarts since `lineward up` started.", labels=("role",)
    )
    for role in roles:
        working.add_metric((role.role,), float(role.state == RUNNING))
        restarts.add_metric((role.role,), role.restarts)
    if roles:
        yield from (working, restarts)

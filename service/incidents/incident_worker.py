"""Works of the service that find faults and notify their owners."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from sqlalchemy import Engine

from alerts.detection.incident_detector import IncidentDetector
from alerts.detection.self_monitoring import RoleFailure
from alerts.notify.channels.registry import build_channels
from alerts.notify.notification_worker import NotificationWorker
from alerts.notify.secret_rotation import requeue_after_rotation
from alerts.notify.sender import Sender
from alerts.notify.settings import DeliverySettings, RoutingSettings
from lineage.process.clock import Clock, system_clock, to_micros
from service.incidents.diagnosis.diagnose import Diagnostician
from service.incidents.notification_policy import NotificationPolicy
from service.queries.roles import roles_of, trouble_of
from service.runtime.periodic import Work
from service.runtime.policies import PolicyInForce
from service.runtime.settings import Settings

# Names of what `build_tasks` returns.
STEPS: Final = ("notification_policy", "incident_detection", "notification", "sending")
_DRAIN_SECONDS: Final = 5.0  # `lineward up` kills a service that has not ended after 10 s


def build_tasks(  # noqa: PLR0913 - what the process was started with
    settings: Settings,
    routing: RoutingSettings,
    delivery: DeliverySettings,
    clock: Clock = system_clock,
    policy: PolicyInForce | None = None,
    *,
    began_at: int | None = None,
) -> list[Work]:
    """Return the works of each second, in this order: nothing here waits for anything slow.

    `began_at`: when this process began, µs; None: with the first turn.
    """
    by_policy = NotificationPolicy(policy or PolicyInForce(settings.policy))
    given = (clock, by_policy.current, routing)
    return [
        by_policy,
        IncidentDetector(*given, RoleTroubles(settings, clock), began_at=began_at),
        NotificationWorker(*given),
        Sending(delivery, clock),
    ]


def diagnosis(settings: Settings) -> list[Work]:
    """Return slow work. It has a job of its own, so that pages do not wait."""
    return [Diagnostician(settings.catalog)]


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


class Sending:
    """Work that has the sender look for due messages. A slow channel delays nothing here."""

    def __init__(self, settings: DeliverySettings, clock: Clock) -> None:
        self._settings, self._clock = settings, clock
        self._sender: Sender | None = None

    def __call__(self, engine: Engine) -> None:
        """Begin to send every message that is due."""
        if self._sender is None:
            ways = build_channels(self._settings, clock=self._clock)
            self._sender = Sender(engine, ways, self._settings, clock=self._clock)
        requeue_after_rotation(engine, self._settings, to_micros(self._clock()))
        self._sender.begin()

    def finish(self, _engine: Engine) -> None:
        """Wait for messages that are being sent, so that the next leader sends none of them."""
        if self._sender is not None:
            self._sender.drain(_DRAIN_SECONDS)

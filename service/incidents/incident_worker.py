"""Tasks of the service that find faults and notify owners, and the policy that they use.

A service that starts with an invalid file answers nobody, since it does not know who may ask. It
knows from the catalog whom to notify: the last valid policy is stored there.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

import msgspec
import structlog
from sqlalchemy import Connection, Engine, select

from alerts.detection.incident_detector import IncidentDetector
from alerts.detection.self_monitoring import RoleFailure
from alerts.notify.channels.registry import build_channels
from alerts.notify.links import runbook_link
from alerts.notify.notification_worker import NotificationWorker
from alerts.notify.secret_rotation import requeue_after_rotation
from alerts.notify.sender import Sender
from alerts.notify.settings import DeliverySettings, RoutingSettings
from lineage.catalog.engine import write_transaction
from lineage.catalog.meta_keys import LAST_POLICY
from lineage.catalog.policy_notes import decode_policy, encode_policy
from lineage.catalog.tables import meta
from lineage.catalog.upsert import fold_rows
from lineage.policy import DEFAULT, Policy
from lineage.process.clock import Clock, system_clock, to_micros
from service.errors import RejectedInputError
from service.incidents.diagnosis.diagnose import Diagnostician
from service.queries.roles import role_problem, roles_of
from service.runtime.periodic import CatalogTask
from service.runtime.policies import PolicyInForce
from service.runtime.settings import Settings

# Names of what `build_tasks` returns.
JOBS: Final = ("notification_policy", "incident_detection", "notification", "sending")
_DELIVERY_RUNBOOK: Final = "NotificationDeliveryFailing"
_DRAIN_SECONDS: Final = 5.0  # `lineward up` kills a service that has not ended after 10 s

_log = structlog.get_logger(__name__)


def build_tasks(  # noqa: PLR0913 - what the process was started with
    settings: Settings,
    routing: RoutingSettings,
    delivery: DeliverySettings,
    clock: Clock = system_clock,
    policy: PolicyInForce | None = None,
    *,
    began_at: int | None = None,
) -> list[CatalogTask]:
    """Return the tasks of each second, in this order: none waits for anything slow.

    `began_at`: when this process began, µs; None: with the first turn.
    """
    by_policy = NotificationPolicy(policy or PolicyInForce(settings.policy))
    given = (clock, by_policy.current, routing)
    return [
        by_policy,
        IncidentDetector(*given, RoleTroubles(settings, clock), began_at=began_at),
        NotificationWorker(*given),
        Sending(delivery, clock, runbook_link(_DELIVERY_RUNBOOK, routing)),
    ]


def build_diagnosis(settings: Settings) -> list[CatalogTask]:
    """Return the slow task. It has a job of its own, so that pages do not wait."""
    return [Diagnostician(settings.catalog)]


class RoleTroubles:
    """Troubles of roles, read from what the supervisor wrote last at each call."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        self._data_dir, self._clock = settings.data_dir, clock

    def __call__(self) -> Mapping[str, RoleFailure]:
        """Return, by role, since when it fails, and a sentence on it."""
        now = self._clock()
        found = {}
        for role in roles_of(self._data_dir, now)[1]:
            words = role_problem(role, now)
            if words is not None and role.failing_since is not None:
                since = to_micros(datetime.fromisoformat(role.failing_since))
                found[role.role] = RoleFailure(since, words)
        return found


class Sending:
    """Task that has the sender look for due messages. A slow channel delays nothing here."""

    def __init__(self, settings: DeliverySettings, clock: Clock, runbook: str | None) -> None:
        self._settings, self._clock, self._runbook = settings, clock, runbook
        self._sender: Sender | None = None

    def __call__(self, engine: Engine) -> None:
        """Begin to send every message that is due."""
        if self._sender is None:
            ways = build_channels(self._settings, clock=self._clock)
            self._sender = Sender(
                engine, ways, self._settings, clock=self._clock, runbook=self._runbook
            )
        requeue_after_rotation(engine, self._settings, to_micros(self._clock()))
        self._sender.begin()

    def finish(self, _engine: Engine) -> None:
        """Wait for messages that are being sent, so that the next leader sends none of them."""
        if self._sender is not None:
            self._sender.drain(_DRAIN_SECONDS)


class NotificationPolicy:
    """Call it once a second, before what asks for `current`."""

    def __init__(self, in_force: PolicyInForce) -> None:
        self._in_force = in_force
        self._last: Policy | None = None
        self._last_text = ""
        self._saved = ""  # hash of what this process stored
        self._logged = ""

    def __call__(self, engine: Engine) -> None:
        """Store the policy in force; without one, load the policy that was stored last."""
        try:
            policy = self._in_force.current()
        except RejectedInputError as error:
            self._load(engine, str(error))
            return
        if policy.hash != self._saved:
            _save(engine, encode_policy(policy))
            self._saved = policy.hash

    def current(self) -> Policy:
        """Return the policy in force, or else the last valid one.

        Raises:
            RejectedInputError: none is in force, and the catalog was not asked yet.
        """
        try:
            return self._in_force.current()
        except RejectedInputError:
            if self._last is None:
                raise
            return self._last

    def _load(self, engine: Engine, error: str) -> None:
        with engine.connect() as connection:
            text = _stored(connection)
        # Another service may have a valid file, and store a newer policy.
        if self._last is None or text != self._last_text:
            self._last, self._last_text = _decoded(text), text
        self._log_once(error, self._last)

    def _log_once(self, error: str, policy: Policy) -> None:
        if error + policy.hash != self._logged:
            is_stored = policy is not DEFAULT
            _log.error(
                "notifications_without_policy", error=error, is_stored=is_stored, hash=policy.hash
            )
            self._logged = error + policy.hash


def _decoded(text: str) -> Policy:
    """Return the stored policy; where there is none, the default, which has no owner to notify."""
    if not text:
        return DEFAULT
    try:
        return decode_policy(text)
    except msgspec.ValidationError as error:
        _log.warning("stored_policy_unreadable", error=str(error)[:300])
        return DEFAULT


def _stored(connection: Connection) -> str:
    return connection.scalar(select(meta.c.value).where(meta.c.name == LAST_POLICY)) or ""


def _save(engine: Engine, text: str) -> None:
    with engine.connect() as connection:
        if _stored(connection) == text:
            return
    with write_transaction(engine) as connection:
        fold_rows(connection, meta, [{"name": LAST_POLICY, "value": text}])

"""Routing of due notifications and of requested escalations, once a second."""

from collections.abc import Callable

from sqlalchemy import Connection, Engine

from alerts.notify import router
from alerts.notify.settings import RoutingSettings
from alerts.operator_actions.command_queue import (
    EscalationRequest,
    complete_commands,
    pending_escalations,
)
from lineage.catalog.engine import write_transaction
from lineage.policy.model import Policy
from lineage.process.clock import Clock, to_micros

_NO_STEP = (
    "its owner has no further escalation step with a channel, or nobody was notified of the"
    " incident yet; call the next person yourself"
)


class NotificationWorker:
    """Periodic task of notifications, once a second."""

    def __init__(
        self, clock: Clock, policy: Callable[[], Policy], settings: RoutingSettings
    ) -> None:
        self._clock, self._policy, self._settings = clock, policy, settings

    def __call__(self, engine: Engine) -> None:
        """Run one turn in one transaction; none where nothing is due."""
        at, policy = to_micros(self._clock()), self._policy()
        with engine.connect() as connection:
            is_due = router.is_route_due(connection, policy, self._settings, at)
            if not is_due and not pending_escalations(connection):
                return
        with write_transaction(engine) as connection:
            for request in pending_escalations(connection):
                self._escalate(connection, request, policy, at)
            router.route_due(connection, policy, self._settings, at)

    def _escalate(
        self, connection: Connection, request: EscalationRequest, policy: Policy, at: int
    ) -> None:
        is_escalated = router.escalate_incident(
            connection, request.incident_id, request.by, policy, self._settings, at
        )
        rejected = {} if is_escalated else {request.id: _NO_STEP}
        complete_commands(connection, [request.id], rejected, at)

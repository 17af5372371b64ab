"""Actions that the policy asks for when an incident opens.

An action may wait for a Kubernetes or a collector: its job delays no notification.
"""

from collections.abc import Callable
from typing import Any

import structlog
from sqlalchemy import Connection, Engine, Row, func, select, true

from lineage.catalog.leases import LeadershipFence, fence_of
from lineage.catalog.tables import incident, incident_member
from lineage.errors import RequestError
from lineage.policy.model import Policy
from lineage.process.clock import HOUR_MICROS, Clock, to_micros
from runbooks.actions.triggers import Due, Occasion, due_actions, past_actions
from service.actions.action_runner import Requester, run_action
from service.runtime.settings import Settings

EVERY_SECONDS = 10.0
_FRESH_MICROS = HOUR_MICROS  # a rule that is new acts on no incident of yesterday
_MOST_INCIDENTS = 100
_log = structlog.get_logger(__name__)


class AutoActions:
    """Periodic task that begins what the policy asks for on incidents of the last hour."""

    def __init__(self, settings: Settings, clock: Clock, policy: Callable[[], Policy]) -> None:
        self._settings, self._clock, self._policy = settings, clock, policy

    def __call__(self, engine: Engine) -> None:
        """Do what is due, one incident after the other: each counts for the next."""
        now = to_micros(self._clock())
        try:
            policy = self._policy()
        except RequestError as error:
            _log.warning("policy_unknown", reason=str(error)[:300])
            return
        if policy.actions:
            self._look(engine, policy, now)

    def _look(self, engine: Engine, policy: Policy, now: int) -> None:
        with engine.connect() as connection:
            found = incident_triggers(connection, now)
        for occasion in found:
            with engine.connect() as connection:
                asked = due_actions(
                    policy, occasion, past_actions(connection, occasion.incident, now)
                )
            for one in asked:
                self._act(one, policy, fence_of(engine))

    def _act(self, due: Due, policy: Policy, fence: LeadershipFence | None) -> None:
        asker = Requester(who=due.who, via="policy")
        try:
            run_action(
                *(self._settings, due.do, due.arguments, asker),
                is_dry=due.is_dry,
                clock=self._clock,
                policy=policy,
                fence=fence,
            )
        except RequestError as error:
            # The audit log has it; it is not tried again for this incident.
            text = str(error)[:300]
            _log.warning("policy_action_rejected", action=due.do, who=due.who, reason=text)


def incident_triggers(connection: Connection, now: int) -> list[Occasion]:
    """Return open incidents that nobody has acknowledged, oldest first."""
    run = (
        select(func.max(incident_member.c.run_id))
        .where(incident_member.c.incident_id == incident.c.incident_id)
        .where(incident_member.c.steps == 0, incident_member.c.left_at.is_(None))
        .scalar_subquery()
    )
    is_asked = (
        incident.c.state == "open",
        incident.c.opened_at > now - _FRESH_MICROS,
        ~incident.c.is_frozen,
        incident.c.is_false_alarm.isnot(true()),
    )
    rows = connection.execute(
        select(incident, run.label("run_id"))
        .where(*is_asked)
        .order_by(incident.c.opened_at, incident.c.incident_id)
        .limit(_MOST_INCIDENTS)
    )
    return [_occasion(row, now) for row in rows]


def _occasion(row: Row[Any], now: int) -> Occasion:
    root = (row.root_namespace, row.root_name)
    job = root if row.root_entity == "job" else (None, None)
    dataset = root if row.root_entity == "dataset" else (None, None)
    return Occasion(
        incident=row.incident_id,
        kind=row.root_kind,
        namespace=row.root_namespace,
        name=row.root_name,
        at=now,
        run=row.run_id,
        job_namespace=job[0],
        job_name=job[1],
        dataset_namespace=dataset[0],
        dataset=dataset[1],
    )

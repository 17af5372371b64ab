"""Runner of actions with this process's catalog, collector, supervisor and policy."""

from collections.abc import Mapping
from typing import Any

import msgspec

from alerts.operator_actions.audit import Via
from lineage.catalog.engine import open_catalog
from lineage.catalog.leases import LeadershipFence, leading
from lineage.policy import Policy
from lineage.process.clock import Clock, system_clock, to_micros
from runbooks.actions.action import ActionContext
from runbooks.actions.calling import ActionAnswer, Call, call_action
from runbooks.actions.kubernetes import Kubernetes
from runbooks.actions.kubernetes_settings import read_kubernetes_settings
from service.actions.adapters import CollectorAdapter, LineageAdapter, SqlParser, SupervisorAdapter
from service.errors import NoDataError
from service.queries.catalog_session import filling_advice
from service.runtime.periodic import is_there
from service.runtime.policies import read_accepted_policy
from service.runtime.settings import Settings


class Requester(msgspec.Struct, frozen=True, kw_only=True):
    """Person or policy that asks for an action: name, channel and permission."""

    who: str
    via: Via
    is_allowed: bool = True


def run_action(  # noqa: PLR0913 - what, by whom, where, when
    settings: Settings,
    name: str,
    arguments: Mapping[str, Any],
    asker: Requester,
    *,
    is_dry: bool,
    clock: Clock = system_clock,
    policy: Policy | None = None,
    fence: LeadershipFence | None = None,
) -> ActionAnswer:
    """Call it, with its rows in the audit log; `policy`: in force, else as its file is now.

    `fence`: of the leader that acts by the policy; a person's action needs none.

    Raises:
        RequestError: it does not take place; by its class the exit code and the status.
        LeaseLostError: another service leads; it is not begun.
    """
    if not is_there(settings.catalog):
        raise NoDataError(filling_advice(settings))
    policy = policy or read_accepted_policy(settings)
    context = _build_context(settings, policy, asker, to_micros(clock()), fence)
    wanted = Call(name=name, arguments=arguments, is_dry=is_dry, is_allowed=asker.is_allowed)
    try:
        return call_action(wanted, context)
    finally:
        context.engine.dispose()


def _build_context(
    settings: Settings, policy: Policy, asker: Requester, now: int, fence: LeadershipFence | None
) -> ActionContext:
    kubernetes = read_kubernetes_settings()
    engine = open_catalog(settings.catalog)
    return ActionContext(
        engine=engine if fence is None else leading(engine, fence),
        data_dir=settings.data_dir,
        lake=settings.lake,
        now=now,
        who=asker.who,
        via=asker.via,
        policy=policy,
        collector=CollectorAdapter(settings),
        graph=LineageAdapter(settings),
        supervised=SupervisorAdapter(settings),
        sql=SqlParser(),
        kubernetes=None if kubernetes.url is None else Kubernetes(kubernetes),
    )

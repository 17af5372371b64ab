"""Actions that the policy runs for an incident: at most once each, with a limit an hour."""

import re
from collections.abc import Iterable
from typing import Any, Final

import msgspec
from sqlalchemy import Connection, func, select

from lineage.catalog.tables import audit
from lineage.names.names import join_parts
from lineage.names.rules import SEPARATOR
from lineage.policy.actions import ActionRule
from lineage.policy.model import Policy
from lineage.policy.patterns import matcher
from lineage.process.clock import HOUR_MICROS

_WHO: Final = "policy for "
_PREFIX: Final = "act "
_FIELD: Final = re.compile(r"\{([a-z_]+)\}")


class Occasion(msgspec.Struct, frozen=True, kw_only=True):
    """Open incident, and its root.

    Attributes:
        namespace: of the root, a job or a dataset; with `name` what rules match.
        run: id of the root's failed run, where one is known.
        at: now, µs.
    """

    incident: str
    kind: str
    namespace: str
    name: str
    at: int
    run: str | None = None
    job_namespace: str | None = None
    job_name: str | None = None
    dataset_namespace: str | None = None
    dataset: str | None = None


class Past(msgspec.Struct, frozen=True):
    """Action that the policy ran or planned, and when (µs)."""

    incident: str
    do: str
    at: int


class Due(msgspec.Struct, frozen=True):
    """Action to call now, as `calling.Call` and `action.ActionContext` take it.

    Attributes:
        who: for the audit log, by which `past_actions` finds it again.
    """

    do: str
    arguments: dict[str, Any]
    is_dry: bool
    who: str


def due_actions(policy: Policy, occasion: Occasion, done: Iterable[Past]) -> list[Due]:
    """Return what the policy asks for and was not done yet, one of each action.

    A rule whose arguments the incident cannot give (no run is known) is not due: it may be later.

    Args:
        policy: in force.
        occasion: an open incident.
        done: of this incident ever, and of all in the last hour.
    """
    past = list(done)
    found: dict[str, Due] = {}
    for rule in policy.actions:
        arguments = _arguments(rule, occasion)
        if rule.do in found or arguments is None or not _matches(rule, occasion):
            continue
        if _is_allowed(rule, occasion, past):
            who = f"{_WHO}{occasion.incident}"
            found[rule.do] = Due(rule.do, arguments, rule.dry_run, who)
    return list(found.values())


def past_actions(connection: Connection, incident: str, now: int) -> list[Past]:
    """Return earlier actions for `due_actions`, from the audit log; a call that died counts too."""
    of_policy = audit.c.via == "policy"
    is_asked = (audit.c.who == f"{_WHO}{incident}") | (audit.c.at > now - HOUR_MICROS)
    rows = connection.execute(
        select(audit.c.who, audit.c.action, func.min(audit.c.at))
        .where(of_policy, is_asked, audit.c.action.startswith(_PREFIX, autoescape=True))
        .group_by(audit.c.who, audit.c.action)
    )
    return [
        Past(who.removeprefix(_WHO), action.removeprefix(_PREFIX), at) for who, action, at in rows
    ]


def _matches(rule: ActionRule, occasion: Occasion) -> bool:
    if rule.kind != occasion.kind:
        return False
    test = matcher(rule.match)
    parts = f"{occasion.namespace}{SEPARATOR}{occasion.name}"
    text = parts if test.is_parted else join_parts(occasion.namespace, occasion.name)
    return test.regex.fullmatch(text) is not None


def _is_allowed(rule: ActionRule, occasion: Occasion, past: list[Past]) -> bool:
    of_action = [one for one in past if one.do == rule.do]
    if any(one.incident == occasion.incident for one in of_action):
        return False
    recent = {one.incident for one in of_action if one.at > occasion.at - HOUR_MICROS}
    return len(recent) < rule.most_per_hour


def _arguments(rule: ActionRule, occasion: Occasion) -> dict[str, Any] | None:
    """Return the arguments with the incident's values for its words; None without one."""
    given = msgspec.structs.asdict(occasion)
    named = {word for text in rule.with_.values() for word in _FIELD.findall(text)}
    if any(given.get(word) is None for word in named):
        return None
    return {
        field: _FIELD.sub(lambda found: str(given[found[1]]), text)
        for field, text in rule.with_.items()
    }

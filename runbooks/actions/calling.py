"""Call of an action, for a person or for the policy; each call is in the audit log first."""

from collections.abc import Mapping
from typing import Any

import msgspec
from sqlalchemy import Engine

from alerts.operator_actions.audit import Entry, add_entry
from lineage.catalog.engine import write_transaction
from lineage.catalog.leases import require_lead
from lineage.errors import RequestError
from runbooks.actions.action import Action, ActionContext, ActionPlan, Done
from runbooks.actions.errors import ForbiddenActionError, InvalidActionError
from runbooks.actions.registry import ACTIONS

DRY_RUN, DONE, IN_PART = "dry run", "done", "done in part"


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """Request for an action.

    Attributes:
        arguments: as JSON has them; held against the action's own struct.
        is_dry: only say what would be done.
        is_allowed: the requester may run it.
    """

    name: str
    arguments: Mapping[str, Any]
    is_dry: bool = True
    is_allowed: bool = True


class ActionAnswer(msgspec.Struct, frozen=True):
    """Plan and result of an action; `done` is None after a dry run."""

    action: str
    dry_run: bool
    plan: ActionPlan
    done: Done | None = None


def call_action(asked: Call, context: ActionContext) -> ActionAnswer:
    """Plan it, and unless it is dry, do it.

    Raises:
        RequestError: it is not done, or not to its end; the audit log has it.
        sqlalchemy.exc.SQLAlchemyError: the audit log cannot be written; nothing was done.
        LeaseLostError: the policy asked for it, and another service leads; nothing was done.
    """
    try:
        action, arguments = _found(asked)
        _require_allowed(asked)
        plan = action.plan(arguments, context)
    except RequestError as error:
        add_durable_entry(context.engine, _entry(asked, context, f"rejected: {error}"))
        raise
    if asked.is_dry:
        add_durable_entry(context.engine, _entry(asked, context, DRY_RUN))
        return ActionAnswer(asked.name, dry_run=True, plan=plan)
    # Before it is begun: an action that dies half way stands there without an answer.
    add_durable_entry(context.engine, _entry(asked, context, None))
    require_lead(context.engine)
    return ActionAnswer(
        asked.name, dry_run=False, plan=plan, done=_done(asked, context, action, arguments)
    )


def add_durable_entry(engine: Engine, entry: Entry) -> None:
    """Add a row to the audit log; durable when this returns.

    Its answer is `done`, `dry run`, or why not; none while it is being done, or its process died.

    Raises:
        sqlalchemy.exc.SQLAlchemyError: it is not.
    """
    with write_transaction(engine) as connection:
        add_entry(connection, entry)


def _done(asked: Call, context: ActionContext, action: Action, arguments: msgspec.Struct) -> Done:
    try:
        done = action.perform(arguments, context)
    except RequestError as error:
        add_durable_entry(context.engine, _entry(asked, context, f"failed: {error}"))
        raise
    except Exception as error:
        add_durable_entry(context.engine, _entry(asked, context, f"failed: {type(error).__name__}"))
        raise
    result = DONE if done.is_whole else IN_PART
    add_durable_entry(context.engine, _entry(asked, context, f"{result}: {' '.join(done.did)}"))
    return done


def _found(asked: Call) -> tuple[Action, msgspec.Struct]:
    action = ACTIONS.get(asked.name)
    if action is None:
        known = ", ".join(sorted(ACTIONS))
        raise InvalidActionError(f"no action is called {asked.name[:80]!r}; there are {known}")
    try:
        return action, msgspec.convert(dict(asked.arguments), action.arguments)
    except msgspec.ValidationError as error:
        raise InvalidActionError(f"{asked.name}: {error}") from error


def _require_allowed(asked: Call) -> None:
    if not (asked.is_dry or asked.is_allowed):
        message = (
            "over the API an action is done for admins alone, and without an `access` section in"
            " the policy there are none; `lineward act` does the same"
        )
        raise ForbiddenActionError(message)


def _entry(asked: Call, context: ActionContext, answer: str | None) -> Entry:
    words = msgspec.json.encode(asked.arguments).decode()
    return Entry(
        at=context.now,
        who=context.who,
        via=context.via,
        action=f"act {asked.name[:80]}",
        detail=words,
        answer=answer,
    )

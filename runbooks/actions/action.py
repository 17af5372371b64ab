"""Action: it plans what it would do, and does it on request."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from runbooks.actions.means import ActionContext


class ActionPlan(msgspec.Struct, frozen=True):
    """Plan of an action; making it changes nothing.

    Attributes:
        does: sentences, with figures.
        figures: the same, to be read by machines.
        cautions: what to know before.
    """

    does: tuple[str, ...]
    figures: Mapping[str, int] = {}
    cautions: tuple[str, ...] = ()


class Done(msgspec.Struct, frozen=True):
    """Result of an action. `is_whole`: all of it was done; `did` names the failed parts."""

    did: tuple[str, ...]
    figures: Mapping[str, int] = {}
    is_whole: bool = True


class Action(msgspec.Struct, frozen=True, kw_only=True):
    """Action of a runbook.

    Attributes:
        says: in one line, what it does.
        arguments: struct of what it is asked with.
        plan: of arguments and means, without any change. Raises ActionError.
        perform: likewise, and does it. Raises ActionError.
    """

    name: str
    says: str
    arguments: type[msgspec.Struct]
    plan: Callable[[Any, ActionContext], ActionPlan]
    perform: Callable[[Any, ActionContext], Done]

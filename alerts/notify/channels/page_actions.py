"""Actions on the alert of an incident: what a message does to it in a channel that pages."""

from typing import Final, Literal

from alerts.notify.message import MessageKind

PageAction = Literal["trigger", "acknowledge", "resolve"]

_ACTIONS: Final[dict[MessageKind, PageAction]] = {
    "opened": "trigger",
    "changed": "trigger",  # only as part of the first page: see `alerts.notify.coalescing`
    "test": "trigger",
    "acknowledged": "acknowledge",
    "resolved": "resolve",
    "handed_over": "resolve",  # the next owner's service is triggered apart
}

RESOLVING: Final = tuple(kind for kind, action in _ACTIONS.items() if action == "resolve")


def action_of(kind: MessageKind) -> PageAction:
    """Return what a kind of message does to the alert.

    Raises:
        ValueError: a notice, which pages nobody.
    """
    if kind not in _ACTIONS:
        raise ValueError(f"page: expected one of {', '.join(_ACTIONS)}, got {kind!r}")
    return _ACTIONS[kind]

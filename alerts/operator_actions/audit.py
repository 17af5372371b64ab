"""Audit log of operator actions; rows are only added."""

from typing import Literal

import msgspec
from sqlalchemy import Connection, insert

from lineage.catalog.tables import audit

Via = Literal["api", "cli", "page", "slack", "pagerduty", "policy"]

DONE = "done"
_MAX_CHARACTERS = 1_000


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """Operator action, and its result.

    Attributes:
        who: a token's name, a person of the policy or of Slack, a user of the machine.
        action: one word.
        detail: of what, and why.
        answer: `done`, or why not; none: it is not known yet.
    """

    at: int
    who: str
    via: Via
    action: str
    detail: str
    answer: str | None = None


def add_entry(connection: Connection, entry: Entry) -> None:
    """Add a row, in the transaction of the action."""
    row = msgspec.structs.asdict(entry)
    texts = {name: storable_text(value) for name, value in row.items() if isinstance(value, str)}
    connection.execute(insert(audit), {**row, **texts})


def rejected_entry(entry: Entry, reason: str) -> Entry:
    """Return the entry with the reason of its rejection."""
    return msgspec.structs.replace(entry, answer=f"rejected: {reason}")


def storable_text(text: str, limit: int = _MAX_CHARACTERS) -> str:
    """Return text that every catalog can store: no NUL, no half of a surrogate pair, and cut."""
    sound = text[:limit].encode("utf-8", "replace").decode()
    return sound.replace("\0", "\N{REPLACEMENT CHARACTER}")

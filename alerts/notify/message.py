"""Message to a person, whatever channel it is sent through.

Names and errors come from events: they are data, and each channel shows them as such.
"""

from typing import Final, Literal

import msgspec

from alerts.incidents.affected_datasets import MAX_LISTED
from alerts.incidents.times import NamedTime

MessageKind = Literal[
    "opened", "changed", "acknowledged", "resolved", "notice", "handed_over", "test"
]
Severity = Literal["page", "ticket"]

OWN_PART: Final = "service"  # kind of a root: a role, an access, events set aside
MAX_ID_CHARACTERS = 255  # of a PagerDuty dedup_key


class MessageRoot(msgspec.Struct, frozen=True):
    """Root of a fault: a job, a dataset, a shared cause, or a part of Lineward (`OWN_PART`)."""

    kind: str
    name: str
    namespace: str


class Impacted(msgspec.Struct, frozen=True):
    """Affected dataset. `limit_at`: its deadline, µs."""

    namespace: str
    name: str
    tier: str
    state: str
    limit_at: int | None = None


class MessageLinks(msgspec.Struct, frozen=True):
    """Links of a message, built by us and never taken from an event."""

    explorer: str | None = None
    runbook: str | None = None
    dashboard: str | None = None
    full_list: str | None = None

    @property
    def labelled(self) -> dict[str, str | None]:
        """Return the links by their labels, in the order in which they are shown."""
        return {
            "Explorer": self.explorer,
            "Runbook": self.runbook,
            "Dashboard": self.dashboard,
            "Full list": self.full_list,
        }


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """State of one incident. Timestamps in µs.

    Attributes:
        revision: grows with each change of the incident; the later one is right.
        what: what is wrong, in one line.
        since: when it began; `times` says what that is.
        times: of the incident, the earliest first; none: `since` is all that is known.
        at: when this revision came to be.
        impacted: the most severe, ten at most.
        impacted_count: of all.
        tiers: how many of all are of each tier.
        error: the line of the failed run's error that names the cause.
        first_difference: what differs first between the last good and the first bad run.
        note: who acknowledged, handed over, or why this came another way.
        has_root: a fault has this root; false: a list of tickets, with its own title as the root.
        is_answerable: there is an incident to acknowledge, suppress, or call a false alarm.
        time_zone: of the policy, for the end of a suppression that a button offers.
        lines: what else it lists, ten at most: open tickets, what a window hid. Data.
    """

    incident_id: str
    revision: int
    kind: MessageKind
    severity: Severity
    what: str
    since: int
    at: int
    root: MessageRoot
    owner: str
    impacted: tuple[Impacted, ...] = ()
    impacted_count: int = 0
    tiers: tuple[tuple[str, int], ...] = ()
    error: str | None = None
    first_difference: str | None = None
    links: MessageLinks = MessageLinks()
    correlation_id: str = ""
    note: str = ""
    lines: tuple[str, ...] = ()
    is_flapping: bool = False
    is_bridged: bool = False
    has_root: bool = True
    is_answerable: bool = True
    times: tuple[NamedTime, ...] = ()
    time_zone: str = "UTC"

    def __post_init__(self) -> None:
        """Reject messages that a channel could not distinguish or keep in order."""
        if not 0 < len(self.incident_id) <= MAX_ID_CHARACTERS:
            raise ValueError(f"incident_id: 1 to 255 characters, got {len(self.incident_id)}")
        if self.revision < 1:
            raise ValueError(f"revision: 1 or more, got {self.revision}")
        if len(self.impacted) > MAX_LISTED:
            raise ValueError(f"impacted: {MAX_LISTED} at most, got {len(self.impacted)}")
        if len(self.lines) > MAX_LISTED:
            raise ValueError(f"lines: {MAX_LISTED} at most, got {len(self.lines)}")


def to_json(value: msgspec.Struct) -> str:
    """Return the JSON for the catalog; lone surrogates, which no database takes, become `?`."""
    try:
        return msgspec.json.encode(value).decode()
    except UnicodeEncodeError:
        return msgspec.json.encode(_without_surrogates(msgspec.to_builtins(value))).decode()


def from_json(text: str) -> Message:
    """Return the message that `to_json` wrote."""
    return msgspec.json.decode(text, type=Message)


def _without_surrogates(value: object) -> object:
    if isinstance(value, str):
        return value.encode(errors="replace").decode()
    if isinstance(value, dict):
        return {name: _without_surrogates(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_without_surrogates(inner) for inner in value]
    return value

"""What is known of an incident when it changed: all that a message to a person can say."""

from collections.abc import Mapping

import msgspec

from alerts.incidents.incident import Incident
from alerts.notify.message import Impacted, Root


class OwnerImpact(msgspec.Struct, frozen=True):
    """What one owner has downstream of the root.

    Attributes:
        impacted: the gravest, ten at most; `limit_at` is when each is past its limit.
        count: of all that are theirs.
        tiers: how many of them are of each tier.
        keys: of theirs that are bad by it: what joins is told apart by these.
    """

    impacted: tuple[Impacted, ...]
    count: int
    tiers: tuple[tuple[str, int], ...] = ()
    keys: frozenset[int] = frozenset()


class IncidentSummary(msgspec.Struct, frozen=True, kw_only=True):
    """One incident as it is after a step. Instants in µs.

    Attributes:
        incident: after the step.
        what: is wrong, in one line.
        root: what is to be mended, by its name.
        impacted: the gravest, ten at most.
        impacted_count: of all.
        tiers: how many of all are of each tier.
        by_owner: what is downstream, by the owner of each dataset; the root's may be among them.
        error: the line of the newest failed run's error that says what happened.
        first_difference: between the last good and the first bad run.
        dataset: namespace and name of the one that links show: the root's own, or its first.
        runbook: name of its page, without a folder.
        hidden_by: the planned window that hides it.
        waits_for_digest: a gap of a dataset that nobody declared, needs or was seen to write: as a
            ticket it is no message of its own.
    """

    incident: Incident
    what: str
    root: Root
    impacted: tuple[Impacted, ...] = ()
    impacted_count: int = 0
    tiers: tuple[tuple[str, int], ...] = ()
    by_owner: Mapping[str, OwnerImpact] = {}
    error: str | None = None
    first_difference: str | None = None
    dataset: tuple[str, str] | None = None
    runbook: str | None = None
    correlation_id: str = ""
    is_bridged: bool = False
    hidden_by: str | None = None
    is_digest_only: bool = False

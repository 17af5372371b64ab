"""Summary of an incident after a change: all that a message may show."""

from collections.abc import Mapping

import msgspec

from alerts.incidents.incident import Incident
from alerts.notify.message import Impacted, MessageRoot


class OwnerImpact(msgspec.Struct, frozen=True):
    """Impact on one downstream owner.

    Attributes:
        impacted: the most severe, ten at most; `limit_at` is the deadline of each.
        count: of all that are theirs.
        tiers: how many of them are of each tier.
        keys: of the affected datasets of this owner; datasets that join are known by them.
    """

    impacted: tuple[Impacted, ...]
    count: int
    tiers: tuple[tuple[str, int], ...] = ()
    keys: frozenset[int] = frozenset()


class IncidentSummary(msgspec.Struct, frozen=True, kw_only=True):
    """Incident after a step. Timestamps in µs.

    Attributes:
        incident: after the step.
        what: is wrong, in one line.
        root: what has to be fixed.
        impacted: the most severe, ten at most.
        impacted_count: of all.
        tiers: how many of all are of each tier.
        by_owner: what is downstream, by the owner of each dataset; the root's may be among them.
        error: the line of the newest failed run's error that names the cause.
        first_difference: between the last good and the first bad run.
        dataset: namespace and name of the one that links show: the root's own, or its first.
        runbook: name of its page, without a folder.
        hidden_by: the planned window that hides it.
        is_digest_only: a gap of a dataset that nobody declared, needs or was seen to write: as a
            ticket it is no message of its own.
    """

    incident: Incident
    what: str
    root: MessageRoot
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

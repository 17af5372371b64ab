"""Documented shapes of incidents, as `service.queries.shapes`."""

import msgspec

from service.incidents.diagnosis.ranking import Diagnosis
from service.queries.run_shapes import IsoTime


class IncidentRow(msgspec.Struct, frozen=True):
    """Incident: one fault over time.

    Attributes:
        root: name of what must be fixed; null, as its owner, where the token may not see it.
        unknown: why the root is not known; null: it is.
        hit_at: when the first dataset of a tier that pages is hit, or was.
        datasets: number of bad datasets that the token may see.
    """

    id: str
    state: str
    severity: str
    what: str
    kind: str
    root_namespace: str | None
    root: str | None
    unknown: str | None
    owner: str | None
    onset: IsoTime
    opened_at: IsoTime | None
    acknowledged_at: IsoTime | None
    acknowledged_by: str | None
    resolved_at: IsoTime | None
    hit_at: IsoTime | None
    datasets: int
    score: float
    flapping: bool
    frozen: bool


class IncidentPage(msgspec.Struct, frozen=True):
    """Page of a list of incidents: unresolved before resolved, pages before tickets.

    `total` counts all incidents that the token may see; `next_cursor` is for the next page.
    """

    incidents: list[IncidentRow]
    total: int
    partial: bool
    partial_reason: str | None
    next_cursor: str | None = None


class IncidentMember(msgspec.Struct, frozen=True):
    """Dataset that is, or was, bad because of the root.

    Attributes:
        kind: in which way; `failing`: its run failed, and it is not bad yet.
        steps: explanations between it and the root.
        explained_by: the dataset, bad too, that explains it; null of the root's own.
        run_id: its newest failed run.
    """

    dataset_namespace: str
    dataset: str
    tier: str
    owner: str | None
    kind: str
    steps: int
    onset: IsoTime
    explained_by: str | None
    run_id: str | None
    joined_at: IsoTime
    left_at: IsoTime | None


class IncidentImpacted(msgspec.Struct, frozen=True):
    """Dataset at or downstream of the root: it is bad, or will be.

    Attributes:
        hops: jobs between it and the root; 0 of the root's own.
    """

    dataset_namespace: str
    dataset: str
    tier: str
    owner: str | None
    hops: int


class IncidentStep(msgspec.Struct, frozen=True):
    """Step in the timeline of an incident."""

    revision: int
    at: IsoTime
    what: str
    reason: str
    by: str | None


class IncidentTime(msgspec.Struct, frozen=True):
    """Time of an incident, and its name: `late since`, `detected at`."""

    name: str
    at: IsoTime


class IncidentDetail(msgspec.Struct, frozen=True):
    """Details of an incident. `members`: current ones first; `partial`: there are more.

    Attributes:
        impacted: datasets at and downstream of its root, most severe first, as messages count them.
        is_impacted_partial: `impacted` has only the most severe of them.
        times: the earliest first; `onset` of `incident` is the first that is no write.
        diagnosis: the last good run beside the first failed run; null: none was compared, or the
            token may not see it.
    """

    incident: IncidentRow
    evidence: str
    members: list[IncidentMember]
    impacted: list[IncidentImpacted]
    steps: list[IncidentStep]
    partial: bool
    partial_reason: str | None
    is_impacted_partial: bool = False
    times: list[IncidentTime] = []
    diagnosis: Diagnosis | None = None

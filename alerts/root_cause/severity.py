"""Severity of a fault, page or ticket: by what is downstream and how soon, never its own tier."""

from typing import Final, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from alerts.root_cause.faults import FaultGroup, Member
from alerts.root_cause.kinds import KIND_BY_ID
from alerts.root_cause.snapshot import NEVER, NO_KEY, LineageSnapshot, Rows
from lineage.graph.adjacency import Keys, positions_in
from lineage.graph.graph import Graph
from lineage.process.clock import SECOND_MICROS
from lineage.states import OPTIONAL, PAGE, TICKET, TIERS

Level = Literal["ticket", "page"]
# Why it is that level: the kind alone says so; a dataset of a tier that pages is bad already, will
# be before anybody of its tier can answer, cannot be written any more before its deadline, or will
# be later than that; or there is none downstream.
SeverityReason = Literal["kind", "is_bad", "soon", "deadline", "later", "nobody"]


class TierRule(msgspec.Struct, frozen=True):
    """Weight and response time of one tier.

    Attributes:
        weight: to the impact score, at the root itself.
        response_seconds: page when one is hit within so long; none: it never makes a page.
    """

    weight: float
    response_seconds: float | None = None


class SeverityRules(msgspec.Struct, frozen=True):
    """Figures of the severity rating.

    Attributes:
        tiers: in the order of `lineage.states.TIERS`.
        decay: of the weight with each step downstream, 0-1.
        max_datasets: how far the walk goes; datasets beyond are in no figure.
    """

    tiers: tuple[TierRule, ...] = (
        TierRule(weight=9.0, response_seconds=4 * 3600),
        TierRule(weight=3.0),
        TierRule(weight=1.0),
    )
    decay: float = 0.8
    max_datasets: int = 100_000

    @property
    def paging(self) -> NDArray[np.bool_]:
        """Return whether each tier can page."""
        return np.array([rule.response_seconds is not None for rule in self.tiers])


class RootImpact(msgspec.Struct, frozen=True, eq=False):
    """Datasets downstream of a root, and the root's own.

    Attributes:
        keys: of the datasets, nearest first.
        hops: steps from the root's own, which have 0.
        tiers: positions in TIERS.
        score: the sum over all of tier weight x decay ** hops.
        is_partial: the walk was cut.
    """

    keys: Keys
    hops: NDArray[np.int32]
    tiers: NDArray[np.int8]
    score: float
    is_partial: bool


class IncidentSeverity(msgspec.Struct, frozen=True):
    """Severity of a fault, with its reason.

    Attributes:
        level: page or ticket.
        because: of what.
        score: of the impact.
        hit_at: when the first dataset of a tier that pages is hit, µs: it is bad since, will miss
            its limit or is expected to be read. None: there is none, or nobody knows when.
        hit_key: which one.
    """

    level: Level
    because: SeverityReason
    score: float = 0.0
    hit_at: int | None = None
    hit_key: int | None = None


BY_KIND: Final = IncidentSeverity(PAGE, "kind")  # of a part of the service itself
TICKET_BY_KIND: Final = IncidentSeverity(TICKET, "kind")


def impact_of_group(
    group: FaultGroup, graph: Graph, snapshot: LineageSnapshot, rules: SeverityRules
) -> RootImpact:
    """Return what is downstream of the datasets that the root should have written, as of onset.

    Bad datasets that no path from these reaches, such as another output of the job, are added.
    """
    starts = lost_outputs(group, snapshot)
    impact = impact_of(starts, graph, snapshot, rules)
    beside = np.setdiff1d(np.array(sorted(group.bad_keys), dtype=np.int64), impact.keys)
    if not beside.size:
        return impact
    return impact_of(np.union1d(starts, beside), graph, snapshot, rules)


def impact_of(
    starts: Keys, graph: Graph, snapshot: LineageSnapshot, rules: SeverityRules
) -> RootImpact:
    """Return all that is made of these datasets, themselves first."""
    keys, hops, is_partial = graph.descendants(starts, max_nodes=rules.max_datasets)
    tiers = _tiers(keys, snapshot)
    weights = np.array([rule.weight for rule in rules.tiers])[tiers]
    score = float(np.sum(weights * rules.decay ** hops.astype(np.float64)))
    return RootImpact(keys, hops, tiers, score, is_partial)


def lost_outputs(group: FaultGroup, snapshot: LineageSnapshot) -> Keys:
    """Return the root's datasets, and those that its runs wrote together with them."""
    own = np.array(group.root_keys, dtype=np.int64)
    stopped = [each.dataset_key for each in group.members if _is_of_run(each)]
    runs = _rows(np.intersect1d(own, stopped), snapshot)["run"]
    runs = runs[runs != NO_KEY]
    return np.union1d(own, snapshot.keys[np.isin(snapshot.datasets["run"], runs)])


def _is_of_run(member: Member) -> bool:
    return member.steps == 0 and KIND_BY_ID[member.kind].extent == "run"


def rate_severity(
    group: FaultGroup, impact: RootImpact, snapshot: LineageSnapshot, now: int, rules: SeverityRules
) -> IncidentSeverity:
    """Page when a dataset of a tier that pages is bad, or will be before anybody can answer.

    Args:
        group: the fault.
        impact: its impact.
        snapshot: with deadlines and expected reads.
        now: µs.
        rules: weights and response times.
    """
    kind = KIND_BY_ID[group.root.kind]
    if kind.urgency != "by_tier":
        return IncidentSeverity(TICKET if kind.urgency == "ticket" else PAGE, "kind", impact.score)
    if group.is_latent:
        return _rate_latent(group, impact, snapshot, now, rules)
    already = _first_bad(group, snapshot, rules)
    if already is not None:
        return IncidentSeverity(PAGE, "is_bad", impact.score, *already)
    if not rules.paging[impact.tiers].any():
        return IncidentSeverity(TICKET, "nobody", impact.score)
    return _rate_delay(impact, snapshot, now, rules) if kind.delays else _without_time(impact)


def _rate_latent(
    group: FaultGroup, impact: RootImpact, snapshot: LineageSnapshot, now: int, rules: SeverityRules
) -> IncidentSeverity:
    """Page when a rerun of the usual duration would end after the deadline of the root's dataset.

    Only the root's own datasets count: what is downstream may do without this run.
    """
    rows = _rows(np.array(group.root_keys, dtype=np.int64), snapshot)
    rows = rows[rules.paging[rows["tier"]] & (rows["deadline_at"] != NEVER)]
    if not len(rows):
        return IncidentSeverity(TICKET, "nobody", impact.score)
    duration = np.nan_to_num(rows["duration_seconds"])
    is_missed = (duration > 0) & (rows["deadline_at"] - duration * SECOND_MICROS < now)
    first = rows[np.lexsort((rows["key"], rows["deadline_at"], ~is_missed))[0]]
    hit = int(first["deadline_at"]), int(first["key"])
    if is_missed.any():
        return IncidentSeverity(PAGE, "deadline", impact.score, *hit)
    return IncidentSeverity(TICKET, "later", impact.score, *hit)


def _first_bad(
    group: FaultGroup, snapshot: LineageSnapshot, rules: SeverityRules
) -> tuple[int, int] | None:
    """Return when the first dataset of a paging tier became bad, and which it is."""
    bad = [member for member in group.members if not member.is_latent]
    rows = _rows(np.array([member.dataset_key for member in bad], dtype=np.int64), snapshot)
    pages = rules.paging[rows["tier"]].tolist()
    found = [(each.onset, each.dataset_key) for each, does in zip(bad, pages, strict=True) if does]
    return min(found, default=None)


def _rate_delay(
    impact: RootImpact, snapshot: LineageSnapshot, now: int, rules: SeverityRules
) -> IncidentSeverity:
    """Rate by the dataset whose response time is over first; else the first to be affected."""
    keys = impact.keys[rules.paging[impact.tiers]]
    rows = _rows(keys, snapshot)
    hit_at = _hit_times(rows)
    response = np.array([(rule.response_seconds or 0.0) * SECOND_MICROS for rule in rules.tiers])
    known = np.flatnonzero(hit_at != NEVER)
    if not len(known):
        return _without_time(impact)
    slack = hit_at[known] - now - response[rows["tier"][known]]
    first = known[np.lexsort((keys[known], hit_at[known], np.maximum(slack, 0)))[0]]
    is_soon = bool(slack.min() <= 0)
    return IncidentSeverity(
        PAGE if is_soon else TICKET,
        "soon" if is_soon else "later",
        impact.score,
        int(hit_at[first]),
        int(keys[first]),
    )


def _without_time(impact: RootImpact) -> IncidentSeverity:
    """Return a ticket: when downstream datasets are affected is not known."""
    return IncidentSeverity(TICKET, "later", impact.score)


def _hit_times(rows: Rows) -> NDArray[np.int64]:
    """Return the deadline or the next read, whichever is first; NEVER where neither is known."""
    deadline, read = rows["deadline_at"], rows["next_read_at"]
    least = np.minimum(deadline, read)
    return np.asarray(np.where(least == NEVER, np.maximum(deadline, read), least))


def _tiers(keys: Keys, snapshot: LineageSnapshot) -> NDArray[np.int8]:
    """Return the tiers without a copy of whole rows: an impact may be half of the datasets."""
    places, is_known = positions_in(snapshot.keys, keys)
    tiers = np.full(len(keys), TIERS.index(OPTIONAL), dtype=np.int8)
    tiers[is_known] = snapshot.datasets["tier"][places]
    return tiers


def _rows(keys: Keys, snapshot: LineageSnapshot) -> Rows:
    """Return the rows of these datasets; an unknown dataset is optional."""
    places, is_known = positions_in(snapshot.keys, keys)
    rows = np.zeros(len(keys), dtype=snapshot.datasets.dtype)
    rows["tier"] = TIERS.index(OPTIONAL)
    rows[is_known] = snapshot.datasets[places]
    return rows

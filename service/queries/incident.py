"""Details of an incident: its members, affected datasets, timeline and times."""

import msgspec

from alerts.incidents.times import FaultTimes, LifeTimes, list_times, name_beginning
from lineage.catalog.queries import NO_TIER, TIER_IN_FORCE, rank_of
from lineage.catalog.reader import CatalogReader, rows_for
from lineage.catalog.rows import Row, convert_rows
from lineage.errors import UnknownIncidentError
from lineage.states import TIERS
from service.incidents.diagnosis.ranking import Diagnosis
from service.queries.incident_shapes import (
    IncidentDetail,
    IncidentImpacted,
    IncidentMember,
    IncidentStep,
    IncidentTime,
)
from service.queries.incidents import (
    INCIDENT_COLUMNS,
    OF_ROOT_JOBS,
    incident_row,
    members_join,
    visible_roots,
)
from service.queries.timestamps import iso, iso_of
from service.queries.visibility import EVERYTHING, UNSEEN, Visibility, sql_filter

MOST_MEMBERS = 10_000
MOST_STEPS = 1_000
_LIFE = """
SELECT life, root_kind, root_name, onset, seen_at, opened_at, resolved_at
FROM incident WHERE incident_id = :id
"""
_ONE = f"SELECT {INCIDENT_COLUMNS}, i.diagnosis FROM incident i WHERE i.incident_id = :id"  # noqa: S608 - constants only
_TOUCHED = """
SELECT d.namespace, d.dataset_key FROM incident_member m
JOIN dataset d ON d.dataset_key = m.dataset_key
WHERE m.incident_id = :id
UNION SELECT d.namespace, d.dataset_key FROM incident_impact i
JOIN dataset d ON d.dataset_key = i.dataset_key
WHERE i.incident_id = :id
"""
_OF_TIER = rank_of("p.tier", TIERS, NO_TIER)
_MEMBERS = f"""
SELECT d.namespace, d.name, {TIER_IN_FORCE} AS tier, p.owner, m.kind, m.steps, m.onset,
  by.namespace AS by_namespace, by.name AS by_name, by.dataset_key AS by_key, m.run_id, m.joined_at,
  m.left_at
FROM incident_member m JOIN dataset d ON d.dataset_key = m.dataset_key
LEFT JOIN dataset by ON by.dataset_key = m.explained_by
LEFT JOIN dataset_policy p ON p.dataset_key = m.dataset_key
WHERE m.incident_id = :id AND {{seen}}
ORDER BY CASE WHEN m.left_at IS NULL THEN 0 ELSE 1 END, m.steps,
  {_OF_TIER}, d.namespace, d.name
LIMIT :most
"""  # noqa: S608 - constants only
_IMPACTED = f"""
SELECT d.namespace AS dataset_namespace, d.name AS dataset, {TIER_IN_FORCE} AS tier, p.owner, i.hops
FROM incident_impact i JOIN dataset d ON d.dataset_key = i.dataset_key
LEFT JOIN dataset_policy p ON p.dataset_key = i.dataset_key
WHERE i.incident_id = :id AND {{seen}}
ORDER BY {_OF_TIER}, i.hops, d.namespace, d.name
LIMIT :most
"""  # noqa: S608 - constants only
# Of a fault that opened together with hundreds of others, the list has only the most severe.
_IS_LIST_SHORT = """
SELECT 1 FROM incident i WHERE i.incident_id = :id AND i.impact_count >
  (SELECT count(*) FROM incident_impact l WHERE l.incident_id = i.incident_id)
"""
_STEPS = """
SELECT revision, at, what, reason, by FROM incident_event WHERE incident_id = :id
ORDER BY revision LIMIT :most
"""


class _Life(msgspec.Struct, frozen=True):
    """Times that only the stored life of an incident has."""

    times: FaultTimes = FaultTimes()
    opens: tuple[int, ...] = ()


def load_incident(
    reader: CatalogReader, number: str, visibility: Visibility = EVERYTHING
) -> IncidentDetail:
    """Return the details of an incident.

    Raises:
        UnknownIncidentError: there is none of this id, or nothing of it may be seen.
    """
    condition, names = sql_filter(reader, visibility)
    asked = {"id": number, **names}
    rows = reader.rows(_ONE.format(of_members=members_join(condition, visibility)), asked)
    roots = visible_roots(reader, [row.incident_id for row in rows], visibility)
    if number not in roots:
        message = f"no incident has the id {number[:80]!r}: `lineward incidents` lists them"
        raise UnknownIncidentError(message)
    most = {**asked, "most": MOST_MEMBERS + 1}
    members = reader.rows(_MEMBERS.format(seen=condition), most)
    impacted = reader.rows(_IMPACTED.format(seen=condition), most)
    steps = reader.rows(_STEPS, {"id": number, "most": MOST_STEPS + 1})
    is_list_short = bool(reader.rows(_IS_LIST_SHORT, {"id": number}))
    is_cut = max(len(members), len(impacted)) > MOST_MEMBERS
    cuts = [f"{MOST_MEMBERS:,} datasets"] if is_cut else []
    if is_list_short and not is_cut:
        cuts.append(f"{len(impacted):,} affected datasets")
    cuts += [f"{MOST_STEPS:,} steps"] if len(steps) > MOST_STEPS else []
    reasons = [f"the first {' and '.join(cuts)} are listed"] if cuts else []
    is_whole = not _hides(reader, number, visibility)
    reasons += [] if is_whole else [UNSEEN]
    return IncidentDetail(
        incident=incident_row(rows[0], is_root_seen=roots[number]),
        # An error in it may name anything, as that of a run.
        evidence=rows[0].evidence if visibility.is_whole else "",
        members=[_member(row, visibility) for row in members[:MOST_MEMBERS]],
        impacted=convert_rows(IncidentImpacted, impacted[:MOST_MEMBERS]),
        is_impacted_partial=is_list_short or len(impacted) > MOST_MEMBERS,
        steps=[_step(row, is_whole=is_whole) for row in steps[:MOST_STEPS]],
        partial=bool(reasons),
        partial_reason="; ".join(reasons) or None,
        times=_times(reader, number, is_root_seen=roots[number]),
        diagnosis=_read_diagnosis(rows[0].diagnosis) if visibility.is_whole else None,
    )


def _times(reader: CatalogReader, number: str, *, is_root_seen: bool) -> list[IncidentTime]:
    """Return its times by name; the times of its datasets need permission to see the root."""
    (row,) = reader.rows(_LIFE, {"id": number})
    life = _read_life(row.life)
    known = life.times if is_root_seen else FaultTimes()
    own = LifeTimes(row.seen_at, row.opened_at, life.opens, row.resolved_at)
    begins = name_beginning(row.root_kind, row.root_name, row.onset, known)
    found = list_times(begins, own)
    return [IncidentTime(each.name, iso_of(each.at)) for each in found]


def _read_life(text: str) -> _Life:
    """Return the stored times; an incident of an older version has none."""
    try:
        return msgspec.json.decode(text, type=_Life)
    except msgspec.DecodeError:
        return _Life()


def _read_diagnosis(text: str | None) -> Diagnosis | None:
    """Return the stored comparison; None while there is none, and where no run failed."""
    found = None if text is None else msgspec.json.decode(text, type=Diagnosis)
    return found if found is not None and found.good_run_id else None


def _hides(reader: CatalogReader, number: str, visibility: Visibility) -> bool:
    """Return whether the incident has datasets that the token may not see."""
    if visibility.is_whole:
        return False
    touched = [*reader.rows(_TOUCHED, {"id": number}), *rows_for(reader, OF_ROOT_JOBS, [number])]
    return not all(visibility.sees(row.namespace, row.dataset_key) for row in touched)


def _step(row: Row, *, is_whole: bool) -> IncidentStep:
    reason = row.reason if is_whole else ""
    return IncidentStep(row.revision, iso_of(row.at), row.what, reason, row.by)


def _member(row: Row, visibility: Visibility) -> IncidentMember:
    by = row.by_namespace
    is_cause_seen = by is not None and visibility.sees(by, row.by_key)
    return IncidentMember(
        dataset_namespace=row.namespace,
        dataset=row.name,
        tier=row.tier,
        owner=row.owner,
        kind=row.kind,
        steps=row.steps,
        onset=iso_of(row.onset),
        explained_by=f"{by}/{row.by_name}" if is_cause_seen else None,
        run_id=row.run_id,
        joined_at=iso_of(row.joined_at),
        left_at=iso(row.left_at),
    )

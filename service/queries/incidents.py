"""Incidents: the list, and the details of one with its members and timeline."""

from collections.abc import Sequence

import msgspec

from alerts.incidents.times import FaultTimes, LifeTimes, list_times, name_beginning
from lineage.catalog.queries import NO_TIER, TIER, rank_of, severity_rank
from lineage.catalog.reader import Reader, rows_for
from lineage.catalog.rows import Row, convert_rows
from lineage.errors import UnknownIncidentError
from lineage.states import FAILING, TIERS
from service.api.access.visibility import EVERYTHING, Visibility
from service.queries.cursors import Text, Whole, cursor_of, key_of
from service.queries.incident_shapes import (
    IncidentDetail,
    IncidentImpacted,
    IncidentMember,
    IncidentPage,
    IncidentRow,
    IncidentStep,
    IncidentTime,
)
from service.queries.timestamps import iso, iso_of
from service.queries.visible import UNSEEN, sql_filter

MOST_LISTED = 1_000
MOST_MEMBERS = 10_000
MOST_STEPS = 1_000
# A dataset whose run failed is a member before it is bad.
_COLUMNS = f"""
    i.incident_id, i.state, i.severity, i.what, i.root_kind, i.root_namespace, i.root_name,
    i.unknown, i.owner, i.onset, i.opened_at, i.acknowledged_at, i.acknowledged_by,
    i.resolved_at, i.hit_at, i.score, i.is_flapping, i.is_frozen, i.evidence,
    (SELECT count(*) FROM incident_member m {{of_members}}
        WHERE m.incident_id = i.incident_id AND m.left_at IS NULL AND m.kind <> '{FAILING}')
    AS datasets
"""  # noqa: S608 - a constant
_OF_MEMBERS = "JOIN dataset d ON d.dataset_key = m.dataset_key AND {seen}"
# Nobody was notified of a pending incident; it is shown as long as it is pending.
_SHOWN = "(i.state != 'pending' OR i.is_remembered)"
_SORT_COLUMNS = {
    "is_over": "CASE WHEN i.state IN ('resolved', 'suppressed') THEN 1 ELSE 0 END",
    "of_severity": severity_rank(),
    "newest_first": "-coalesce(i.resolved_at, i.opened_at, i.seen_at)",
}
_KEY = f"{', '.join(_SORT_COLUMNS.values())}, i.incident_id"
_KEY_COLUMNS = ", ".join(f"{sql} AS {name}" for name, sql in _SORT_COLUMNS.items())
_WANTED = f"""
FROM incident i WHERE {_SHOWN} AND (:every = 1 OR i.state != 'resolved') AND {{seen}} {{of}}
"""
_OF_DATASET = """AND EXISTS (
  SELECT 1 FROM incident_member one WHERE one.incident_id = i.incident_id
  AND one.dataset_key = :dataset AND one.left_at IS NULL)"""
_COUNTED = f"SELECT COUNT(*) {_WANTED}"
_LISTED = f"""
SELECT {_COLUMNS}, {_KEY_COLUMNS} {_WANTED} {{behind}} ORDER BY {_KEY} LIMIT :most
"""
_BEHIND = f"AND ({_KEY}) > (:is_over, :of_severity, CAST(:newest_first AS BIGINT), :id)"
_SortKey = tuple[Whole, Whole, Whole, Text]
_OF_SEEN = """EXISTS (
  SELECT 1 FROM incident_member m JOIN dataset d ON d.dataset_key = m.dataset_key
  WHERE m.incident_id = i.incident_id AND {seen})"""
_LIFE = """
SELECT life, root_kind, root_name, onset, seen_at, opened_at, resolved_at
FROM incident WHERE incident_id = :id
"""
_ONE = f"SELECT {_COLUMNS} FROM incident i WHERE i.incident_id = :id"  # noqa: S608 - likewise
_NAMESPACES = """
SELECT DISTINCT m.incident_id, d.namespace, d.dataset_key, m.steps = 0 AS is_root
FROM incident_member m
JOIN dataset d ON d.dataset_key = m.dataset_key WHERE m.incident_id IN (:keys)
"""
# A job is called after what it makes: where its failed run touched what may not be seen, the root
# may not be seen either.
_OF_ROOT_JOBS = """
SELECT DISTINCT m.incident_id, d.namespace, d.dataset_key FROM incident_member m
JOIN incident i ON i.incident_id = m.incident_id AND i.root_entity = 'job'
JOIN run r ON r.run_id = m.run_id JOIN run_io io ON io.run_key = r.run_key
JOIN dataset d ON d.dataset_key = io.dataset_key
WHERE m.incident_id IN (:keys) AND m.steps = 0
"""
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
SELECT d.namespace, d.name, {TIER} AS tier, p.owner, m.kind, m.steps, m.onset,
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
SELECT d.namespace AS dataset_namespace, d.name AS dataset, {TIER} AS tier, p.owner, i.hops
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


def incidents(  # noqa: PLR0913 - each narrows what is listed
    reader: Reader,
    visibility: Visibility = EVERYTHING,
    *,
    is_over_too: bool = False,
    limit: int = 100,
    cursor: str | None = None,
    dataset: int | None = None,
) -> IncidentPage:
    """List unresolved incidents, or all, of which the token may see a dataset.

    Args:
        reader: of the catalog.
        visibility: permissions of the token.
        is_over_too: also list resolved incidents.
        limit: at most so many.
        cursor: of the page before.
        dataset: key of an affected dataset; None: any dataset.

    Raises:
        InvalidQuestionError: the cursor is of another query.
    """
    question = "incidents", is_over_too, dataset
    behind = key_of(cursor, question, _SortKey)
    condition, names = sql_filter(reader, visibility)
    of_seen = condition if visibility.is_whole else _OF_SEEN.format(seen=condition)
    of = "" if dataset is None else _OF_DATASET
    values = {"every": int(is_over_too), "dataset": dataset, **names}
    total: int = reader.rows(_COUNTED.format(seen=of_seen, of=of), values)[0][0]
    values |= {"most": limit + 1}
    if behind is not None:
        values |= dict(zip((*_SORT_COLUMNS, "id"), behind, strict=True))
    of_members = _of_members(condition, visibility)
    behind_it = "" if behind is None else _BEHIND
    sql = _LISTED.format(seen=of_seen, of=of, behind=behind_it, of_members=of_members)
    rows = reader.rows(sql, values)
    return _page(reader, rows, visibility, (limit, total, question))


def _page(
    reader: Reader, rows: Sequence[Row], visibility: Visibility, asked: tuple[int, int, object]
) -> IncidentPage:
    limit, total, question = asked
    roots = _seen(reader, [row.incident_id for row in rows[:limit]], visibility)
    shown = [_row(row, is_root_seen=roots[row.incident_id]) for row in rows[:limit]]
    is_cut = len(shown) < total
    return IncidentPage(
        incidents=shown,
        total=total,
        partial=is_cut,
        partial_reason=f"{len(shown):,} of {total:,} shown" if is_cut else None,
        next_cursor=cursor_of(question, _key_of_row(rows[limit - 1])) if rows[limit:] else None,
    )


def incident(reader: Reader, number: str, visibility: Visibility = EVERYTHING) -> IncidentDetail:
    """Return the details of an incident.

    Raises:
        UnknownIncidentError: there is none of this id, or nothing of it may be seen.
    """
    condition, names = sql_filter(reader, visibility)
    asked = {"id": number, **names}
    rows = reader.rows(_ONE.format(of_members=_of_members(condition, visibility)), asked)
    roots = _seen(reader, [row.incident_id for row in rows], visibility)
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
        incident=_row(rows[0], is_root_seen=roots[number]),
        # An error in it may name anything, as that of a run.
        evidence=rows[0].evidence if visibility.is_whole else "",
        members=[_member(row, visibility) for row in members[:MOST_MEMBERS]],
        impacted=convert_rows(IncidentImpacted, impacted[:MOST_MEMBERS]),
        is_impacted_partial=is_list_short or len(impacted) > MOST_MEMBERS,
        steps=[_step(row, is_whole=is_whole) for row in steps[:MOST_STEPS]],
        partial=bool(reasons),
        partial_reason="; ".join(reasons) or None,
        times=_times(reader, number, is_root_seen=roots[number]),
    )


def _times(reader: Reader, number: str, *, is_root_seen: bool) -> list[IncidentTime]:
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


def is_root_seen(reader: Reader, number: str, visibility: Visibility) -> bool:
    """Return whether the owner and the notified owners may be shown."""
    return _seen(reader, [number], visibility).get(number, False)


def _of_members(condition: str, visibility: Visibility) -> str:
    """Return the join that counts visible members; empty for a token that sees every dataset."""
    return "" if visibility.is_whole else _OF_MEMBERS.format(seen=condition)


def _hides(reader: Reader, number: str, visibility: Visibility) -> bool:
    """Return whether the incident has datasets that the token may not see."""
    if visibility.is_whole:
        return False
    touched = [*reader.rows(_TOUCHED, {"id": number}), *rows_for(reader, _OF_ROOT_JOBS, [number])]
    return not all(visibility.sees(row.namespace, row.dataset_key) for row in touched)


def _seen(reader: Reader, numbers: Sequence[str], visibility: Visibility) -> dict[str, bool]:
    """Incidents of which something may be seen; whether their root is."""
    if visibility.is_whole:
        return dict.fromkeys(numbers, True)

    def is_seen(row: Row) -> bool:
        return visibility.sees(row.namespace, row.dataset_key)

    members = rows_for(reader, _NAMESPACES, numbers)
    found = {row.incident_id for row in members if is_seen(row)}
    roots = [row for row in members if row.is_root]
    touched = [*roots, *rows_for(reader, _OF_ROOT_JOBS, found)]
    hidden = {row.incident_id for row in touched if not is_seen(row)}
    shown = {row.incident_id for row in roots} - hidden
    return {number: number in shown for number in found}


def _key_of_row(row: Row) -> tuple[object, ...]:
    return row.is_over, row.of_severity, row.newest_first, row.incident_id


def _step(row: Row, *, is_whole: bool) -> IncidentStep:
    reason = row.reason if is_whole else ""
    return IncidentStep(row.revision, iso_of(row.at), row.what, reason, row.by)


def _row(row: Row, *, is_root_seen: bool) -> IncidentRow:
    return IncidentRow(
        id=row.incident_id,
        state=row.state,
        severity=row.severity,
        what=row.what if is_root_seen else f"a fault of the kind {row.root_kind}",
        kind=row.root_kind,
        root_namespace=row.root_namespace if is_root_seen else None,
        root=row.root_name if is_root_seen else None,
        unknown=row.unknown,
        owner=row.owner if is_root_seen else None,
        onset=iso_of(row.onset),
        opened_at=iso(row.opened_at),
        acknowledged_at=iso(row.acknowledged_at),
        acknowledged_by=row.acknowledged_by,
        resolved_at=iso(row.resolved_at),
        hit_at=iso(row.hit_at),
        datasets=row.datasets,
        score=row.score,
        flapping=bool(row.is_flapping),
        frozen=bool(row.is_frozen),
    )


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

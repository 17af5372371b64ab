"""List of incidents, and the parts of an incident that a token may see."""

from collections.abc import Sequence

from lineage.catalog.queries import severity_rank
from lineage.catalog.reader import CatalogReader, rows_for
from lineage.catalog.rows import Row
from lineage.states import FAILING
from service.queries.cursors import CursorText, Whole, cursor_of, start_key
from service.queries.incident_shapes import IncidentPage, IncidentRow
from service.queries.timestamps import iso, iso_of
from service.queries.visibility import EVERYTHING, Visibility, sql_filter

MOST_INCIDENTS = 1_000
# A dataset whose run failed is a member before it is bad.
INCIDENT_COLUMNS = f"""
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
SELECT {INCIDENT_COLUMNS}, {_KEY_COLUMNS} {_WANTED} {{behind}} ORDER BY {_KEY} LIMIT :most
"""
_BEHIND = f"AND ({_KEY}) > (:is_over, :of_severity, CAST(:newest_first AS BIGINT), :id)"
_SortKey = tuple[Whole, Whole, Whole, CursorText]
_OF_SEEN = """EXISTS (
  SELECT 1 FROM incident_member m JOIN dataset d ON d.dataset_key = m.dataset_key
  WHERE m.incident_id = i.incident_id AND {seen})"""
_NAMESPACES = """
SELECT DISTINCT m.incident_id, d.namespace, d.dataset_key, m.steps = 0 AS is_root
FROM incident_member m
JOIN dataset d ON d.dataset_key = m.dataset_key WHERE m.incident_id IN (:keys)
"""
# A job is called after what it makes: where its failed run touched what may not be seen, the root
# may not be seen either.
OF_ROOT_JOBS = """
SELECT DISTINCT m.incident_id, d.namespace, d.dataset_key FROM incident_member m
JOIN incident i ON i.incident_id = m.incident_id AND i.root_entity = 'job'
JOIN run r ON r.run_id = m.run_id JOIN run_io io ON io.run_key = r.run_key
JOIN dataset d ON d.dataset_key = io.dataset_key
WHERE m.incident_id IN (:keys) AND m.steps = 0
"""


def list_incidents(  # noqa: PLR0913 - each narrows what is listed
    reader: CatalogReader,
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
        InvalidRequestError: the cursor is of another query.
    """
    question = "incidents", is_over_too, dataset
    behind = start_key(cursor, question, _SortKey)
    condition, names = sql_filter(reader, visibility)
    of_seen = condition if visibility.is_whole else _OF_SEEN.format(seen=condition)
    of = "" if dataset is None else _OF_DATASET
    values = {"every": int(is_over_too), "dataset": dataset, **names}
    total: int = reader.rows(_COUNTED.format(seen=of_seen, of=of), values)[0][0]
    values |= {"most": limit + 1}
    if behind is not None:
        values |= dict(zip((*_SORT_COLUMNS, "id"), behind, strict=True))
    of_members = members_join(condition, visibility)
    behind_it = "" if behind is None else _BEHIND
    sql = _LISTED.format(seen=of_seen, of=of, behind=behind_it, of_members=of_members)
    rows = reader.rows(sql, values)
    return _page(reader, rows, visibility, (limit, total, question))


def _page(
    reader: CatalogReader,
    rows: Sequence[Row],
    visibility: Visibility,
    asked: tuple[int, int, object],
) -> IncidentPage:
    limit, total, question = asked
    roots = visible_roots(reader, [row.incident_id for row in rows[:limit]], visibility)
    shown = [incident_row(row, is_root_seen=roots[row.incident_id]) for row in rows[:limit]]
    is_cut = len(shown) < total
    return IncidentPage(
        incidents=shown,
        total=total,
        partial=is_cut,
        partial_reason=f"{len(shown):,} of {total:,} shown" if is_cut else None,
        next_cursor=cursor_of(question, _key_of_row(rows[limit - 1])) if rows[limit:] else None,
    )


def is_root_seen(reader: CatalogReader, number: str, visibility: Visibility) -> bool:
    """Return whether the owner and the notified owners may be shown."""
    return visible_roots(reader, [number], visibility).get(number, False)


def members_join(condition: str, visibility: Visibility) -> str:
    """Return the join that counts visible members; empty for a token that sees every dataset."""
    return "" if visibility.is_whole else _OF_MEMBERS.format(seen=condition)


def visible_roots(
    reader: CatalogReader, numbers: Sequence[str], visibility: Visibility
) -> dict[str, bool]:
    """Return which of these incidents may be seen, and whether the root of each may."""
    if visibility.is_whole:
        return dict.fromkeys(numbers, True)

    def is_seen(row: Row) -> bool:
        return visibility.sees(row.namespace, row.dataset_key)

    members = rows_for(reader, _NAMESPACES, numbers)
    found = {row.incident_id for row in members if is_seen(row)}
    roots = [row for row in members if row.is_root]
    touched = [*roots, *rows_for(reader, OF_ROOT_JOBS, found)]
    hidden = {row.incident_id for row in touched if not is_seen(row)}
    shown = {row.incident_id for row in roots} - hidden
    return {number: number in shown for number in found}


def _key_of_row(row: Row) -> tuple[object, ...]:
    return row.is_over, row.of_severity, row.newest_first, row.incident_id


def incident_row(row: Row, *, is_root_seen: bool) -> IncidentRow:
    """Return an incident in short; without permission to see the root, its names are left out."""
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

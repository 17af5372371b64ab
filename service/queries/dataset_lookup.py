"""Look-up of datasets: by their names, by names folded into them, or by the last part."""

import difflib
from collections.abc import Iterable
from typing import Final

from lineage.catalog.reader import CatalogReader, rows_for
from lineage.catalog.rows import Row
from lineage.names.keys import key
from lineage.names.names import FOLD, fold, join_parts
from service.errors import AmbiguousDatasetError, ForbiddenNamespaceError, UnknownDatasetError
from service.queries.datasets import escape_like
from service.queries.visibility import EVERYTHING, Visibility

_MOST_CANDIDATES = 5
_PARTS_WITH_CATALOG = 3  # catalog, schema and table
_MOST_COMPARED = 20_000  # names held against a misspelt one: more would not answer in 0.5 s
_CANONICAL = """
SELECT c.dataset_key, c.namespace, c.name FROM dataset d
JOIN dataset c ON c.dataset_key = d.canonical_key
"""
_BY_NAME = f"""
{_CANONICAL} WHERE d.name = :wanted OR d.namespace || '/' || d.name = :wanted
  OR d.namespace || d.name = :wanted OR d.namespace || ':' || d.name = :wanted
"""
_BY_ALIAS = """
SELECT c.dataset_key, c.namespace, c.name, a.namespace AS alias_namespace, a.name AS alias
FROM dataset d
JOIN dataset c ON c.dataset_key = d.canonical_key
JOIN dataset_alias a ON a.dataset_key = d.dataset_key
WHERE a.name = :wanted OR a.namespace || '/' || a.name = :wanted OR a.namespace || a.name = :wanted
"""
# What a fold of the policy took was never a dataset, or is one no more.
_BY_FOLD = f"""
{_CANONICAL} JOIN dataset_alias a ON a.dataset_key = d.dataset_key
WHERE a.alias_key = :key AND a.rule = '{FOLD}' ORDER BY a.last_seen_at DESC
"""
_BY_KEYS = """
SELECT d.dataset_key AS wanted_key, c.dataset_key, c.namespace, c.name FROM dataset d
JOIN dataset c ON c.dataset_key = d.canonical_key WHERE d.dataset_key IN (:keys)
"""
_BY_FOLDS = f"""
SELECT a.alias_key AS wanted_key, c.dataset_key, c.namespace, c.name FROM dataset_alias a
JOIN dataset d ON d.dataset_key = a.dataset_key JOIN dataset c ON c.dataset_key = d.canonical_key
WHERE a.alias_key IN (:keys) AND a.rule = '{FOLD}' ORDER BY a.last_seen_at
"""  # noqa: S608 - a constant
# What follows its first condition makes it exact: SQLite's LIKE does not mind case.
_BY_LAST_PART = f"""
{_CANONICAL} WHERE
  (d.name LIKE '%/' || :suffix ESCAPE '!' OR d.name LIKE '%.' || :suffix ESCAPE '!')
  AND substr(d.name, length(d.name) - length(CAST(:wanted AS TEXT)))
    IN ('/' || :wanted, '.' || :wanted)
"""
_LIKE_IT = (
    "SELECT namespace, name, canonical_key FROM dataset WHERE {alike} ORDER BY name LIMIT :most"
)

UNCHOSEN: Final = "no dataset is selected"

KnownDataset = tuple[int, str, str]  # canonical key, namespace, name


def resolve_dataset(
    reader: CatalogReader,
    wanted: str,
    namespace: str | None = None,
    visibility: Visibility = EVERYTHING,
) -> KnownDataset:
    """Return the canonical dataset of a name.

    Args:
        reader: of the catalog.
        wanted: a name; without `namespace` also `namespace/name`, or a name's last part.
        namespace: as OpenLineage gives it; folded like the name.
        visibility: permissions of the token; hidden datasets count as unknown.

    Raises:
        UnknownDatasetError: no dataset has the name.
        AmbiguousDatasetError: several datasets have the name.
        ForbiddenNamespaceError: the token may not see the namespace.
    """
    if namespace is not None:
        return _by_both(reader, namespace, wanted, visibility)
    found = _called(reader, wanted, visibility)
    if len(found) == 1:
        return found[0]
    if found:
        raise AmbiguousDatasetError(wanted, _shown(found))
    raise UnknownDatasetError(wanted, _candidates(reader, wanted, visibility))


def _called(reader: CatalogReader, wanted: str, visibility: Visibility) -> list[KnownDataset]:
    """Return the datasets of this name; else of this alias; else whose name ends with it."""
    for sql in (_BY_NAME, _BY_ALIAS, _BY_LAST_PART):
        rows = reader.rows(sql, {"wanted": wanted, "suffix": escape_like(wanted)})
        found = sorted({_dataset(row) for row in rows if _is_seen(row, visibility)})
        if found:
            return found
    return []


def _is_seen(row: Row, visibility: Visibility) -> bool:
    """Return whether the token may see the dataset, and the alias that it was found by."""
    if not visibility.sees(row.namespace, row.dataset_key):
        return False
    alias = getattr(row, "alias", None)
    return alias is None or visibility.sees(fold(row.alias_namespace, alias).namespace)


def _dataset(row: Row) -> KnownDataset:
    return row.dataset_key, row.namespace, row.name


def _by_both(
    reader: CatalogReader, namespace: str, name: str, visibility: Visibility
) -> KnownDataset:
    folded = fold(namespace, name)
    if not visibility.sees(folded.namespace):
        message = f"the token may not see the namespace {namespace[:80]!r}"
        raise ForbiddenNamespaceError(message)
    wanted = {"key": key(folded.namespace, folded.name)}
    rows = reader.rows(f"{_CANONICAL} WHERE d.dataset_key = :key", wanted)
    rows = rows or reader.rows(_BY_FOLD, wanted)
    if not rows or not visibility.sees(rows[0].namespace, rows[0].dataset_key):
        raise UnknownDatasetError(
            join_parts(namespace, name), _candidates(reader, name, visibility)
        )
    return _dataset(rows[0])


def find_among(
    reader: CatalogReader, spellings: Iterable[tuple[str, str]], visibility: Visibility
) -> KnownDataset | None:
    """Return the first existing and visible dataset of these namespaces and names."""
    folds = (fold(*spelling) for spelling in spellings)
    keys = [key(one.namespace, one.name) for one in folds if visibility.sees(one.namespace)]
    known = {row.wanted_key: _dataset(row) for row in rows_for(reader, _BY_KEYS, keys)}
    taken = {row.wanted_key: _dataset(row) for row in rows_for(reader, _BY_FOLDS, keys)}
    found = (known.get(one) or taken.get(one) for one in keys)
    return next((one for one in found if one is not None and visibility.sees(one[1], one[0])), None)


def _shown(found: list[KnownDataset]) -> list[str]:
    return sorted(join_parts(namespace, name) for _, namespace, name in found)[:_MOST_CANDIDATES]


def _without_catalog(
    reader: CatalogReader, wanted: str, visibility: Visibility
) -> list[KnownDataset]:
    """Return the datasets that a name with a catalog before it may mean, as `lake.silver.orders`.

    They are called `silver.orders`, or lie in a folder `lake/silver/orders` or `silver/orders`.
    Another catalog may have such a table too, so that these are candidates and no match.
    """
    parts = wanted.split(".")
    if len(parts) != _PARTS_WITH_CATALOG or "/" in wanted:
        return []
    names = (".".join(parts[1:]), "/".join(parts), "/".join(parts[1:]))
    return next((found for name in names if (found := _called(reader, name, visibility))), [])


def _candidates(reader: CatalogReader, wanted: str, visibility: Visibility) -> list[str]:
    if found := _without_catalog(reader, wanted, visibility):
        return _shown(found)
    last_part = wanted.rstrip("/").rpartition("/")[2]
    # Of many that may not be seen a few that may must still be found.
    most = _MOST_CANDIDATES if visibility.is_whole else _MOST_COMPARED
    like = {"like": f"%{escape_like(last_part)}%", "most": most}
    rows = reader.rows(_LIKE_IT.format(alike=reader.alike("name", ":like")), like)
    seen = [row for row in rows if visibility.sees(row.namespace, row.canonical_key)]
    shown = seen[:_MOST_CANDIDATES] or _spelt_alike(reader, last_part, visibility)
    return [join_parts(row.namespace, row.name) for row in shown]


def _spelt_alike(reader: CatalogReader, last_part: str, visibility: Visibility) -> list[Row]:
    rows = reader.rows(
        "SELECT namespace, name, canonical_key FROM dataset ORDER BY last_seen_at DESC LIMIT :most",
        {"most": _MOST_COMPARED},
    )
    by_part = {
        row.name.rstrip("/").rpartition("/")[2]: row
        for row in reversed(rows)
        if visibility.sees(row.namespace, row.canonical_key)
    }
    close = difflib.get_close_matches(last_part, by_part, n=_MOST_CANDIDATES)
    return [by_part[part] for part in close]

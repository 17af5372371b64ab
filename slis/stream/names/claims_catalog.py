"""Claims and writers of names, in the catalog."""

from collections import defaultdict
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from typing import Any

from sqlalchemy import Connection, Row, text

from lineage.catalog import tables
from lineage.catalog.upsert import at_the_later, fold_rows, greatest, least, upsert
from lineage.states import TIERS
from slis.key_queries import in_parts
from slis.stream.names.claims import DROP, RENAME, SYMLINK, DatasetLink, LinkClaims, Writers

# The longest prefix of a job namespace that surely fits an index entry of PostgreSQL.
_BY = "substr(r.root_job_namespace, 1, 200)"
_NO_DATA = f"('{DROP.upper()}', '{RENAME.upper()}')"
TIER, OWNER = "tier", "owner"
_LINKS = f"('{SYMLINK}', '{RENAME}')"
_LINK_CLAIMS = f"""
    SELECT l.alias_key, l.dataset_key, l.rule, coalesce({_BY}, '') AS job_namespace,
        l.namespace, l.name, coalesce(io.first_event_at, l.first_seen_at) AS first_seen_at,
        coalesce(io.last_event_at, l.last_seen_at) AS last_seen_at
    FROM s_link l
    LEFT JOIN s_run_io io ON io.spelling_key = l.spelling_key AND io.facets_key = l.facets_key
    LEFT JOIN s_run r ON r.run_key = io.run_key
"""  # noqa: S608 - our own columns
_DROPS = f"""
    SELECT io.dataset_key AS alias_key, io.dataset_key, '{DROP}' AS rule, {_BY} AS job_namespace,
        d.namespace, d.name, coalesce(r.completed_at, io.last_event_at) AS first_seen_at,
        coalesce(r.completed_at, io.last_event_at) AS last_seen_at
    FROM t_io io JOIN t_run r ON r.run_key = io.run_key
    JOIN dataset d ON d.dataset_key = io.dataset_key
    WHERE io.direction = 'write' AND io.lifecycle = '{DROP.upper()}'
        AND io.run_key IN (SELECT run_key FROM s_run_io)
    UNION ALL
    SELECT f.dataset_key, f.dataset_key, '{DROP}', '', d.namespace, d.name, f.first_seen_at,
        f.last_seen_at
    FROM s_facets f JOIN dataset d ON d.dataset_key = f.dataset_key
    WHERE f.lifecycle = '{DROP.upper()}' AND NOT EXISTS (
        SELECT 1 FROM s_run_io io
        WHERE io.spelling_key = f.spelling_key AND io.facets_key = f.facets_key)
"""  # noqa: S608 - our own columns
# An event without a run drops nothing.
_CLAIMS = f"""
    SELECT alias_key, dataset_key, rule, job_namespace, max(namespace) AS namespace,
        max(name) AS name, min(first_seen_at) AS first_seen_at, max(last_seen_at) AS last_seen_at,
        :landed_at AS landed_at, :landed_at AS last_landed_at,
        rule = '{DROP}' AND job_namespace = '' AS is_refused
    FROM ({{claimed}}) AS claims GROUP BY alias_key, dataset_key, rule, job_namespace
"""  # noqa: S608 - our own columns
_ATTRIBUTES = f"""
    SELECT s.dataset_key, s.kind, s.value, coalesce({_BY}, '') AS job_namespace,
        max(r.root_job_name) AS job_name, :landed_at AS last_landed_at
    FROM (
        SELECT dataset_key, '{TIER}' AS kind, lower(value) AS value, spelling_key, facets_key
        FROM s_tag WHERE lower(tag) = 'tier' AND lower(value) IN {TIERS}
        UNION
        SELECT subject_key, '{OWNER}', owner, spelling_key, facets_key
        FROM s_owner WHERE subject = 'dataset') AS s
    LEFT JOIN s_run_io io ON io.spelling_key = s.spelling_key AND io.facets_key = s.facets_key
    LEFT JOIN s_run r ON r.run_key = io.run_key
    GROUP BY s.dataset_key, s.kind, s.value, coalesce({_BY}, '')
"""  # noqa: S608 - our own columns and words
# Most of what runs write is known to be written by their job namespaces. Runs of one job write the
# same names: these are looked up once for all of them.
_STORE_WRITTEN = text(f"""
    INSERT INTO t_written (dataset_key, job_namespace) SELECT w.dataset_key, w.job_namespace FROM (
    SELECT DISTINCT n.dataset_key, o.job_namespace
    FROM (
        SELECT DISTINCT io.spelling_key, io.facets_key, {_BY} AS job_namespace
        FROM s_run_io io JOIN s_run r ON r.run_key = io.run_key WHERE io.direction = 'write'
    ) AS o JOIN s_name n ON n.spelling_key = o.spelling_key
    LEFT JOIN s_facets f ON f.spelling_key = o.spelling_key AND f.facets_key = o.facets_key
    WHERE coalesce(f.lifecycle, '') NOT IN {_NO_DATA}
    ) AS w WHERE NOT EXISTS (SELECT 1 FROM dataset_producer p WHERE p.dataset_key = w.dataset_key
        AND p.job_namespace = w.job_namespace AND p.landed_at <= :landed_at)
""")  # noqa: S608 - our own columns
_WRITTEN = """
    SELECT dataset_key, job_namespace, :landed_at AS landed_at FROM t_written WHERE 1 = 1
"""
_UNSETTLED = f"""
    SELECT s.dataset_key FROM ({_LINK_CLAIMS}) AS s WHERE NOT EXISTS (
        SELECT 1 FROM dataset_claim c WHERE c.alias_key = s.alias_key
        AND c.dataset_key = s.dataset_key AND c.rule = s.rule
        AND c.job_namespace = s.job_namespace)
    UNION
    SELECT s.dataset_key FROM ({_LINK_CLAIMS}) AS s
    JOIN dataset_claim c ON c.alias_key = s.alias_key
        AND c.dataset_key = s.dataset_key AND c.rule = s.rule
        AND c.job_namespace = s.job_namespace AND c.last_seen_at < s.last_seen_at
    WHERE s.rule = '{RENAME}' AND EXISTS (SELECT 1 FROM dataset_claim o WHERE o.rule = '{RENAME}'
        AND (o.dataset_key = s.alias_key OR o.alias_key = s.dataset_key))
    UNION
    SELECT n.dataset_key FROM s_name n WHERE n.is_dataset = 1
    AND NOT EXISTS (SELECT 1 FROM dataset d WHERE d.dataset_key = n.dataset_key)
    AND {{is_tied}}
    UNION
    SELECT n.dataset_key FROM t_written n WHERE NOT EXISTS (
        SELECT 1 FROM dataset_producer p WHERE p.dataset_key = n.dataset_key
        AND p.job_namespace = n.job_namespace)
    AND {{is_tied}}
    UNION
    SELECT n.dataset_key FROM s_name n WHERE n.is_dataset = 1 AND n.folder_key IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM dataset d WHERE d.dataset_key = n.dataset_key
        AND d.folder_key = n.folder_key)
    AND (EXISTS (SELECT 1 FROM dataset f WHERE f.dataset_key = n.folder_key)
        OR n.folder_key IN (SELECT dataset_key FROM s_name WHERE is_dataset = 1))
"""  # noqa: S608 - our own columns
_IS_TIED = f"""
    (EXISTS (SELECT 1 FROM dataset_claim c WHERE c.alias_key = n.dataset_key
        AND c.rule IN {_LINKS})
    OR EXISTS (SELECT 1 FROM dataset_claim c WHERE c.dataset_key = n.dataset_key
        AND c.rule IN {_LINKS})
    OR EXISTS (SELECT 1 FROM dataset_alias a WHERE a.alias_key = n.dataset_key
        AND a.rule = 'policy')
    OR EXISTS (SELECT 1 FROM dataset_alias a WHERE a.dataset_key = n.dataset_key
        AND a.rule = 'policy')
    OR EXISTS (SELECT 1 FROM dataset f WHERE f.folder_key = n.dataset_key)
    OR EXISTS (SELECT 1 FROM dataset f JOIN dataset d ON d.dataset_key = f.folder_key
        WHERE f.dataset_key = n.dataset_key))
"""  # noqa: S608 - words of ours
_SEEN_AGAIN = """
    SELECT l.alias_key, l.dataset_key, l.rule, min(l.first_seen_at) AS first_seen_at,
        max(l.last_seen_at) AS last_seen_at, max(a.namespace) AS namespace, max(a.name) AS name
    FROM s_link l JOIN dataset_alias a ON a.alias_key = l.alias_key
        AND a.dataset_key = l.dataset_key AND a.rule = l.rule
    GROUP BY l.alias_key, l.dataset_key, l.rule
"""
_SEEN = {"first_seen_at": least, "last_seen_at": greatest}


def unsettled_claims(connection: Connection) -> set[int]:
    """Return the names whose component the batch changes.

    To be asked after `stage_written`, before `merge_claims` and before datasets are merged.
    """
    return set(connection.scalars(text(_UNSETTLED.format(is_tied=_IS_TIED))))


def stage_written(connection: Connection, landed_at: int) -> None:
    """Stage which names are written by job namespaces that were not known to write them."""
    connection.execute(_STORE_WRITTEN, {"landed_at": landed_at})


def merge_claims(connection: Connection, landed_at: int) -> None:
    """Merge who writes which name, and what is claimed of names."""
    given = {"landed_at": landed_at}
    upsert(connection, tables.dataset_producer, _WRITTEN, {"landed_at": least}, given=given)
    _merge(connection, _LINK_CLAIMS, landed_at)
    upsert(connection, tables.dataset_alias, _SEEN_AGAIN, _SEEN, keeps="namespace name")


def merge_attributes(connection: Connection, landed_at: int) -> None:
    """Merge which tiers and owners facets give to datasets, and whose jobs report them."""
    upsert(
        connection,
        tables.attribute_claim,
        _ATTRIBUTES,
        {"job_name": at_the_later("last_landed_at"), "last_landed_at": greatest},
        given={"landed_at": landed_at},
    )


def merge_drops(connection: Connection, landed_at: int) -> None:
    """Merge claims that a dataset was dropped; after runs and what they wrote."""
    _merge(connection, _DROPS, landed_at)


def _merge(connection: Connection, claimed: str, landed_at: int) -> None:
    upsert(
        connection,
        tables.dataset_claim,
        _CLAIMS.format(claimed=claimed),
        {**_SEEN, "landed_at": least, "last_landed_at": greatest},
        keeps="namespace name is_refused",
        given={"landed_at": landed_at},
    )


def claims_of(
    connection: Connection, names: Iterable[int], writers: Writers
) -> dict[DatasetLink, LinkClaims]:
    """Return the links that are claimed of these names, whether they hold or not."""
    found: defaultdict[DatasetLink, list[Row[Any]]] = defaultdict(list)
    for row in in_parts(connection, _CLAIMED, names):
        found[DatasetLink(row.alias_key, row.dataset_key, row.rule)].append(row)
    return {link: _claim(rows, writers.of(*link[:2])) for link, rows in found.items()}


def _claim(rows: list[Row[Any]], writers: AbstractSet[str]) -> LinkClaims:
    times = [(row.first_seen_at, row.last_seen_at) for row in rows if row.job_namespace in writers]
    return LinkClaims(
        frozenset(row.job_namespace for row in rows),
        min(row.landed_at for row in rows),
        min((first for first, _ in times), default=None),
        max((last for _, last in times), default=None),
    )


_CLAIMED = f"""
    SELECT alias_key, dataset_key, rule, job_namespace, landed_at, first_seen_at, last_seen_at
    FROM dataset_claim
    WHERE rule IN {_LINKS} AND alias_key IN :keys
"""  # noqa: S608 - words of ours


def writers_of(connection: Connection, names: Iterable[int]) -> Writers:
    """Return who writes these names, and which of them the policy declares."""
    by_name: defaultdict[int, set[str]] = defaultdict(set)
    keys = list(names)
    for row in in_parts(connection, _PRODUCERS, keys):
        by_name[row.dataset_key].add(row.job_namespace)
    declared = {row.dataset_key for row in in_parts(connection, _DECLARED, keys)}
    return Writers(by_name, declared)


_PRODUCERS = "SELECT dataset_key, job_namespace FROM dataset_producer WHERE dataset_key IN :keys"
_DECLARED = "SELECT dataset_key FROM dataset WHERE is_declared AND dataset_key IN :keys"


def keep_holding(
    connection: Connection, claimed: Iterable[DatasetLink], holds: AbstractSet[DatasetLink]
) -> None:
    """Write which links hold: those are in `dataset_alias`, and answers go by them."""
    rows = [{**link._asdict(), "rejected": link not in holds} for link in claimed]
    if not rows:
        return
    connection.execute(text(_MARK), rows)
    if rejected := [row for row in rows if row["rejected"]]:
        connection.execute(text(_UNLINK), rejected)
    held = in_parts(connection, _HELD, {link.alias_key for link in holds})
    named = [dict(row._mapping) for row in held]  # noqa: SLF001 - its public name
    fold_rows(connection, tables.dataset_alias, named, _SEEN)


def unlink(connection: Connection, links: Iterable[DatasetLink]) -> None:
    """Take these links out of `dataset_alias`: they held once, and nobody is to blame."""
    if rows := [link._asdict() for link in links]:
        connection.execute(text(_UNLINK), rows)


_THIS = "alias_key = :alias_key AND dataset_key = :dataset_key AND rule = :rule"
_MARK = f"UPDATE dataset_claim SET is_refused = :rejected WHERE {_THIS}"  # noqa: S608
_UNLINK = f"DELETE FROM dataset_alias WHERE {_THIS}"  # noqa: S608
_HELD = f"""
    SELECT alias_key, dataset_key, rule, max(namespace) AS namespace, max(name) AS name,
        min(first_seen_at) AS first_seen_at, max(last_seen_at) AS last_seen_at
    FROM dataset_claim WHERE alias_key IN :keys AND rule IN {_LINKS} AND NOT is_refused
    GROUP BY alias_key, dataset_key, rule
"""  # noqa: S608 - our own columns

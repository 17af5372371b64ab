"""Which of the names that symlinks tie together is the dataset.

Links are few and seldom new: only a new one, or a dataset that a link waited for, has its
component worked out again.
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, bindparam, text

from lineage.aliases import canonical
from lineage.catalog import tables
from slis.stream.rekey import move
from slis.stream.upsert import greatest, least, upsert

_KEYS_A_QUERY = 500
_LINKS = "('symlink', 'rename')"

Name = tuple[str, str]


class Link(NamedTuple):
    """A dataset says that `alias_key` is another name of it (symlink), or was its name (rename)."""

    alias_key: int
    dataset_key: int
    rule: str


def canonical_key(links: Iterable[Link], names: dict[int, Name]) -> int:
    """The dataset of one component, the same for every order of arrival.

    A name that a dataset was renamed from is never it, as long as there is another.

    Args:
        links: of the component.
        names: of those of its members that were reported as datasets; not empty.
    """
    links = list(links)
    former = {link.alias_key for link in links if link.rule == "rename"}
    told = {link.dataset_key for link in links if link.rule == "symlink"}
    renamed_to = {link.dataset_key for link in links if link.rule == "rename"}
    ranked = (told - former, renamed_to - former, told, set(names))
    candidates = next(known for wanted in ranked if (known := wanted & names.keys()))
    primaries = {key: names[key] for key in candidates}
    chosen = canonical([(link.dataset_key, link.alias_key) for link in links], primaries)
    return chosen[min(candidates)]


def unsettled(connection: Connection) -> set[int]:
    """Datasets whose component the batch changes.

    To be asked before `merge_links` and before datasets are merged.
    """
    return set(connection.scalars(text(_UNSETTLED)))


_UNSETTLED = f"""
    SELECT s.dataset_key FROM s_link s WHERE NOT EXISTS (
        SELECT 1 FROM dataset_alias a
        WHERE a.alias_key = s.alias_key AND a.dataset_key = s.dataset_key AND a.rule = s.rule)
    UNION
    SELECT n.dataset_key FROM s_name n WHERE n.is_dataset = 1
    AND NOT EXISTS (SELECT 1 FROM dataset d WHERE d.dataset_key = n.dataset_key)
    AND EXISTS (SELECT 1 FROM dataset_alias a WHERE a.alias_key = n.dataset_key
    AND a.rule IN {_LINKS})
"""  # noqa: S608 - no input


def merge_links(connection: Connection) -> None:
    """Symlinks and former names into `dataset_alias`."""
    upsert(
        connection,
        tables.dataset_alias,
        """
        SELECT alias_key, dataset_key, rule, max(namespace) AS namespace, max(name) AS name,
            min(first_seen_at) AS first_seen_at, max(last_seen_at) AS last_seen_at
        FROM s_link GROUP BY alias_key, dataset_key, rule
        """,
        {"first_seen_at": least, "last_seen_at": greatest},
        keeps="namespace name",
    )


def settle(connection: Connection, changed: set[int]) -> None:
    """Work out the components of these datasets.

    And move what is known of a dataset that has a new canonical key.
    """
    while changed:
        members, links = _component(connection, changed.pop())
        changed -= members
        found = {
            row.dataset_key: row
            for row in _in_parts(
                connection,
                "SELECT dataset_key, canonical_key, namespace, name FROM dataset WHERE "
                "dataset_key IN :keys",
                members,
            )
        }
        canonical = canonical_key(
            links, {key: (row.namespace, row.name) for key, row in found.items()}
        )
        for old in {row.canonical_key for row in found.values()} - {canonical}:
            move(connection, old, canonical)


def _component(connection: Connection, start: int) -> tuple[set[int], set[Link]]:
    members, links, frontier = {start}, set[Link](), {start}
    while frontier:
        near = {
            Link(row.alias_key, row.dataset_key, row.rule)
            for row in _in_parts(connection, _NEAR, frontier)
        }
        links |= near
        frontier = {key for link in near for key in (link.alias_key, link.dataset_key)} - members
        members |= frontier
    return members, links


_NEAR = f"""
    SELECT alias_key, dataset_key, rule FROM dataset_alias WHERE rule IN {_LINKS}
        AND alias_key IN :keys
    UNION SELECT alias_key, dataset_key, rule FROM dataset_alias WHERE rule IN {_LINKS}
        AND dataset_key IN :keys
"""  # noqa: S608 - no input


def _in_parts(connection: Connection, query: str, keys: Iterable[int]) -> Iterator[Row[Any]]:
    statement = text(query).bindparams(bindparam("keys", expanding=True))
    ordered = list(keys)
    for start in range(0, len(ordered), _KEYS_A_QUERY):
        yield from connection.execute(statement, {"keys": ordered[start : start + _KEYS_A_QUERY]})

"""Which of the names that symlinks and the policy tie together is the dataset.

Links are few and seldom new: only a new one, or a dataset that a link waited for, has its
component worked out again.
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, bindparam, text

from lineage.aliases import canonical
from lineage.catalog import tables
from lineage.catalog.upsert import greatest, least, upsert
from slis.stream.rekey import move

_KEYS_A_QUERY = 500
LINKS = "('symlink', 'rename', 'policy')"  # rules whose two names are one dataset

POLICY = "policy"
Name = tuple[str, str]


class Link(NamedTuple):
    """`alias_key` is another name of a dataset (symlink), was its name (rename), or is it (policy).

    A policy's link to itself keeps the name apart, whatever else is said of it.
    """

    alias_key: int
    dataset_key: int
    rule: str


def canonical_keys(links: Iterable[Link], names: dict[int, Name]) -> dict[int, int]:
    """The dataset that each name of one component is, the same for every order of arrival.

    That is the one which the policy names; a name that a dataset was renamed from never is, as
    long as there is another.

    Args:
        links: of the component.
        names: of those of its members that were reported as datasets; not empty.
    """
    links = list(links)
    overrules = {link.alias_key: link.dataset_key for link in links if link.rule == POLICY}
    told = [(link.dataset_key, link.alias_key) for link in links if link.rule != POLICY]
    led_by = canonical(told, names, overrules)
    found: dict[int, int] = {}
    for lead in {led_by.get(key, key) for key in names}:
        members = {key for key in names if led_by.get(key, key) == lead}
        ours = [
            link
            for link in links
            if {led_by.get(link.alias_key), led_by.get(link.dataset_key)} == {lead}
        ]
        found |= dict.fromkeys(members, _chosen(ours, {key: names[key] for key in members}))
    return found


def _chosen(links: list[Link], names: dict[int, Name]) -> int:
    former = {link.alias_key for link in links if link.rule == "rename"}
    told = {link.dataset_key for link in links if link.rule == "symlink"}
    renamed_to = {link.dataset_key for link in links if link.rule == "rename"}
    ruled = {link.dataset_key for link in links if link.rule == POLICY}
    ranked = (ruled, told - former, renamed_to - former, told, set(names))
    candidates = next(known for wanted in ranked if (known := wanted & names.keys()))
    return min(candidates, key=lambda key: (names[key], key))


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
    AND EXISTS (SELECT 1 FROM dataset_alias a
        WHERE (a.alias_key = n.dataset_key OR a.dataset_key = n.dataset_key)
        AND a.rule IN {LINKS})
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

    And move what is known of a dataset that has a new canonical key. One that is no longer part of
    another starts anew: what was told of both cannot be told apart.
    """
    while changed:
        members, links = _component(connection, changed.pop())
        changed -= members
        found = {row.dataset_key: row for row in in_parts(connection, _DATASETS, members)}
        if not found:
            continue
        keys = canonical_keys(links, {key: (row.namespace, row.name) for key, row in found.items()})
        for key, row in found.items():
            if keys.get(row.canonical_key) != keys[key]:
                connection.execute(_PART, {"key": key, "own": keys[key]})
        moved: dict[int, set[int]] = {}
        for key, row in found.items():
            if row.canonical_key != keys[key] == keys.get(row.canonical_key):
                moved.setdefault(keys[key], set()).add(row.canonical_key)
        for new, old in sorted(moved.items()):
            move(connection, sorted(old), new)


_DATASETS = (
    "SELECT dataset_key, canonical_key, namespace, name FROM dataset WHERE dataset_key IN :keys"
)
_PART = text("UPDATE dataset SET canonical_key = :own WHERE dataset_key = :key")


def _component(connection: Connection, start: int) -> tuple[set[int], set[Link]]:
    members, links, frontier = {start}, set[Link](), {start}
    while frontier:
        near = {
            Link(row.alias_key, row.dataset_key, row.rule)
            for row in in_parts(connection, _NEAR, frontier)
        }
        links |= near
        frontier = {key for link in near for key in (link.alias_key, link.dataset_key)} - members
        members |= frontier
    return members, links


_NEAR = f"""
    SELECT alias_key, dataset_key, rule FROM dataset_alias WHERE rule IN {LINKS}
        AND alias_key IN :keys
    UNION SELECT alias_key, dataset_key, rule FROM dataset_alias WHERE rule IN {LINKS}
        AND dataset_key IN :keys
"""  # noqa: S608 - no input


def in_parts(connection: Connection, query: str, keys: Iterable[int | str]) -> Iterator[Row[Any]]:
    """Rows of a query `... IN :keys`, asked for so many keys at a time."""
    statement = text(query).bindparams(bindparam("keys", expanding=True))
    ordered = list(keys)
    for start in range(0, len(ordered), _KEYS_A_QUERY):
        yield from connection.execute(statement, {"keys": ordered[start : start + _KEYS_A_QUERY]})

"""Choice of the dataset among the names that symlinks and the policy tie together.

Links are few and rarely new: only a new one, or a dataset that a link waited for, has its
component worked out again.
"""

from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from sqlalchemy import Connection, text

from lineage.names.aliases import canonical_by_key
from lineage.names.names import Name
from slis.key_queries import in_parts
from slis.stream.names.claims import RENAME, SYMLINK, DatasetLink, holding_links, past_renames
from slis.stream.names.claims_catalog import claims_of, keep_holding, unlink, writers_of
from slis.stream.names.files import join_files
from slis.stream.names.rekey import move_facts

LINKS = "('symlink', 'rename', 'policy')"  # rules whose two names are one dataset

BY_POLICY = "policy"


def canonical_keys(
    links: Iterable[DatasetLink], names: dict[int, Name], declared: AbstractSet[int] = frozenset()
) -> dict[int, int]:
    """Return the dataset that each name of one component is, the same for every order of arrival.

    That is the one which the policy names; a name that a dataset was renamed from never is, as
    long as there is another.

    Args:
        links: of the component, those that hold.
        names: of those of its members that were reported as datasets; not empty.
        declared: names that a rule of the policy is for.
    """
    links = list(links)
    overrules = {link.alias_key: link.dataset_key for link in links if link.rule == BY_POLICY}
    linked = [(link.dataset_key, link.alias_key) for link in links if link.rule != BY_POLICY]
    led_by = canonical_by_key(linked, names, overrules)
    found: dict[int, int] = {}
    for lead in {led_by.get(key, key) for key in names}:
        members = {key for key in names if led_by.get(key, key) == lead}
        ours = [
            link
            for link in links
            if {led_by.get(link.alias_key), led_by.get(link.dataset_key)} == {lead}
        ]
        named = {key: names[key] for key in members}
        found |= dict.fromkeys(members, _chosen(ours, named, declared))
    return found


def _chosen(links: list[DatasetLink], names: dict[int, Name], declared: AbstractSet[int]) -> int:
    former = {link.alias_key for link in links if link.rule == RENAME}
    linked = {link.dataset_key for link in links if link.rule == SYMLINK}
    renamed_to = {link.dataset_key for link in links if link.rule == RENAME}
    ruled = {link.dataset_key for link in links if link.rule == BY_POLICY}
    ranked = (ruled, declared, linked - former, renamed_to - former, linked, set(names))
    candidates = next(known for wanted in ranked if (known := wanted & names.keys()))
    return min(candidates, key=lambda key: (names[key], key))


def resolve_components(connection: Connection, changed: set[int]) -> None:
    """Work out the components of these datasets, and which claims about them hold.

    And move what is known of a dataset that has a new canonical key. One that is no longer part of
    another starts again: facts of both cannot be separated.
    """
    settled: set[int] = set()
    while changed:
        members, links = _component(connection, changed.pop())
        changed -= members
        # A folder's files belong to whatever dataset the folder is, by any of its names.
        settled |= members
        writers = writers_of(connection, members)
        claims = claims_of(connection, members, writers)
        past = past_renames(claims, writers)
        claims = {link: claim for link, claim in claims.items() if link not in past}
        holds = holding_links(claims, writers, links)
        keep_holding(connection, claims.keys(), holds)
        unlink(connection, past)
        _give_back(connection, past)
        found = {row.dataset_key: row for row in in_parts(connection, _DATASETS, members)}
        if not found:
            continue
        names = {key: (row.namespace, row.name) for key, row in found.items()}
        keys = canonical_keys(links | holds, names, writers.declared)
        for key, row in found.items():
            if keys.get(row.canonical_key) != keys[key]:
                connection.execute(_PART, {"key": key, "own": keys[key]})
        moved: dict[int, set[int]] = {}
        for key, row in found.items():
            if row.canonical_key != keys[key] == keys.get(row.canonical_key):
                moved.setdefault(keys[key], set()).add(row.canonical_key)
        for new, old in sorted(moved.items()):
            move_facts(connection, sorted(old), new)
    join_files(connection, settled)


def _give_back(connection: Connection, past: set[DatasetLink]) -> None:
    """Move what is known back to a name that is in use again, from the name that it had meanwhile.

    The batch that renamed the table away may have come before the one that swapped another in.
    """
    for link in sorted(past):
        keys = {"former": link.alias_key, "other": link.dataset_key}
        if connection.scalar(_IS_AWAY, keys):
            move_facts(connection, [link.dataset_key], link.alias_key)


_IS_AWAY = text("""
    SELECT 1 FROM dataset WHERE dataset_key = :former AND canonical_key = :other
    AND EXISTS (SELECT 1 FROM dataset WHERE dataset_key = :other AND canonical_key = :other)
""")
_DATASETS = (
    "SELECT dataset_key, canonical_key, namespace, name FROM dataset WHERE dataset_key IN :keys"
)
_PART = text("UPDATE dataset SET canonical_key = :own, retired_at = NULL WHERE dataset_key = :key")


def _component(connection: Connection, start: int) -> tuple[set[int], set[DatasetLink]]:
    """Return all names that claims and the policy tie together, and the policy's links."""
    members, links, frontier = {start}, set[DatasetLink](), {start}
    while frontier:
        near = [(row.alias_key, row.dataset_key) for row in in_parts(connection, _NEAR, frontier)]
        frontier = {key for pair in near for key in pair} - members
        members |= frontier
    for row in in_parts(connection, _OF_POLICY, members):
        links.add(DatasetLink(row.alias_key, row.dataset_key, BY_POLICY))
    return members, links


_NEAR = f"""
    SELECT alias_key, dataset_key FROM dataset_claim
        WHERE rule IN ('{SYMLINK}', '{RENAME}') AND alias_key IN :keys
    UNION SELECT alias_key, dataset_key FROM dataset_claim
        WHERE rule IN ('{SYMLINK}', '{RENAME}') AND dataset_key IN :keys
    UNION SELECT alias_key, dataset_key FROM dataset_alias
        WHERE rule = '{BY_POLICY}' AND alias_key IN :keys
    UNION SELECT alias_key, dataset_key FROM dataset_alias
        WHERE rule = '{BY_POLICY}' AND dataset_key IN :keys
"""  # noqa: S608 - words of ours
_OF_POLICY = f"""
    SELECT alias_key, dataset_key FROM dataset_alias
    WHERE rule = '{BY_POLICY}' AND alias_key IN :keys
"""  # noqa: S608 - a word of ours

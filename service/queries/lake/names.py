"""Names of datasets in old events: the names in the catalog today, and words to search for.

Events that name a dataset are found by words: bodies are searched, and not read.
"""

import re
from collections.abc import Iterable
from typing import Final

from sqlalchemy import Connection, Engine, insert, text

from lineage.catalog import tables
from lineage.catalog.queries import IS_LINK
from lineage.catalog.reader import CatalogReader, rows_for
from lineage.catalog.rows import Row, pairs_of
from lineage.names.keys import CUT, key
from lineage.names.names import Name, fold, split_joined
from lineage.policy import Policy, folds_of
from lineage.policy.fold import pattern_parts
from service.errors import AmbiguousDatasetError, UnknownDatasetError
from service.queries.dataset_lookup import KnownDataset, resolve_dataset
from service.queries.visibility import Visibility, sql_filter

# No encoder of JSON writes these as escapes, and no rule that folds names changes them.
_WORD: Final = re.compile(r"[A-Za-z0-9_]+", re.ASCII)
_CHANGING: Final = re.compile(r"\{[^{}]*\}|[*?]")  # in the patterns of folds
_REDACTED: Final = re.compile(r"\[redacted\]")
_SHORTEST, _LONGEST = 3, 100

_KNOWN: Final = "SELECT dataset_key, canonical_key FROM dataset WHERE dataset_key IN (:keys)"
_MEMBERS: Final = """
    SELECT dataset_key, namespace, name, canonical_key, first_seen_at, last_seen_at
    FROM dataset WHERE canonical_key IN (:keys)
"""
_LINKS: Final = f"""
    SELECT alias_key, dataset_key, rule, namespace, name, first_seen_at, last_seen_at
    FROM dataset_alias WHERE dataset_key IN (:keys) AND {IS_LINK}
"""  # noqa: S608 - our own names
_NAMES: Final = f"""
    SELECT namespace, name FROM dataset WHERE canonical_key = :key
    UNION SELECT a.namespace, a.name FROM dataset_alias a JOIN dataset d
    ON d.dataset_key = a.dataset_key WHERE d.canonical_key = :key AND a.{IS_LINK}
"""  # noqa: S608 - our own names
# Made in the transient catalog: datasets of which the catalog knows all names.
_KNOWN_TABLE: Final = "CREATE TABLE IF NOT EXISTS known_dataset (dataset_key BIGINT PRIMARY KEY)"
_IS_KNOWN: Final = "d.dataset_key IN (SELECT dataset_key FROM known_dataset)"


def words_of(names: Iterable[Name], policy: Policy) -> tuple[str, ...]:
    """Return words of which each event that names one of these has one; none: read all events.

    Args:
        names: of one dataset: its own, and all that lead to it.
        policy: its folds and aliases lead other names to them.
    """
    known = set(names)
    texts = {name for _, name in known}
    texts |= {name for (_, name), dataset in policy.overrules() if dataset in known}
    patterns = [pattern_parts(fold.match)[1] for fold in _folds_to(known, policy)]
    words = {_word(_parts(text)) for text in texts}
    words |= {_word([pattern]) for pattern in patterns}
    # A word that is too short is in most events.
    return () if "" in words else tuple(sorted(words))


def _folds_to(known: set[Name], policy: Policy) -> Iterable:  # type: ignore[type-arg]
    ready = folds_of(policy).folds
    return (policy.folds[fold.position] for fold in ready if fold.dataset in known)


def _parts(name: str) -> list[str]:
    """Return the parts of a name, the last one first: folders and schemas have many tables."""
    return re.split(r"[/.]", _REDACTED.sub("/", name.partition(CUT)[0]))[::-1]


def _word(parts: Iterable[str]) -> str:
    """Return the longest word of the first part that has one; empty where all are short."""
    found = (_WORD.findall(_CHANGING.sub("/", part)) for part in parts)
    longest = (max(words, key=len, default="") for words in found)
    return next((word[:_LONGEST] for word in longest if len(word) >= _SHORTEST), "")


def name_given(dataset: str, namespace: str | None) -> Name | None:
    """Return namespace and name of a dataset as they were given; None without a namespace."""
    name = (namespace, dataset) if namespace is not None else split_joined(dataset)
    return name if name[0] else None


def find_with_all_names(
    reader: CatalogReader,
    policy: Policy,
    wanted: str,
    namespace: str | None,
    visibility: Visibility,
) -> tuple[KnownDataset, list[Name]]:
    """Return the dataset that is meant, and all names that lead to it.

    A dataset that the catalog has forgotten is named with its namespace. Only who may see every
    namespace can ask for it, since its other names are forgotten too.

    Raises:
        UnknownDatasetError: as `resolve_dataset`.
        ForbiddenNamespaceError: as `resolve_dataset`.
    """
    try:
        found = resolve_dataset(reader, wanted, namespace, visibility)
    except AmbiguousDatasetError:
        raise
    except UnknownDatasetError:
        given = name_given(wanted, namespace)
        if given is None or not visibility.is_whole:
            raise
        folded = fold(*given)
        name = folds_of(policy).dataset(folded.namespace, folded.name)
        name = name or (folded.namespace, folded.name)
        return (key(*name), *name), [name]
    names = [(row.namespace, row.name) for row in reader.rows(_NAMES, {"key": found[0]})]
    return found, names


def adopt_names(engine: Engine, transient: CatalogReader, reader: CatalogReader) -> None:
    """Give the datasets of the transient catalog the names that the catalog knows them by.

    What the catalog says of a name today holds, and not what old events alone would make of it.
    """
    keys = [row[0] for row in transient.rows("SELECT dataset_key FROM dataset")]
    known = pairs_of(rows_for(reader, _KNOWN, keys))
    members = rows_for(reader, _MEMBERS, set(known.values()))
    links = rows_for(reader, _LINKS, [row.dataset_key for row in members])
    with engine.begin() as connection:
        connection.execute(text(_KNOWN_TABLE))
        _replace(connection, members, links)


def _replace(connection: Connection, members: list[Row], links: list[Row]) -> None:
    keys = [{"key": row.dataset_key, "canonical": row.canonical_key} for row in members]
    if not keys:
        return
    for statement in (
        "UPDATE dataset SET canonical_key = :canonical WHERE canonical_key = :key",
        "DELETE FROM dataset WHERE dataset_key = :key",
        f"DELETE FROM dataset_alias WHERE dataset_key = :key AND {IS_LINK}",  # noqa: S608 - likewise
        "INSERT OR IGNORE INTO known_dataset VALUES (:key)",
    ):
        connection.execute(text(statement), keys)
    connection.execute(insert(tables.dataset), [row._asdict() for row in members])
    if links:
        connection.execute(insert(tables.dataset_alias), [row._asdict() for row in links])


def seen_in_lake(transient: CatalogReader, visibility: Visibility) -> tuple[str, dict[str, str]]:
    """Return the condition that a dataset of the lake may be seen, and its values.

    A token of some namespaces sees no dataset that the catalog has forgotten: the dataset may have
    had a name in another namespace.
    """
    condition, values = sql_filter(transient, visibility)
    return condition if visibility.is_whole else f"({condition} AND {_IS_KNOWN})", values

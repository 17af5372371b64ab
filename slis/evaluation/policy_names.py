"""Names in the policy: datasets that it declares, and the dataset of each name."""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime

from sqlalchemy import Connection, Engine, delete, select, text

from lineage.catalog import tables
from lineage.catalog.engine import exclusive_transaction
from lineage.catalog.upsert import fold_rows, least
from lineage.names.keys import key
from lineage.names.names import Name
from lineage.policy import Policy, folds_of
from lineage.process.clock import to_micros
from slis.evaluation.policy_folds import Pair, declare_folded, folded_datasets
from slis.key_queries import in_parts
from slis.stream.derived.activity import renew_last_write
from slis.stream.names.canonical import BY_POLICY, resolve_components
from slis.stream.names.claims import DROP

_KNOWN = "SELECT dataset_key FROM dataset WHERE dataset_key IN :keys"
_FLAGGED = "SELECT dataset_key FROM dataset WHERE is_declared"
_FLAG = "UPDATE dataset SET is_declared = :declared WHERE dataset_key = :key"
_BACK = "UPDATE dataset SET retired_at = NULL WHERE dataset_key = :key AND is_declared"
_CANONICAL = "SELECT canonical_key FROM dataset WHERE dataset_key = {key}"
# Dropped before the policy declared it, under any name: expected until it is dropped again.
_DROP_IS_PAST = f"""
    DELETE FROM dataset_claim WHERE rule = '{DROP}' AND NOT is_refused AND alias_key IN (
        SELECT dataset_key FROM dataset WHERE canonical_key IN ({_CANONICAL.format(key=":key")}))
"""  # noqa: S608 - words of ours
_NOT_DROPPED = f"""
    UPDATE dataset_activity SET last_dropped_at = NULL
    WHERE dataset_key IN ({_CANONICAL.format(key=":key")})
"""  # noqa: S608 - as above
_ALIAS = tables.dataset_alias
# Datasets that are moved by folds: in one transaction, for which the stream waits, and at once, so
# that the figures do not wait for all of a long explosion.
_A_TRANSACTION = 200
_AT_ONCE = 2_000


def renew_names(engine: Engine, policy: Policy, as_of: datetime) -> bool:
    """Bring what the policy says of names into force, and aliases that it lost out of it.

    A dataset that the policy names outright is in the catalog from then on, seen or not. Of the
    datasets that folds take or give back, 2,000 are moved at once; the next call goes on.

    Returns:
        Whether anything changed; if not, a few queries.
    """
    declared = {key(*name): name for name in policy.declared()}
    aliases = {(key(*name), key(*dataset)): name for name, dataset in policy.overrules()}
    with engine.connect() as connection:
        unknown = declared.keys() - _known(connection, declared)
        flagged = set(connection.scalars(text(_FLAGGED)))
        turned = (declared.keys() ^ flagged) | unknown
        folded = folded_datasets(connection, folds_of(policy))
        before = _in_force(connection)
    names = aliases | {pair: one.name for pair, one in folded.items()}
    changes = _changes(before, names.keys())
    if not turned and not changes:
        return False
    at = to_micros(as_of)
    with exclusive_transaction(engine) as connection:
        _declare(connection, {key: declared[key] for key in unknown}, at)
        _flag(connection, turned, declared)
        resolve_components(connection, set(turned))
        for one in turned:
            renew_last_write(connection, _CANONICAL.format(key=one))
    ordered = sorted(changes, key=lambda own: (own not in {name for name, _ in aliases}, own))
    for part in _parts(ordered, max(_AT_ONCE, len(aliases))):
        gone = {pair for own in part for pair in changes[own] if pair in before}
        fresh = {pair for own in part for pair in changes[own] if pair not in before}
        with exclusive_transaction(engine) as connection:
            declare_folded(connection, [folded[pair] for pair in fresh if pair in folded])
            _put_in_force(connection, gone, {pair: names[pair] for pair in fresh}, at)
            resolve_components(connection, {one for pair in gone | fresh for one in pair})
    return True


def _changes(before: AbstractSet[Pair], now: AbstractSet[Pair]) -> dict[int, set[Pair]]:
    """Return the pairs that come or go, by the key of the name: a name changes hands as a whole."""
    changes: dict[int, set[Pair]] = {}
    for pair in before ^ now:
        changes.setdefault(pair[0], set()).add(pair)
    return changes


def _parts(names: Sequence[int], most: int) -> Iterator[Sequence[int]]:
    for start in range(0, min(len(names), most), _A_TRANSACTION):
        yield names[start : min(start + _A_TRANSACTION, most)]


def _known(connection: Connection, keys: dict[int, Name]) -> set[int]:
    return {row.dataset_key for row in in_parts(connection, _KNOWN, keys)}


def _in_force(connection: Connection) -> set[Pair]:
    pairs = select(_ALIAS.c.alias_key, _ALIAS.c.dataset_key).where(_ALIAS.c.rule == BY_POLICY)
    return {(row.alias_key, row.dataset_key) for row in connection.execute(pairs)}


def _declare(connection: Connection, names: dict[int, Name], at: int) -> None:
    rows = [
        {"dataset_key": own, "canonical_key": own, **_named(name, at)}
        for own, name in names.items()
    ]
    # The stream may have met it in between: then it is as it was.
    fold_rows(connection, tables.dataset, rows, {"first_seen_at": least})


def _flag(connection: Connection, turned: AbstractSet[int], declared: Mapping[int, Name]) -> None:
    """Mark the datasets that the policy declares; a declared one is in every total again."""
    rows = [{"key": one, "declared": one in declared} for one in turned]
    if rows:
        connection.execute(text(_FLAG), rows)
        connection.execute(text(_BACK), rows)
    fresh = [{"key": row["key"]} for row in rows if row["declared"]]
    if fresh:
        connection.execute(text(_DROP_IS_PAST), fresh)
        connection.execute(text(_NOT_DROPPED), fresh)


def _put_in_force(
    connection: Connection, gone: AbstractSet[Pair], fresh: Mapping[Pair, Name], at: int
) -> None:
    for alias, dataset in gone:
        where = (_ALIAS.c.alias_key == alias, _ALIAS.c.dataset_key == dataset)
        connection.execute(delete(_ALIAS).where(_ALIAS.c.rule == BY_POLICY, *where))
    rows = [
        {"alias_key": pair[0], "dataset_key": pair[1], "rule": BY_POLICY, **_named(name, at)}
        for pair, name in fresh.items()
    ]
    fold_rows(connection, _ALIAS, rows)


def _named(name: Name, at: int) -> dict[str, object]:
    return {"namespace": name[0], "name": name[1], "first_seen_at": at, "last_seen_at": at}

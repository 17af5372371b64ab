"""What the policy says of names: datasets that it declares, and which name is which dataset."""

from datetime import datetime

from sqlalchemy import Connection, Engine, delete, select

from lineage.catalog import tables
from lineage.catalog.engine import writing
from lineage.clock import to_micros
from lineage.keys import key
from lineage.policy import Policy
from slis.stream.canonical import POLICY, Name, in_parts, settle
from slis.stream.upsert import fold_rows, least

_Pair = tuple[int, int]
_KNOWN = "SELECT dataset_key FROM dataset WHERE dataset_key IN :keys"
_ALIAS = tables.dataset_alias


def renew_names(engine: Engine, policy: Policy, as_of: datetime) -> bool:
    """Bring what the policy says of names into force, and aliases that it lost out of it.

    A dataset that the policy names outright is in the catalog from then on, seen or not.

    Returns:
        Whether anything was another before; a few looks when not.
    """
    declared = {key(*name): name for name in policy.declared()}
    aliases = {(key(*name), key(*dataset)): name for name, dataset in policy.overrules()}
    with engine.connect() as connection:
        unknown = declared.keys() - _known(connection, declared)
        if not unknown and _in_force(connection) == aliases.keys():
            return False
    at = to_micros(as_of)
    with writing(engine) as connection:
        _declare(connection, {key: declared[key] for key in unknown}, at)
        changed = _put_in_force(connection, aliases, at)
        settle(connection, unknown | changed)
    return True


def _known(connection: Connection, keys: dict[int, Name]) -> set[int]:
    return {row.dataset_key for row in in_parts(connection, _KNOWN, keys)}


def _in_force(connection: Connection) -> set[_Pair]:
    pairs = select(_ALIAS.c.alias_key, _ALIAS.c.dataset_key).where(_ALIAS.c.rule == POLICY)
    return {(row.alias_key, row.dataset_key) for row in connection.execute(pairs)}


def _declare(connection: Connection, names: dict[int, Name], at: int) -> None:
    rows = [
        {"dataset_key": own, "canonical_key": own, **_named(name, at)}
        for own, name in names.items()
    ]
    # The stream may have met it in between: then it is as it was.
    fold_rows(connection, tables.dataset, rows, {"first_seen_at": least})


def _put_in_force(connection: Connection, aliases: dict[_Pair, Name], at: int) -> set[int]:
    """The names of which something else is said now."""
    before = _in_force(connection)
    gone, fresh = before - aliases.keys(), aliases.keys() - before
    for alias, dataset in gone:
        where = (_ALIAS.c.alias_key == alias, _ALIAS.c.dataset_key == dataset)
        connection.execute(delete(_ALIAS).where(_ALIAS.c.rule == POLICY, *where))
    rows = [
        {"alias_key": pair[0], "dataset_key": pair[1], "rule": POLICY, **_named(aliases[pair], at)}
        for pair in fresh
    ]
    fold_rows(connection, _ALIAS, rows)
    return {one for pair in gone | fresh for one in pair}


def _named(name: Name, at: int) -> dict[str, object]:
    return {"namespace": name[0], "name": name[1], "first_seen_at": at, "last_seen_at": at}

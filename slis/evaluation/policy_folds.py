"""Datasets that are in the catalog under names which the policy folds now."""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Connection, Select, and_, func, or_, select

from lineage.catalog import tables
from lineage.catalog.upsert import fold_rows, greatest, least
from lineage.names.keys import key
from lineage.names.names import FOLD, Name
from lineage.policy import CompiledFolds

Pair = tuple[int, int]  # key of a name, key of the dataset that it is
_DATASET = tables.dataset
_SEEN = {"first_seen_at": least, "last_seen_at": greatest}


class FoldedDataset(msgspec.Struct, frozen=True):
    """Dataset of the catalog, and its dataset by the policy; instants in microseconds."""

    name: Name
    dataset: Name
    first_seen_at: int
    last_seen_at: int

    @property
    def pair(self) -> Pair:
        """Return the pair as the policy's aliases have it."""
        return key(*self.name), key(*self.dataset)


def folded_datasets(connection: Connection, folds: CompiledFolds) -> dict[Pair, FoldedDataset]:
    """Return the datasets that a fold takes, whether they were moved already or not.

    Retired ones stay what they are: nothing of them is to come back under another name.
    """
    if not folds:
        return {}
    rows = connection.execute(_candidates(folds))
    return {found.pair: found for found in _folded(rows, folds)}


def _folded(rows: Iterable[Any], folds: CompiledFolds) -> Iterator[FoldedDataset]:
    for row in rows:
        if dataset := folds.dataset(row.namespace, row.name):
            name = row.namespace, row.name
            yield FoldedDataset(name, dataset, row.first_seen_at, row.last_seen_at)


def _candidates(folds: CompiledFolds) -> Select[Any]:
    """Return datasets that begin as a fold does: few of an estate come out of the database."""
    starts = {(fold.namespace_start, fold.name_start) for fold in folds.folds}
    column = _DATASET.c
    is_begun = or_(*(_begins(*start) for start in sorted(starts)))
    is_live = or_(column.retired_at.is_(None), column.canonical_key != column.dataset_key)
    names = (column.namespace, column.name, column.first_seen_at, column.last_seen_at)
    return select(*names).where(is_begun, is_live)


def _begins(namespace: str, name: str) -> ColumnElement[bool]:
    column = _DATASET.c
    return and_(
        func.substr(column.namespace, 1, len(namespace)) == namespace,
        func.substr(column.name, 1, len(name)) == name,
    )


def declare_folded(connection: Connection, folded: Iterable[FoldedDataset]) -> None:
    """Store the resulting datasets, and the names that they had, as the stream stores them."""
    found = list(folded)
    spans: dict[Name, list[FoldedDataset]] = {}
    for one in found:
        spans.setdefault(one.dataset, []).append(one)
    rows = [
        {
            **_named(key(*dataset), dataset),
            "canonical_key": key(*dataset),
            "first_seen_at": min(one.first_seen_at for one in members),
            "last_seen_at": max(one.last_seen_at for one in members),
        }
        for dataset, members in spans.items()
    ]
    fold_rows(connection, _DATASET, rows, _SEEN)
    fold_rows(connection, tables.dataset_alias, [_alias(one) for one in found], _SEEN)


def _alias(one: FoldedDataset) -> dict[str, object]:
    alias, dataset = one.pair
    seen = {"first_seen_at": one.first_seen_at, "last_seen_at": one.last_seen_at}
    return {**_named(dataset, one.name), "alias_key": alias, "rule": FOLD, **seen}


def _named(dataset: int, name: Name) -> dict[str, object]:
    return {"dataset_key": dataset, "namespace": name[0], "name": name[1]}

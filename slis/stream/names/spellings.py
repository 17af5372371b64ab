"""Spellings of a batch, each folded once to the dataset that it names.

A cache outlives the batch, since an estate names the same datasets again and again.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import msgspec

from lineage.names.keys import NAME_BYTES, key, shorten
from lineage.names.names import FOLD, fold, folder_of, partition_date, partition_of
from lineage.names.rules import NAMING_RULES
from lineage.policy import NO_FOLDS, CompiledFolds
from lineage.process.clock import DAY_MICROS
from lineage.redaction import CREDENTIALS
from slis.stream.facts.spans import SeenTimes
from slis.stream.staging.arrow import clean_text

_LOSSY = frozenset({CREDENTIALS, *(rule.id for rule in NAMING_RULES if not rule.keeps_spelling)})
_EPOCH_DAY = 719_163  # 1970-01-01 as Python counts days
_CACHED_SPELLINGS = 65_536


class Spelling(msgspec.Struct, frozen=True):
    """Name as it was sent, and the dataset that it is folded to."""

    namespace: str
    name: str
    dataset_key: int
    dataset_namespace: str
    dataset_name: str
    rules: tuple[str, ...]
    partition: str | None
    partition_at: int | None
    folder_key: int | None  # of a file: the dataset that its folder would be


@lru_cache(maxsize=_CACHED_SPELLINGS)
def spell(namespace: str, name: str, folds: CompiledFolds) -> Spelling:
    """Return the dataset of this spelling, cached for these folds of the policy only."""
    folded = fold(namespace, name)
    taken = folds.dataset(folded.namespace, folded.name)
    dataset = _bounded(*(taken or (folded.namespace, folded.name)))
    partition = partition_of(namespace, name) if "partition" in folded.rules else None
    day = partition_date(partition) if partition else None
    return Spelling(
        namespace=namespace,
        name=name,
        dataset_key=key(*dataset),
        dataset_namespace=dataset[0],
        dataset_name=dataset[1],
        rules=(*folded.rules, FOLD) if taken else folded.rules,
        partition=partition,
        partition_at=None if day is None else (day.toordinal() - _EPOCH_DAY) * DAY_MICROS,
        folder_key=folder_key_of(*dataset, folds),
    )


def folder_key_of(namespace: str, name: str, folds: CompiledFolds = NO_FOLDS) -> int | None:
    """Return the key of the dataset that the folder of this file would be; None for no file."""
    folder = folder_of(namespace, name)
    return None if folder is None else key(*(folds.dataset(*folder) or folder))


def spelling_key(namespace: str, name: str) -> int:
    """Return the key of a spelling, as events that name the dataset have it."""
    return key(*_bounded(namespace, name))


def _bounded(namespace: str, name: str) -> tuple[str, str]:
    # The collector bounds names of datasets; facets may name longer ones.
    return shorten(namespace, NAME_BYTES), shorten(name, NAME_BYTES)


class Spellings:
    """Spellings of one batch, and when each was seen."""

    def __init__(self, folds: CompiledFolds = NO_FOLDS) -> None:
        """Begin without spellings; `folds`: the policy's, in force for the batch."""
        self._folds = folds
        self._seen: dict[Spelling, SeenTimes] = {}
        self._datasets: set[Spelling] = set()

    def note(self, namespace: str, name: str, seen: SeenTimes, *, is_dataset: bool) -> Spelling:
        """Note a spelling; `is_dataset`: reported as one, not only named by a facet of another."""
        spelling = self.spelled(namespace, name)
        known = self._seen.get(spelling)
        self._seen[spelling] = seen if known is None else known | seen
        if is_dataset:
            self._datasets.add(spelling)
        return spelling

    def spelled(self, namespace: str, name: str) -> Spelling:
        """Return the dataset of this spelling, without noting it."""
        return spell(*_bounded(namespace, name), self._folds)

    def __iter__(self) -> Iterator[Spelling]:
        """Return every spelling that was noted."""
        return iter(self._seen)

    def names(self) -> Iterator[tuple[Any, ...]]:
        """Return rows of `staging.name`."""
        for spelling, seen in self._seen.items():
            yield (
                key(spelling.namespace, spelling.name),
                *(spelling.dataset_key, spelling.dataset_namespace, spelling.dataset_name),
                *(spelling.partition, spelling.partition_at),
                *(int(spelling in self._datasets), *seen, spelling.folder_key),
            )

    def aliases(self) -> Iterator[tuple[Any, ...]]:
        """Return rows of `staging.alias`, one for each rule that folded a spelling.

        Spellings that are endless (partitions) or hold secrets (credentials) are not kept: their
        alias bears the dataset's name. What a fold of the policy took bears the name that it took.
        """
        for spelling, seen in self._seen.items():
            dataset = (spelling.dataset_namespace, spelling.dataset_name)
            is_lossy = not _LOSSY.isdisjoint(spelling.rules)
            spelled_as = (spelling.namespace, spelling.name)
            shown = dataset if is_lossy else (clean_text(spelled_as[0]), clean_text(spelled_as[1]))
            for rule in spelling.rules:
                if rule == FOLD:
                    before = fold(*spelled_as)
                    taken = before.namespace, before.name
                    yield (key(*taken), spelling.dataset_key, rule, *taken, *seen)
                    continue
                alias_key = key(*dataset, rule) if is_lossy else key(*spelled_as)
                yield (alias_key, spelling.dataset_key, rule, *shown, *seen)

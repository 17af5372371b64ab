"""Catalog as a lint reads it: names, symlinks, and the jobs that touched them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

import msgspec

from lineage.catalog.queries import is_listed
from lineage.catalog.reader import CatalogReader, rows_for
from lineage.catalog.rows import convert_rows

MOST_DATASETS = 200_000
_DATASETS = f"""
SELECT d.dataset_key AS key, d.namespace, d.name, a.last_written_at
FROM dataset d LEFT JOIN dataset_activity a ON a.dataset_key = d.dataset_key
WHERE {is_listed()}
  AND NOT EXISTS (SELECT 1 FROM dataset_alias p WHERE p.rule = 'policy'
    AND p.alias_key = d.dataset_key AND p.dataset_key = d.dataset_key)
ORDER BY d.last_seen_at DESC, d.dataset_key LIMIT :most
"""  # noqa: S608 - a constant
_SYMLINKS = """
SELECT d.canonical_key, a.name FROM dataset_alias a
JOIN dataset d ON d.dataset_key = a.dataset_key WHERE a.rule = 'symlink' LIMIT :most
"""
_JOBS = """
SELECT dataset_key, job_namespace, job_name FROM dataset_write WHERE dataset_key IN (:keys)
UNION SELECT dataset_key, job_namespace, job_name FROM dataset_read WHERE dataset_key IN (:keys)
"""
_FEEDING = """
SELECT upstream_key, downstream_key FROM edge
WHERE upstream_key IN (:keys) AND upstream_key <> downstream_key
"""
_EXPLOSIONS = """
SELECT namespace, name, new_datasets, example_namespace, example_name FROM name_pattern
WHERE is_explosion ORDER BY new_datasets DESC, namespace, name LIMIT :most
"""

EstateJob = tuple[str, str]


class NamedDataset(msgspec.Struct, frozen=True):
    """Dataset by its canonical name; `last_written_at` in microseconds."""

    key: int
    namespace: str
    name: str
    last_written_at: int | None

    @property
    def both(self) -> tuple[str, str]:
        """Namespace and name."""
        return self.namespace, self.name


class Explosion(msgspec.Struct, frozen=True):
    """Pattern of names that grew by more than it should in the last hour."""

    namespace: str
    name: str
    new_datasets: int
    example: tuple[str, str]


class LintInput(msgspec.Struct, frozen=True):
    """Datasets, symlinks and explosions that a lint looks at.

    Attributes:
        datasets: but for retired ones, and for those that the policy keeps apart: somebody has
            looked at these.
        is_partial: there are more than are looked at.
    """

    datasets: list[NamedDataset]
    symlinks: dict[int, list[str]]
    explosions: list[Explosion]
    is_partial: bool


def load_estate(reader: CatalogReader, *, most: int = MOST_DATASETS) -> LintInput:
    """Read it; of more datasets than `most` those seen latest."""
    datasets = convert_rows(NamedDataset, reader.rows(_DATASETS, {"most": most + 1}))
    symlinks: dict[int, list[str]] = defaultdict(list)
    for key, name in reader.rows(_SYMLINKS, {"most": most}):
        symlinks[key].append(name)
    grown = reader.rows(_EXPLOSIONS, {"most": 100})
    explosions = [
        Explosion(
            row.namespace, row.name, row.new_datasets, (row.example_namespace, row.example_name)
        )
        for row in grown
    ]
    return LintInput(datasets[:most], symlinks, explosions, len(datasets) > most)


def applications_of(reader: CatalogReader, keys: Iterable[int]) -> dict[int, set[EstateJob]]:
    """Return the applications that read or wrote each of these datasets."""
    found: dict[int, set[EstateJob]] = defaultdict(set)
    for key, namespace, name in rows_for(reader, _JOBS, keys):
        found[key].add((namespace, name))
    return found


def fed_by(reader: CatalogReader, keys: Iterable[int]) -> dict[int, set[int]]:
    """Return the datasets that each of these datasets is written into directly, by its key."""
    found: dict[int, set[int]] = defaultdict(set)
    for upstream, downstream in rows_for(reader, _FEEDING, keys):
        found[upstream].add(downstream)
    return found


def feed_one_another(members: Iterable[NamedDataset], feeding: Mapping[int, set[int]]) -> bool:
    """Return whether one of these datasets is made of another: they are not one dataset."""
    keys = {one.key for one in members}
    return any(feeding.get(key, set()) & keys for key in keys)

"""Duplicate names of a dataset: by letter case, by scheme, by a similar symlink."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator

import msgspec

from lineage.catalog.reader import CatalogReader
from lineage.names.near_names import case_key, near_key, place_key
from service.queries.lint.estate import EstateJob, LintInput, NamedDataset, applications_of

_MOST_ASKED = 5_000  # datasets whose jobs are asked for: a lint is an answer, no report


class DuplicateNames(msgspec.Struct, frozen=True):
    """Datasets that look like one, and why."""

    kind: str
    members: list[NamedDataset]
    evidence: str


def find_duplicates(reader: CatalogReader, known: LintInput) -> Iterator[DuplicateNames]:
    """List pairs, most certain first; a pair found in two ways is listed once."""
    listed_pairs: set[frozenset[int]] = set()
    for found in (*_by_case(known), *_by_place(known), *_by_symlink(reader, known)):
        keys = frozenset(one.key for one in found.members)
        if not any(keys <= earlier for earlier in listed_pairs):
            listed_pairs.add(keys)
            yield found


def _groups(
    datasets: Iterable[NamedDataset], key: Callable[[NamedDataset], Hashable | None]
) -> Iterator[list[NamedDataset]]:
    by_key: dict[Hashable, list[NamedDataset]] = defaultdict(list)
    for one in datasets:
        if (at := key(one)) is not None:
            by_key[at].append(one)
    return (sorted(group, key=_name) for group in by_key.values() if len(group) > 1)


def _name(one: NamedDataset) -> tuple[str, str]:
    return one.both


def _by_case(known: LintInput) -> Iterator[DuplicateNames]:
    for group in _groups(known.datasets, lambda one: case_key(one.both)):
        yield DuplicateNames("case", group, "the names differ in letter case alone")


def _by_place(known: LintInput) -> Iterator[DuplicateNames]:
    for group in _groups(known.datasets, lambda one: place_key(one.both)):
        spaces = ", ".join(dict.fromkeys(one.namespace for one in group))
        yield DuplicateNames(
            "scheme", group, f"one path, and namespaces that name one place: {spaces}"
        )


def _by_symlink(reader: CatalogReader, known: LintInput) -> Iterator[DuplicateNames]:
    groups = list(_alike(known))
    wanted = list(dict.fromkeys(one.key for _, group in groups for one in group))
    jobs = applications_of(reader, wanted[:_MOST_ASKED])
    for text, group in groups:
        together, job = _in_one_job(group, jobs)
        if job is not None:
            evidence = f"all are {text} by name or symlink, and {'/'.join(job)} uses them together"
            yield DuplicateNames("symlink", together, evidence)


def _alike(known: LintInput) -> Iterator[tuple[str, list[NamedDataset]]]:
    """Return datasets with a name or symlink alike, where at least one of them is a symlink."""
    named: dict[str, dict[int, NamedDataset]] = defaultdict(dict)
    by_symlink: set[str] = set()
    for one in known.datasets:
        for name in (one.name, *known.symlinks.get(one.key, ())):
            if key := near_key(name):
                named[key][one.key] = one
                if name != one.name:
                    by_symlink.add(key)
    for key in sorted(by_symlink):
        if len(named[key]) > 1:
            yield key, sorted(named[key].values(), key=_name)


def _in_one_job(
    group: list[NamedDataset], jobs: dict[int, set[EstateJob]]
) -> tuple[list[NamedDataset], EstateJob | None]:
    by_job: dict[EstateJob, list[NamedDataset]] = defaultdict(list)
    for one in group:
        for job in jobs.get(one.key, ()):
            by_job[job].append(one)
    shared = {job: members for job, members in by_job.items() if len(members) > 1}
    if not shared:
        return [], None
    job = min(shared, key=lambda at: (-len(shared[at]), at))
    return shared[job], job

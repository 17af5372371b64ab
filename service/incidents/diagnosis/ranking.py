"""Ranking of the differences between a good run and a failed run: likely causes first."""

from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from service.queries.diff import DatasetDiff, RunDiff, ValueChange
from service.queries.schema_changes import describe_changes

_MOST_KEPT = 20
# What people deploy, the likeliest cause first. Settings of the engine and its inputs come after.
_DEPLOYED: Final = (
    *("code_version", "job_version", "code_tag", "code_branch", "code_path", "code_url"),
    *("engine_version", "adapter_version", "engine", "producer", "processing_type"),
)
# They differ from each run to the next.
_ALWAYS: Final = frozenset({"status", "nominal_start_at"})
_SHORT: Final = 0.5  # of the rows that were read before


class Difference(msgspec.Struct, frozen=True):
    """Difference between two runs; null where a run did not report the value."""

    what: str
    good: str | None
    failed: str | None

    @property
    def words(self) -> str:
        """Describe the difference in one line."""
        if self.good is None:
            return f"{self.what}: {self.failed}"
        return f"{self.what}: {self.good} -> {self.failed or 'nothing'}"


class Diagnosis(msgspec.Struct, frozen=True):
    """Comparison of the last good run with the first one that failed after it.

    Attributes:
        good_run_id: none: nothing was found to compare.
        error_message: of the failed one.
        differences: the likeliest to matter first.
        first: of these, in one line, as a message says it; none where nothing is known to differ.
    """

    good_run_id: str | None = None
    failed_run_id: str | None = None
    error_message: str | None = None
    differences: tuple[Difference, ...] = ()
    first: str | None = None


def diagnosis_of(found: RunDiff, *, beside: Iterable[Difference] = ()) -> Diagnosis:
    """Rank what differs: code and engine, schemas of what was read, settings, inputs, figures.

    `beside`: what is known from elsewhere, and comes first: a lost driver explains any error.
    """
    ranked = (*beside, *_ranked(found))[:_MOST_KEPT]
    return Diagnosis(
        good_run_id=found.first.run_id,
        failed_run_id=found.second.run_id,
        error_message=found.second.error_message,
        differences=ranked,
        first=ranked[0].words if ranked else None,
    )


def _ranked(found: RunDiff) -> Iterator[Difference]:
    changes = {each.what: each for each in found.changes if each.what not in _ALWAYS}
    yield from (_of(changes.pop(name)) for name in _DEPLOYED if name in changes)
    read = [each for each in found.datasets if each.direction == "read"]
    yield from (each for one in read for each in _schema(one))
    yield from (each for one in read for each in _presence(one))
    yield from (each for one in read for each in _fewer_rows(one))
    yield from map(_of, changes.values())
    yield from (each for one in read for each in _figures(one))


def _of(change: ValueChange) -> Difference:
    return Difference(change.what, change.first, change.second)


def _schema(one: DatasetDiff) -> Iterator[Difference]:
    if one.schema is not None:
        yield Difference(f"schema of {one.dataset}", None, ", ".join(describe_changes(one.schema)))


def _presence(one: DatasetDiff) -> Iterator[Difference]:
    if one.only_in is not None:
        was, now = ("read", None) if one.only_in == "first" else (None, "read")
        yield Difference(f"input {one.dataset}", was, now)


def _fewer_rows(one: DatasetDiff) -> Iterator[Difference]:
    """Yield row counts that fell; counts that the failed run did not report are ignored."""
    for each in one.changes:
        was, now = each.first, each.second
        if each.what == "rows" and was and now and int(now) < _SHORT * int(was):
            yield Difference(f"rows of {one.dataset}", was, now)


def _figures(one: DatasetDiff) -> Iterator[Difference]:
    for each in one.changes:
        if each.what != "rows":
            yield Difference(f"{each.what} of {one.dataset}", each.first, each.second)

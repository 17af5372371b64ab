"""Lineage snapshot: datasets, edges and SLI violations as arrays, for the search for roots.

All times are whole microseconds since 1970 UTC, `NEVER` where there is none. Keys are the
catalog's signed 64-bit ones; 0 is no key.
"""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from alerts.root_cause.kinds import CODE, IS_OF_RUN, kind_of
from lineage.graph.adjacency import Keys
from lineage.states import OPTIONAL, TIERS

NEVER: Final = 0
NO_KEY: Final = 0

# One row a dataset that is in the graph or has a fact.
DATASET_RECORD: Final = np.dtype(
    [
        ("key", np.int64),
        ("job_key", np.int64),  # of the job that writes it; NO_KEY: not known
        ("run", np.int64),  # that wrote it last, by any number; NO_KEY: not known
        ("failed_at", np.int64),  # of the newest failed run that meant to write it
        ("lost_at", np.int64),  # when its newest run, which has not ended, had to be taken for lost
        ("last_written_at", np.int64),
        ("deadline_at", np.int64),  # when it will miss, or missed, its limit
        ("next_read_at", np.int64),  # when it is next expected to be read
        ("cadence_seconds", np.float64),  # nan: not known
        ("duration_seconds", np.float64),  # usual, of the run that writes it; nan or 0: not known
        ("tier", np.int8),  # position in lineage.states.TIERS
        ("is_source", np.bool_),
        ("is_observable", np.bool_),  # false: whether it is good is not known, or not yet
        ("is_unknown", np.bool_),  # its state is unknown now: our own fault may explain it
    ]
)

# One row for each dataset and kind of fault.
SYMPTOM: Final = np.dtype(
    [
        ("dataset", np.intp),  # position in Estate.datasets
        ("kind", np.int8),  # position in KINDS
        ("onset", np.int64),  # the FAIL where a job failed, else since when it is bad
        # A run failed or is lost, and nothing is bad yet: a cause, and no fact.
        ("is_latent", np.bool_),
    ]
)

Rows = NDArray[np.void]


class SliViolation(msgspec.Struct, frozen=True):
    """Bad state of a dataset in one SLI.

    Attributes:
        dataset_key: of the dataset.
        sli: its id, as in `lineage.states`; `facts` for facts of the content.
        reason: as `lineage.states.Reason`; none where the SLI knows none.
        since: when it became bad, µs.
        is_standing: no earlier judgement of this dataset and SLI was good.
        is_regulated: the policy holds the dataset to more than its tier is.
    """

    dataset_key: int
    sli: str
    reason: str | None
    since: int
    is_standing: bool = False
    is_regulated: bool = False


class EdgeArrays(msgspec.Struct, frozen=True):
    """Edges as arrays of one length: upstream, downstream, and the job (NO_KEY: declared)."""

    upstream_keys: Keys
    downstream_keys: Keys
    job_keys: Keys


class LineageSnapshot(msgspec.Struct, frozen=True, dict=True):
    """Datasets and graph as of onset.

    Attributes:
        datasets: `DATASET_RECORD`, by key, each once.
        upstreams: of each edge, the position of its origin in `datasets`. No loops; each pair
            once, by origin, then end.
        downstreams: and of its end.
        job_keys: and the job that makes it; the first by key where several do.
        failed_run_ids: by dataset key, of the newest failed run.
    """

    datasets: Rows
    upstreams: NDArray[np.intp]
    downstreams: NDArray[np.intp]
    job_keys: Keys
    failed_run_ids: Mapping[int, str] = {}

    @cached_property
    def keys(self) -> Keys:
        """Return the dataset keys, ascending."""
        # Cached: thousands of impacts ask for it, and each copy is 0.8 MB of 100,000 datasets.
        return np.ascontiguousarray(self.datasets["key"])


def build_snapshot(
    datasets: Rows, edges: EdgeArrays, failed_run_ids: Mapping[int, str] | None = None
) -> LineageSnapshot:
    """Build a snapshot of datasets and of the edges between them.

    Args:
        datasets: `DATASET_RECORD`, in any order, each key once. A key that only edges have is
            taken for a dataset that cannot be observed.
        edges: in any order; repeats and loops do no harm.
        failed_run_ids: by dataset key.

    Raises:
        ValueError: a key comes twice.
    """
    ends = np.stack([edges.upstream_keys, edges.downstream_keys])
    known = _add_unknown_datasets(datasets, ends)
    upstreams, downstreams = np.searchsorted(known["key"], ends)
    pairs = upstreams * len(known) + downstreams
    order = np.lexsort((edges.job_keys, pairs))
    repeats = np.zeros(len(order), dtype=np.bool_)
    repeats[1:] = np.diff(pairs[order]) == 0
    kept = order[~repeats & (upstreams != downstreams)[order]]
    return LineageSnapshot(
        known, upstreams[kept], downstreams[kept], edges.job_keys[kept], failed_run_ids or {}
    )


def _add_unknown_datasets(datasets: Rows, in_edges: Keys) -> Rows:
    ordered = datasets[np.argsort(datasets["key"])]
    keys = np.ascontiguousarray(ordered["key"])
    # Not by their difference: between two keys it may exceed 64 bits.
    repeated = keys[1:][keys[1:] == keys[:-1]]
    if len(repeated):
        raise ValueError(f"datasets: key {repeated[0]} comes twice; give each once")
    fresh = np.unique(in_edges[~is_member(keys, in_edges)])
    if not len(fresh):
        return ordered
    unknown = np.zeros(len(fresh), dtype=DATASET_RECORD)
    unknown["key"], unknown["cadence_seconds"] = fresh, np.nan
    unknown["tier"] = TIERS.index(OPTIONAL)
    return np.sort(np.concatenate([ordered, unknown]), order="key")


def is_member(ascending: Keys, wanted: Keys) -> NDArray[np.bool_]:
    """Return whether each of `wanted` is one of `ascending`."""
    if not len(ascending):
        return np.zeros(wanted.shape, dtype=np.bool_)
    at = np.minimum(np.searchsorted(ascending, wanted), len(ascending) - 1)
    return np.asarray(ascending[at] == wanted)


def find_symptoms(violations: Iterable[SliViolation], snapshot: LineageSnapshot) -> Rows:
    """Return the symptoms, each kind once a dataset, since its first violation.

    A run that failed or was lost after its dataset's newest write is a cause before anything is
    late: without a violation that the dataset stopped, it is a latent symptom.

    Returns:
        `SYMPTOM`, by dataset, then kind.

    Raises:
        ValueError: a violation has an unknown dataset or reason.
    """
    violated = _violated(list(violations), snapshot)
    fresh = np.concatenate([violated, *_find_latent(violated, snapshot)])
    fresh = fresh[np.lexsort((fresh["onset"], fresh["kind"], fresh["dataset"]))]
    is_first = np.ones(len(fresh), dtype=np.bool_)
    is_first[1:] = (np.diff(fresh["dataset"]) != 0) | (np.diff(fresh["kind"]) != 0)
    return fresh[is_first]


def _violated(violations: list[SliViolation], snapshot: LineageSnapshot) -> Rows:
    found = np.zeros(len(violations), dtype=SYMPTOM)
    keys = np.array([violation.dataset_key for violation in violations], dtype=np.int64)
    unknown = keys[~is_member(snapshot.keys, keys)]
    if len(unknown):
        raise ValueError(f"violations: dataset {unknown[0]} is not among the datasets; add its row")
    found["dataset"] = np.searchsorted(snapshot.keys, keys)
    rows = snapshot.datasets[found["dataset"]]
    found["kind"] = [
        CODE[_kind_of_violation(violation, is_source=is_source)]
        for violation, is_source in zip(violations, rows["is_source"].tolist(), strict=True)
    ]
    since = np.array([violation.since for violation in violations], dtype=np.int64)
    has_failed = (found["kind"] == CODE["failed"]) & (rows["failed_at"] != NEVER)
    found["onset"] = np.where(has_failed, np.minimum(since, rows["failed_at"]), since)
    return found


def _kind_of_violation(violation: SliViolation, *, is_source: bool) -> str:
    return kind_of(
        violation.reason,
        violation.sli,
        is_standing=violation.is_standing,
        is_source=is_source,
        is_regulated=violation.is_regulated,
    )


def _find_latent(violated: Rows, snapshot: LineageSnapshot) -> tuple[Rows, Rows]:
    """Return the datasets whose newest run failed, and those whose newest run is lost."""
    rows = snapshot.datasets
    may_be = ~rows["is_unknown"]
    may_be[violated["dataset"][IS_OF_RUN[violated["kind"]]]] = False
    has_failed = may_be & _is_after_write(rows, "failed_at")
    is_lost = may_be & ~has_failed & _is_after_write(rows, "lost_at")
    return _latent_since(rows, has_failed, "failed"), _latent_since(rows, is_lost, "lost")


def _is_after_write(rows: Rows, when: str) -> NDArray[np.bool_]:
    return np.asarray((rows[when] != NEVER) & (rows[when] > rows["last_written_at"]))


def _latent_since(rows: Rows, chosen: NDArray[np.bool_], kind: str) -> Rows:
    found = np.zeros(np.count_nonzero(chosen), dtype=SYMPTOM)
    found["dataset"] = np.flatnonzero(chosen)
    found["kind"], found["is_latent"] = CODE[kind], True
    found["onset"] = rows[f"{kind}_at"][chosen]
    return found

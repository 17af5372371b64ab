"""Small snapshots in words: hours instead of microseconds, names instead of keys."""

import itertools
import math

import numpy as np

from alerts.root_cause.cause_merging import merge_by_cause
from alerts.root_cause.roots import find_faults
from alerts.root_cause.snapshot import (
    DATASET_RECORD,
    NEVER,
    NO_KEY,
    EdgeArrays,
    SliViolation,
    build_snapshot,
)
from lineage.process.clock import SECOND_MICROS
from lineage.states import TIERS

HOUR = 3600 * SECOND_MICROS


def key(name):
    """Return the key of a dataset, which is a letter, or a number."""
    return ord(name) if isinstance(name, str) else name


def job(name):
    """Return the key of the job that writes a dataset."""
    return 1_000_000 + key(name)


def row(name, **values):  # noqa: ANN003
    """Return one `DATASET_RECORD` row; hours for times and for `cadence`."""
    written_by = values.get("job", name)
    found = np.zeros((), dtype=DATASET_RECORD)
    found["key"] = key(name)
    found["job_key"] = NO_KEY if written_by is None else job(written_by)
    for instant in ("failed", "lost", "last_written", "deadline", "next_read"):
        found[f"{instant}_at"] = values[instant] * HOUR if instant in values else NEVER
    found["cadence_seconds"] = values.get("cadence", 24) * 3600
    found["tier"] = TIERS.index(values.get("tier", "optional"))
    found["is_source"] = values.get("is_source", False)
    found["is_observable"] = values.get("is_observable", True)
    found["is_unknown"] = values.get("is_unknown", False)
    return found


def edges(*arrows):  # noqa: ANN002
    """Return edges: `A>B>C` is two, each made by the job of its end."""
    pairs = [pair for arrow in arrows for pair in _steps(arrow)]
    both = np.array([(key(up), key(down)) for up, down in pairs], dtype=np.int64).reshape(-1, 2)
    return EdgeArrays(both[:, 0], both[:, 1], both[:, 1] + 1_000_000)


def _steps(arrow):
    names = arrow.split(">") if isinstance(arrow, str) else arrow
    return list(itertools.pairwise(names))


def make_snapshot(*arrows, runs=None, rows=None, **values):  # noqa: ANN002, ANN003
    """Return a snapshot of these edges, with columns of datasets by their letter."""
    in_edges = {name for arrow in arrows for pair in _steps(arrow) for name in pair}
    names = sorted(in_edges | {*values}, key=key)
    given = rows or [row(name, **values.get(name, {})) for name in names]
    run_ids = {key(name): run for name, run in (runs or {}).items()}
    return build_snapshot(np.array(given, dtype=DATASET_RECORD), edges(*arrows), run_ids)


def violation(name, reason, since=10, sli="M2", *, is_standing=False):
    """Return a violation since an hour."""
    return SliViolation(key(name), sli, reason, since * HOUR, is_standing)


def members_by_root(clusters):
    """Return groups as {root: its members}, in letters; each root with its kind."""
    return {
        f"{_letter(each.root.key)} {each.root.kind}": "".join(
            sorted({_letter(key) for key in each.bad_keys})
        )
        for each in clusters
    }


def _letter(number):
    return chr(number % 1_000_000)


NAN = math.nan


def faults_of(facts, *arrows, **values):  # noqa: ANN002, ANN003
    """Return roots, and the members of each."""
    return members_by_root(merge_by_cause(find_faults(facts, make_snapshot(*arrows, **values)), {}))


def late_violations(*names, since=12):  # noqa: ANN002
    """Return a violation for each dataset that waits for its upstream."""
    return [violation(name, "upstream_late", since) for name in names]

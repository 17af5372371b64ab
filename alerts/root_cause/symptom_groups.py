"""Groups of symptoms of one fault: all outputs of a failing job are one, by kind."""

import msgspec
import numpy as np
from numpy.typing import NDArray

from alerts.root_cause.kinds import FAULT_KINDS, IS_OF_JOB, IS_ROOT
from alerts.root_cause.snapshot import NO_KEY, LineageSnapshot, Rows
from lineage.graph.adjacency import NodePositions


class SymptomGroups(msgspec.Struct, frozen=True):
    """Groups as arrays, one row a group; `of` has one row a symptom.

    Attributes:
        of: the group of each symptom.
        home: the job that writes its dataset, else the dataset; one number for each.
        kind: position in KINDS.
        onset: of its first symptom, µs.
        key: of the job, or of the dataset where the fault is not of a job or nobody writes it.
        is_job: which of the two `key` is.
        first: its first symptom, by position.
        is_latent: nothing is bad yet of all its datasets.
        rank: who is named as root: who failed first, symptoms after all others; 0 is the first.
    """

    of: NodePositions
    home: NodePositions
    kind: NDArray[np.int8]
    onset: NDArray[np.int64]
    key: NDArray[np.int64]
    is_job: NDArray[np.bool_]
    first: NodePositions
    is_latent: NDArray[np.bool_]
    rank: NodePositions

    def __len__(self) -> int:
        return len(self.kind)


def group_symptoms(found: Rows, snapshot: LineageSnapshot) -> SymptomGroups:
    """Group `SYMPTOM` rows by job, or dataset, and kind."""
    rows = snapshot.datasets[found["dataset"]]
    has_job = rows["job_key"] != NO_KEY
    keys = np.where(has_job, rows["job_key"], rows["key"])
    # A job and a dataset are never one, whatever their keys.
    _, homes = np.unique(np.stack([keys, has_job]), axis=1, return_inverse=True)
    is_of_job = IS_OF_JOB[found["kind"]]
    entity = np.where(is_of_job, homes, len(found) + found["dataset"])
    codes = entity * len(FAULT_KINDS) + found["kind"]
    _, of = np.unique(codes, return_inverse=True)
    first = _first_symptoms(of, found)
    is_latent = np.ones(len(first), dtype=np.bool_)
    np.logical_and.at(is_latent, of, found["is_latent"])
    kind, onset = found["kind"][first], found["onset"][first]
    is_job = (is_of_job & has_job)[first]
    key = np.where(is_job, rows["job_key"][first], rows["key"][first])
    rank = np.empty(len(first), dtype=np.intp)
    rank[np.lexsort((kind, key, is_job, onset, ~IS_ROOT[kind]))] = np.arange(len(first))
    return SymptomGroups(of, homes[first], kind, onset, key, is_job, first, is_latent, rank)


def _first_symptoms(of: NodePositions, found: Rows) -> NodePositions:
    order = np.lexsort((np.arange(len(of)), found["is_latent"], found["onset"], of))
    begins = np.ones(len(order), dtype=np.bool_)
    begins[1:] = np.diff(of[order]) != 0
    return np.asarray(order[begins])

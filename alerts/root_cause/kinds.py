"""Kinds of faults, and the table of kinds that explain others.

The order is the rank: of several kinds that one job has at once, the first explains the others.
"""

from typing import Final, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from lineage.states import MISSING_PROVENANCE, Reason

Urgency = Literal["by_tier", "ticket", "page"]
Extent = Literal["dataset", "job", "run"]
# One fault over time: slow, then lost; of an unknown source, then of an undeclared one.
Progression = Literal["run", "origin"]

# Kinds of a dataset whose writes stop because something upstream stopped.
_ABSENT = ("missing", "silent", "slow", "waiting")
LATE_KINDS: Final = frozenset(_ABSENT)
UNDER_WAY: Final = "slow"  # late, and a run of it is under way, for no longer than it may take
# Kinds of a dataset that was written, and whose lineage was not reported.
_ORIGINS = ("provenance", "unexpected_source")
_LINEAGE_LOST = ("unreported", "mapping", *_ORIGINS)


class FaultKind(msgspec.Struct, frozen=True):
    """Kind of a fault.

    Attributes:
        id: name of the kind in the key of an incident and in messages.
        extent: the datasets of one fault: `dataset` has one, `job` has all outputs of the job, and
            `run` also has the outputs that the run should have written.
        is_root: whether a fault of this kind can be a root. Otherwise it is a symptom, and without
            an explanation its root is unknown.
        delays: whether the fault makes downstream datasets late.
        urgency: `by_tier` if the tiers downstream decide the severity; other values decide alone.
        explains: kinds of downstream datasets that this kind explains.
        explains_own: kinds of the same dataset that this kind explains, or of the same job if the
            extent is not `dataset`.
    """

    id: str
    extent: Extent = "dataset"
    is_root: bool = True
    delays: bool = False
    urgency: Urgency = "by_tier"
    explains: tuple[str, ...] = ()
    explains_own: tuple[str, ...] = ()


def _stopping_kind(kind: str, own: tuple[str, ...], *also: str, is_root: bool = True) -> FaultKind:
    """Return the kind of a run that did not write, which makes downstream datasets late."""
    return FaultKind(
        kind,
        extent="run",
        is_root=is_root,
        delays=True,
        explains=(*_ABSENT, *also),
        explains_own=(*own, "mapping"),
    )


FAILED_KIND: Final = "failed"
STANDING_GAP: Final = "standing_gap"
PROVENANCE: Final = "provenance"
FAULT_KINDS: Final = (
    _stopping_kind(FAILED_KIND, ("lost", "unreported", *_ABSENT)),
    _stopping_kind("lost", ("unreported", *_ABSENT)),
    _stopping_kind("source_stopped", ("unreported", *_ABSENT)),
    # The job that reads the old name may find nothing there, and fail.
    _stopping_kind("renamed", ("unreported", *_ORIGINS, *_ABSENT), "failed", "mapping", *_ORIGINS),
    _stopping_kind("missing", ("unreported", "silent", "slow", "waiting")),
    FaultKind(
        "unreported",
        extent="run",
        explains=(*_LINEAGE_LOST, "waiting"),
        explains_own=("silent", "slow", "waiting", "mapping", *_ORIGINS),
    ),
    _stopping_kind("silent", ("slow", "waiting", *_ORIGINS), *_LINEAGE_LOST),
    _stopping_kind("slow", ("waiting",)),
    _stopping_kind("waiting", (), is_root=False),
    FaultKind(
        "standing_gap",
        urgency="ticket",
        explains=("waiting", "mapping", *_ORIGINS),
        explains_own=("mapping", *_ORIGINS),
    ),
    FaultKind(
        "schema_changed",
        extent="job",
        explains=("failed", "schema_changed", "quality"),
        explains_own=("quality",),
    ),
    FaultKind("mapping", explains_own=_ORIGINS),
    FaultKind("provenance", urgency="ticket"),
    FaultKind("unexpected_source"),
    FaultKind("quality", urgency="ticket", explains=("quality",)),
    # A required field is a ratio to raise, not a page for each dataset (`docs/slis.md`).
    FaultKind("metadata", urgency="ticket"),
    FaultKind("claimed", urgency="ticket"),
    FaultKind("ingestion", urgency="page"),
    FaultKind("access", urgency="page"),
    FaultKind("set_aside", urgency="ticket"),
)
KIND_BY_ID: Final = {kind.id: kind for kind in FAULT_KINDS}
CODE: Final = {kind.id: code for code, kind in enumerate(FAULT_KINDS)}

_OF_REASON: Final[dict[Reason, str]] = {
    "job_failed": "failed",
    "lost_run": "lost",
    "naming_mismatch": "renamed",
    "job_missing": "missing",
    "lineage_missing": "unreported",
    "no_inputs": "unreported",
    "silent": "silent",
    "never_reported": "standing_gap",
    "late": "slow",
    "upstream_late": "waiting",
    "schema_mismatch": "schema_changed",
    "edge_missing": "mapping",
    "edge_stale": "mapping",
    "edge_wrong": "mapping",
    "unexpected_source": PROVENANCE,
    "assertion_failed": "quality",
    "metadata_missing": "metadata",
    "foreign_claim": "claimed",
}
# Lineage that was never there is no lineage that stopped.
_NEVER_REPORTED: Final = frozenset({"naming_mismatch", "lineage_missing", "no_inputs"})
_OF_SOURCE: Final = frozenset({"job_missing", "silent", "late", "lineage_missing"})


def kind_of(
    reason: str | None,
    sli: str,
    *,
    is_standing: bool,
    is_source: bool,
    is_regulated: bool = False,
) -> str:
    """Return the kind of a violation.

    Args:
        reason: as `lineage.states.Reason`; none where the SLI knows none (M5).
        sli: its id.
        is_standing: no earlier judgement of this dataset and SLI was good.
        is_source: the dataset comes from outside.
        is_regulated: by the policy: a new source of it may page.

    Raises:
        ValueError: the reason says of a dataset that it is unknown, or is not known here.
    """
    if sli == MISSING_PROVENANCE.id:
        return PROVENANCE
    if is_regulated and reason == "unexpected_source":
        return "unexpected_source"
    if is_standing and reason in _NEVER_REPORTED:
        return "standing_gap"
    if is_source and reason in _OF_SOURCE:
        return "source_stopped"
    for known, kind in _OF_REASON.items():
        if reason == known:
            return kind
    raise ValueError(
        f"reason: no kind of fault has the reason {reason!r:.80} of {sli!r:.20}; add it to kinds"
    )


def progression_of(kind: str) -> Progression | None:
    """Return the progression that a kind is a part of; None: no other kind follows it."""
    if kind in _ORIGINS:
        return "origin"
    return "run" if KIND_BY_ID[kind].extent == "run" else None


def _relation(pairs: dict[str, tuple[str, ...]]) -> NDArray[np.bool_]:
    fits = np.zeros((len(FAULT_KINDS), len(FAULT_KINDS)), dtype=np.bool_)
    for kind, explained in pairs.items():
        fits[CODE[kind], [CODE[other] for other in explained]] = True
    return fits


# [code of the parent, code of the child]
EXPLAINS: Final = _relation({kind.id: kind.explains for kind in FAULT_KINDS})
EXPLAINS_OWN: Final = _relation({kind.id: kind.explains_own for kind in FAULT_KINDS})
IS_OF_RUN: Final = np.array([kind.extent == "run" for kind in FAULT_KINDS])
IS_OF_JOB: Final = np.array([kind.extent != "dataset" for kind in FAULT_KINDS])
# Nobody knows whether the data comes: upstream datasets are searched.
IS_GAP: Final = np.array([kind.id in {STANDING_GAP, PROVENANCE} for kind in FAULT_KINDS])
IS_ROOT: Final = np.array([kind.is_root for kind in FAULT_KINDS])
# Kinds whose job writes nothing. What was late before its last write was not made late by it.
HAS_STOPPED: Final = np.array([kind.delays for kind in FAULT_KINDS])
# A dataset with one of these wrote nothing since: a write of its own disproves its parent's guilt.
IS_ABSENT: Final = np.array([kind.id in {"failed", *_ABSENT} for kind in FAULT_KINDS])

"""Truth of the injected faults, for the scorer: names and times, and nothing of the detector."""

from typing import Final, Literal, get_args

import msgspec

SECOND_MICROS: Final = 1_000_000  # the product's constant would load a part of it
InjectedKind = Literal[
    "killed_job",
    "silent_listener",
    "late_source",
    "schema_drift",
    "renamed_dataset",
    "spark_upgrade",
    "collector_outage",
    "clock_skew",
    "flapping_job",
    "provenance_leak",
    "backfill",
    "holiday",
    "planned_deployment",
    "retired_job",
    "rerun_by_hand",
    "retried_run",
]
# A simulated month has runs that fail and are tried again of its own: one in 250.
INJECTED_KINDS: tuple[InjectedKind, ...] = tuple(
    each for each in get_args(InjectedKind) if each != "retried_run"
)
SILENT_KINDS: tuple[InjectedKind, ...] = (
    *("backfill", "holiday", "planned_deployment", "retired_job", "rerun_by_hand"),
)
INGESTION_KINDS: tuple[InjectedKind, ...] = ("collector_outage",)
Expect = Literal["page", "ticket", "silence"]


class NamePattern(msgspec.Struct, frozen=True, order=True):
    """Name of a job or a dataset. A namespace that is empty is any; `*` in a name is any text."""

    namespace: str
    name: str


class Fault(msgspec.Struct, frozen=True):
    """Fault of the estate. Times in µs UTC.

    Attributes:
        expect: the expected notification.
        causes: any of these is its root: the job, and what it writes.
        owners: who can fix it; a fault of many teams' jobs is one of those or the platform's.
        impact: what is truly made of the causes, as of `starts_at`; the causes' own datasets are
            in neither.
        behind: the jobs that make these: named as a root, they are wrong, and of this fault.
        starts_at: from then on it can be seen, at the earliest.
        ends_at: it is fixed.
        over_at: until then its remains may be notified.
        variant: which of several ways to do the same.
        is_spread: its causes fail one after the other, over hours: no message can list what the
            later ones affect, but all messages about it together must.
    """

    kind: InjectedKind
    expect: Expect
    causes: tuple[NamePattern, ...]
    owners: tuple[str, ...]
    impact: tuple[NamePattern, ...]
    behind: tuple[NamePattern, ...]
    starts_at: int
    ends_at: int
    over_at: int
    variant: str = ""
    is_spread: bool = False


class Truth(msgspec.Struct, frozen=True):
    """Truth of one game day.

    Attributes:
        judged_from: before it nothing is judged: limits are being learned.
        standing: never reported datasets: a ticket about them is right at any time.
    """

    seed: int
    datasets: int
    days: int
    starts_at: int
    judged_from: int
    ends_at: int
    faults: tuple[Fault, ...]
    standing: tuple[NamePattern, ...] = ()

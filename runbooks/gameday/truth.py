"""What was injected, as the scorer is told it: names and instants, and nothing of the detector."""

from typing import Literal, get_args

import msgspec

Kind = Literal[
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
KINDS: tuple[Kind, ...] = tuple(each for each in get_args(Kind) if each != "retried_run")
SILENT_KINDS: tuple[Kind, ...] = (
    *("backfill", "holiday", "planned_deployment", "retired_job", "rerun_by_hand"),
)
INGESTION_KINDS: tuple[Kind, ...] = ("collector_outage",)
Expect = Literal["page", "ticket", "silence"]


class Name(msgspec.Struct, frozen=True, order=True):
    """Of a job or a dataset. A namespace that is empty is any; `*` in a name is any text."""

    namespace: str
    name: str


class Fault(msgspec.Struct, frozen=True):
    """One thing that was done to the estate. Instants in µs UTC.

    Attributes:
        expect: what has to be told of it.
        causes: any of these is its root: the job, and what it writes.
        owners: who can mend it; a fault of many teams' jobs is one of those or the platform's.
        impact: what is truly made of the causes, as of `starts_at`; the causes' own datasets are
            in neither.
        behind: the jobs that make these: named as a root, they are wrong, and of this fault.
        starts_at: from then on it can be seen, at the earliest.
        ends_at: it is mended.
        over_at: until then its rest may be told of.
        variant: which of several ways to do the same.
        is_spread: its causes fail one after the other, over hours: no message can list what the
            later ones hurt, but all that was told of it together must.
    """

    kind: Kind
    expect: Expect
    causes: tuple[Name, ...]
    owners: tuple[str, ...]
    impact: tuple[Name, ...]
    behind: tuple[Name, ...]
    starts_at: int
    ends_at: int
    over_at: int
    variant: str = ""
    is_spread: bool = False


class Truth(msgspec.Struct, frozen=True):
    """Of one game day.

    Attributes:
        judged_from: before it nothing is judged: limits are being learned.
        standing: what nobody ever reported: it is rightly told of as a ticket, at any time.
    """

    seed: int
    datasets: int
    days: int
    starts_at: int
    judged_from: int
    ends_at: int
    faults: tuple[Fault, ...]
    standing: tuple[Name, ...] = ()

"""Faults: their roots, members and evidence."""

from typing import Literal, get_args

import msgspec

Entity = Literal["job", "dataset", "service", "cause"]
# Why a root is unknown: what we know of the datasets right upstream of it.
UnknownReason = Literal["upstream_unknown", "upstream_hidden", "upstream_well", "no_upstream"]
UNKNOWN_REASONS: tuple[UnknownReason, ...] = get_args(UnknownReason)  # the first that holds


class FaultRoot(msgspec.Struct, frozen=True, order=True):
    """Root of a fault: the key of an incident, whatever members join and leave.

    Attributes:
        entity: what `key` is of; `dataset` also for a source, and an unknown job; `cause`
            is what several roots have in common (`cause_merging.merge_by_cause`).
        key: of the job, the dataset or the cause; NO_KEY of a part of the service.
        kind: of the fault, as in `kinds.FAULT_KINDS`.
        name: of the part of the service, or of the cause; empty else. Data, not markup.
    """

    entity: Entity
    key: int
    kind: str
    name: str = ""


LABEL_OF_ROOT = "CASE WHEN root_entity = 'service' THEN root_name ELSE root_kind END"


def label_of_root(root: FaultRoot) -> str:
    """Return the label `root_kind`, in SQL `LABEL_OF_ROOT`: a part of Lineward, or the kind."""
    return root.name if root.entity == "service" else root.kind


class Member(msgspec.Struct, frozen=True):
    """Dataset that is bad because of the root, with its evidence.

    Attributes:
        dataset_key: of the dataset.
        kind: in which way it is bad.
        onset: since when, µs.
        fault: what would be the root if nothing explained this.
        steps: explanations between it and the root; 0 of the root itself.
        explained_by: dataset key and kind of the symptom, a member too, that explains it.
        unobserved: datasets between the two that cannot be observed, upstream first.
        job_key: of the job that makes it of what explains it; NO_KEY where both are of one job.
        run_id: of its newest failed run.
        is_latent: its run failed or is lost, and it is not bad yet: evidence, and in no count.
    """

    dataset_key: int
    kind: str
    onset: int
    fault: FaultRoot
    steps: int
    explained_by: tuple[int, str] | None = None
    unobserved: tuple[int, ...] = ()
    job_key: int = 0
    run_id: str | None = None
    is_latent: bool = False

    @property
    def order(self) -> tuple[int, int, int, str]:
        """Return a sort key for the members of a fault: those of the root first."""
        return self.steps, self.onset, self.dataset_key, self.kind


class SharedMember(msgspec.Struct, frozen=True):
    """Dataset that this root explains too, and that belongs to a root which failed before it."""

    dataset_key: int
    kind: str
    root: FaultRoot


class FaultGroup(msgspec.Struct, frozen=True):
    """Fault with its members.

    Attributes:
        root: what is to be fixed.
        onset: when it failed, µs.
        members: the root's own datasets first, then by steps, onset and key.
        unknown: why the root is not known; `root` is then the first to show it. None: it is known.
        is_cycle: the root is the first of several that explain each other.
        shared: what else it explains, by dataset key and kind.
        is_shared_cut: there is more of that.
    """

    root: FaultRoot
    onset: int
    members: tuple[Member, ...]
    unknown: UnknownReason | None = None
    is_cycle: bool = False
    shared: tuple[SharedMember, ...] = ()
    is_shared_cut: bool = False

    @property
    def is_bridged(self) -> bool:
        """Return whether members are explained through datasets that cannot be observed."""
        return any(member.unobserved for member in self.members)

    @property
    def is_latent(self) -> bool:
        """Return whether a run failed or is lost, and no dataset is affected yet."""
        return all(member.is_latent for member in self.members)

    @property
    def bad_keys(self) -> frozenset[int]:
        """Return the datasets that are bad because of the fault."""
        return frozenset(member.dataset_key for member in self.members if not member.is_latent)

    @property
    def root_keys(self) -> tuple[int, ...]:
        """Return the datasets of the root itself."""
        return tuple(sorted({each.dataset_key for each in self.members if each.steps == 0}))

    @property
    def run_ids(self) -> tuple[str, ...]:
        """Return the failed runs of the root."""
        found = {each.run_id for each in self.members if each.steps == 0 and each.run_id}
        return tuple(sorted(found))

    def path(self, member: Member) -> tuple[Member, ...]:
        """Return the members from the root to this one, each explained by the one before it."""
        by_symptom = {(each.dataset_key, each.kind): each for each in self.members}
        back = [member]
        while back[-1].explained_by is not None:
            back.append(by_symptom[back[-1].explained_by])
        return tuple(reversed(back))

"""Actions that a policy runs automatically when an incident opens."""

import re
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from lineage.policy.patterns import PatternParts

# As the actions and kinds of fault are called; tests hold the two lists against theirs. Without
# `remove-collector`: only a person knows that a collector does not come back.
ActionName = Literal[
    "notify-downstream",
    "open-suppression",
    "reinfer",
    "replay",
    "requeue-rejected",
    "requeue-notifications",
    "requeue-set-aside",
    "restart-role",
    "resubmit",
]
KindName = Literal[
    "access",
    "claimed",
    "failed",
    "ingestion",
    "lost",
    "mapping",
    "metadata",
    "missing",
    "provenance",
    "quality",
    "renamed",
    "schema_changed",
    "set_aside",
    "silent",
    "slow",
    "source_stopped",
    "standing_gap",
    "unexpected_source",
    "unreported",
    "waiting",
]
WORDS: Final = ("incident", "run", "job_name", "job_namespace", "dataset", "dataset_namespace")
_FIELD: Final = re.compile(r"\{([^}]*)\}")
_Text = Annotated[str, Meta(min_length=1, max_length=500)]


class ActionRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"with_": "with"}):
    """Action for incidents whose root cause has a kind, and matches.

    Attributes:
        match: over namespace and name of the root, as elsewhere in the policy.
        with_: arguments of the action; `{job_name}` and its like stand for the incident's.
        dry_run: only plan it, and have the plan in the audit log.
        most_per_hour: over all incidents; beyond it a person has to.
    """

    kind: KindName  # `on` would be the truth value in YAML
    match: _Text | PatternParts
    do: ActionName
    with_: dict[str, _Text] = {}
    dry_run: bool = True
    most_per_hour: Annotated[int, Meta(ge=1, le=60)] = 3

    def __post_init__(self) -> None:
        """Reject a word that no incident has."""
        for text in self.with_.values():
            for word in _FIELD.findall(text):
                if word not in WORDS:
                    known = ", ".join(WORDS)
                    message = f"with: {{{word[:40]}}} stands for nothing; there are {known}"
                    raise ValueError(message)

"""Policy: owners, tiers, sources and limits by pattern, from `lineward.yaml`."""

from lineage.policy.compiled_folds import NO_FOLDS, CompiledFolds, folds_of
from lineage.policy.file import PolicyFile
from lineage.policy.gaps import not_in_force, token_gaps, unreachable_owners
from lineage.policy.model import DEFAULT, Policy
from lineage.policy.reading import PolicyError, load_policy, parse_policy
from lineage.policy.resolution import (
    PolicyDecision,
    decide_policy,
    owner_of_job,
    resolve_names,
    suppressions_of,
)

__all__ = [
    "DEFAULT",
    "NO_FOLDS",
    "CompiledFolds",
    "Policy",
    "PolicyDecision",
    "PolicyError",
    "PolicyFile",
    "decide_policy",
    "folds_of",
    "load_policy",
    "not_in_force",
    "owner_of_job",
    "parse_policy",
    "resolve_names",
    "suppressions_of",
    "token_gaps",
    "unreachable_owners",
]

"""Policy: owners, tiers, sources and limits by pattern, from `lineward.yaml`."""

from lineage.policy.checks import not_in_force, unreachable
from lineage.policy.compiled_folds import NO_FOLDS, CompiledFolds, folds_of
from lineage.policy.file import PolicyFile
from lineage.policy.model import DEFAULT, Policy
from lineage.policy.reading import PolicyError, load, parse
from lineage.policy.resolution import (
    PolicyDecision,
    owner_of_job,
    resolve,
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
    "folds_of",
    "load",
    "not_in_force",
    "owner_of_job",
    "parse",
    "resolve",
    "resolve_names",
    "suppressions_of",
    "unreachable",
]

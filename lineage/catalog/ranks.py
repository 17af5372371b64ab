"""Order in which datasets are listed: most severe first, then the highest tier.

A rank of each stands beside its name, so that an index has them all in that order, and a page of
100,000 is a few rows of it. Constants only: commands that ask load no database toolkit.
"""

from typing import Final

from lineage.states import BAD, GOOD, LEARNING, OPTIONAL, TIERS, UNKNOWN

WORST_FIRST: Final = (BAD, UNKNOWN, LEARNING, GOOD)
# Until the first evaluation.
NOT_JUDGED: Final = WORST_FIRST.index(UNKNOWN)
# A dataset that came since the policy was resolved counts as what nobody declared does.
NO_TIER: Final = TIERS.index(OPTIONAL)
TIER: Final = f"COALESCE(p.tier, '{OPTIONAL}')"  # p: `dataset_policy`, joined to all datasets
# What is listed. The index is of these, and a question that does not say it so cannot use it.
LISTED: Final = "canonical_key = dataset_key AND retired_at IS NULL"

# A run failed after the newest write. The index `dataset_activity_failing` has these rows alone.
FAILS: Final = "last_failed_at > coalesce(last_written_at, 0)"


def rank_of(column: str, order: tuple[str, ...], otherwise: int) -> str:
    """Return the rank of a column's value, as SQL."""
    cases = " ".join(f"WHEN '{word}' THEN {rank}" for rank, word in enumerate(order))
    return f"CASE {column} {cases} ELSE {otherwise} END"

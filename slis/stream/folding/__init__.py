"""From read events to facts: what a batch says of runs, datasets and jobs, each thing once.

The folds shrink a batch; they need not be complete. What remains of a key's repeats, as where
several tasks fold parts of one batch, is folded by the merge.
"""

from slis.stream.folding.facts import Facts, fold_events, fold_table, join_facts

__all__ = ["Facts", "fold_events", "fold_table", "join_facts"]

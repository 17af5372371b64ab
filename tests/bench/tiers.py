"""Time to propagate tiers upstream through 100,000 datasets.

Run by hand, `python -m tests.bench.tiers`: prints its figure and asserts nothing.
"""

import random
import sys
import time

from lab.bench.query.questions import make_layers
from lineage.policy.tiers import inherit

DATASETS, EDGES = 100_000, 300_000


def main() -> None:
    """Print the time; one of twenty datasets is declared critical."""
    pairs = list(make_layers(DATASETS, EDGES, random.Random(4)))  # noqa: S311 - the same each time
    declared = dict.fromkeys(range(0, DATASETS, 20), "critical")
    began = time.perf_counter()
    inherit(range(DATASETS), declared, pairs)
    sys.stdout.write(f"tiers, {DATASETS:,} datasets, s: {time.perf_counter() - began:.2f}\n")


if __name__ == "__main__":
    main()

"""Random choice of when and what to kill, from a seed that each run prints."""

import os
import random
import sys


def draw() -> random.Random:
    """Return a random source; `LINEWARD_SEED` repeats an earlier run."""
    seed = int(os.environ.get("LINEWARD_SEED", random.SystemRandom().randrange(1 << 32)))
    sys.stdout.write(f"LINEWARD_SEED={seed}\n")
    return random.Random(seed)  # noqa: S311 - says when to kill, guards nothing

"""Runs and jobs that name more inputs and outputs than edges are made of.

An edge leads from each input to each output: 3,000 of both, 15 kB of an event, would be 9,000,000.
"""

from typing import Final

# Of one run or job: a job that copies 100 tables into 100 others is just within it.
MOST_EDGES: Final = 10_000


def is_wide(inputs: int, outputs: int) -> bool:
    """Return whether so many inputs and outputs make too many edges."""
    return inputs * outputs > MOST_EDGES

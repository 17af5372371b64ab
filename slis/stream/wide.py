"""Runs and jobs that name more inputs and outputs than edges are made of.

An edge leads from each input to each output: 3,000 of both, 15 kB of an event, would be 9,000,000.
"""

from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F

# Of one run or job: a job that copies 100 tables into 100 others is just within it.
MOST_EDGES: Final = 10_000
_SIDES: Final = ("inputs", "outputs")


def is_wide(inputs: Column, outputs: Column) -> Column:
    """Whether so many inputs and outputs make too many edges."""
    return inputs.cast("bigint") * outputs.cast("bigint") > MOST_EDGES


def sizes() -> tuple[Column, Column]:
    """Return how many inputs and outputs `event` names."""
    inputs, outputs = (F.size(F.coalesce(f"event.{side}", F.array())) for side in _SIDES)
    return inputs, outputs

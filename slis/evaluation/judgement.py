"""Shape of a judgement: one (dataset, SLI) at one instant, before its reason is known."""

from pyspark.sql import Column
from pyspark.sql import functions as F

# What a dataset lacks.
NEVER_WRITTEN = "never_written"
NO_WRITE = "no_write"
UNREPORTED_WRITE = "unreported_write"
NO_INPUTS = "no_inputs"
OVERDUE = "overdue"

_FIELDS = {
    "sli": "string",
    "state": "string",
    "defect": "string",
    "due_from": "timestamp",
    "bad_since": "timestamp",
    "next_cycle_at": "timestamp",
    "is_idle": "boolean",
    "age_seconds": "double",
    "limit_seconds": "double",
    "limit_origin": "string",
}


def judgement(**values: Column) -> Column:
    """`sli_schemas.JUDGEMENT` from the fields that are given; the others are null."""
    return F.struct(
        *(values.get(name, F.lit(None)).cast(kind).alias(name) for name, kind in _FIELDS.items())
    )

"""Facts: what the events of a batch say of runs, datasets and jobs, each thing once.

Facts need not be complete: where several tasks read parts of one batch, two parts may say the same.
The merge takes each thing once.
"""

from slis.stream.facts.facts import (
    Facts,
    extract_facts,
    extract_from_table,
    join_facts,
    times_of,
)

__all__ = ["Facts", "extract_facts", "extract_from_table", "join_facts", "times_of"]

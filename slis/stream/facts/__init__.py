"""Facts: runs, datasets and jobs of a batch, as its events report them, each fact once.

Where several tasks read parts of one batch, two parts may have the same fact. The merge takes it
once.
"""

from slis.stream.facts.facts import (
    Facts,
    extract_facts,
    extract_from_table,
    join_facts,
    times_of,
)

__all__ = ["Facts", "extract_facts", "extract_from_table", "join_facts", "times_of"]

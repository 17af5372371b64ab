"""Python's search for cycles of references: when it pauses, and when it has to run.

The search begins by how many objects there are. While the facts of a batch are made, it would look
through them again and again, for a sixth of the CPU time that it takes to read and extract them.

In Spark's JVM, frames and their rows stay until the search has run. Each object of the JVM that was
called once is part of a cycle of references in Python (py4j keeps its methods, which keep it). By
itself the search runs rarely: the events of 50 batches filled the heap.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_search() -> Iterator[None]:
    """Search for no cycles inside; what is no longer used is freed as always."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def freeze_objects() -> None:
    """Exclude what exists now from each later search: it stays, and is most of all objects."""
    gc.collect()
    gc.freeze()


def free() -> None:
    """Free all that is no longer used, in milliseconds after `freeze_objects`."""
    gc.collect()

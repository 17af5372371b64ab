"""Frees what Python no longer uses in Spark's JVM: frames, and the rows that they hold.

Each object of the JVM that was called once is part of a cycle of references in Python (py4j keeps
its methods, which keep it). It stays in the JVM until Python looks for such cycles, which by itself
it does rarely: the events of 50 batches filled the heap.
"""

import gc


def freeze_objects() -> None:
    """Exclude what exists now from each later search: it stays, and is most of all objects."""
    gc.collect()
    gc.freeze()


def free() -> None:
    """Free all that is no longer used, in milliseconds after `settle`."""
    gc.collect()

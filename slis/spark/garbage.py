"""Pause of Python's search for cycles, while very many objects without one are made.

The search begins by how many objects there are: it looked through the facts of a batch again and
again, for a sixth of the CPU time that it takes to read and extract them.
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

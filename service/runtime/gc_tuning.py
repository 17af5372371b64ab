"""Garbage collection of the service: answers are large and brief, and so are arrays of edges."""

import ctypes
import gc
from typing import Final

_M_MMAP_THRESHOLD: Final = -3  # malloc.h
_LARGE_BYTES: Final = 1 << 20


def freeze_startup() -> None:
    """Exclude startup objects from garbage collection; call this before the first answer."""
    # What is there by now stays: a collection that goes through it in the middle of a large answer
    # would double the time of that answer.
    gc.collect()
    gc.freeze()
    # Nor is it gone through for each 700 objects of an answer: it has 20,000, none of them garbage.
    gc.set_threshold(20_000)
    give_back()


def give_back() -> None:
    """Have the C library return what is large as soon as it is free.

    glibc keeps it for the next: a third of what a service held beside a million edges. Other
    libraries have no such setting.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, _LARGE_BYTES)

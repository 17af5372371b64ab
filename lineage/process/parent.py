"""Ends this process with the one that started it."""

import ctypes
import signal
import sys

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)


def end_with_parent(death_signal: signal.Signals) -> None:
    """Have the kernel send this process a signal when its parent dies (Linux; elsewhere nothing).

    A parent that is dead already is not noticed: compare `os.getppid()` afterwards.
    """
    if sys.platform == "linux":
        _libc.prctl(_PR_SET_PDEATHSIG, death_signal)

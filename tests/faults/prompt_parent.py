"""Collector whose parent ends a worker after 15 s without an answer, from its start on."""

import sys

from collector import parent
from collector.__main__ import main

if __name__ == "__main__":
    parent._MISSES = parent._START_MISSES = 3  # noqa: SLF001 - a test waits less
    sys.exit(main())

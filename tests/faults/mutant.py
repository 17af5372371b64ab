"""Collector with another worker: `mutant.py WORKER_SCRIPT`."""

import sys

from collector import parent
from collector.__main__ import main

if __name__ == "__main__":
    parent.WORKER = (sys.argv[1],)
    sys.exit(main())

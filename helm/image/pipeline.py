"""Main file of the pipeline for spark-submit: `spark-submit pipeline.py`.

Master, memory, JVM options and partitions are those of spark-submit; all else comes from the
environment, as for every role.
"""

import sys

from slis.__main__ import main

if __name__ == "__main__":
    sys.exit(main())

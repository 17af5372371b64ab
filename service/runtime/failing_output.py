"""Target of a failed write: the terminal, a file, or one of our disks."""

import sys
import tempfile
from pathlib import Path
from typing import Final

from lineage.process.disk import disk_problem

OUTPUT: Final = "standard output"


def failed_file(error: OSError, data_dir: Path) -> str | None:
    """Return the file or output that could not be written; None if unknown.

    Python names the file where opening it fails, and not where writing to it does.
    """
    if error.filename is not None:
        return str(error.filename)
    problem = disk_problem(data_dir, Path(tempfile.gettempdir()))
    return problem or (None if _takes_output() else OUTPUT)


def _takes_output() -> bool:
    """Return whether an empty line can be written to standard output."""
    try:
        sys.stdout.write("\n")
        sys.stdout.flush()
    except OSError:
        return False
    return True

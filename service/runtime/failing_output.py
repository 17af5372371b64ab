"""Paths that cannot be read or written: the terminal, a file, or one of our disks."""

import os
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


def describe_path_error(error: OSError, data_dir: Path) -> str:
    """Return the line for people about an error that names a path."""
    path, folder = Path(os.fsdecode(error.filename)).absolute(), data_dir.absolute()
    # Of a new data folder, the error names the folder above, in which it cannot be created.
    is_data = path == folder or folder in path.parents or path in folder.parents
    if isinstance(error, PermissionError) and is_data:
        return (
            f"{folder}: permission denied: run this as the user that runs Lineward, or name another"
            " folder with --data-dir (docs/one-machine.md#4-test-it)"
        )
    return f"{os.fsdecode(error.filename)}: {error.strerror}"


def _takes_output() -> bool:
    """Return whether an empty line can be written to standard output."""
    try:
        sys.stdout.write("\n")
        sys.stdout.flush()
    except OSError:
        return False
    return True

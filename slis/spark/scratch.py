"""Folder of temporary files: leftovers of a killed role are deleted at its next start."""

import shutil
import tempfile
from pathlib import Path


def sweep(folder: Path) -> Path:
    """Empty the folder, and have Python's own temporary files be made in it.

    Args:
        folder: of this role alone; made where it is not there.

    Returns:
        The folder, as an absolute path.
    """
    shutil.rmtree(folder, ignore_errors=True)  # what cannot be deleted costs room only
    folder.mkdir(parents=True, exist_ok=True)
    tempfile.tempdir = str(folder.absolute())
    return folder.absolute()

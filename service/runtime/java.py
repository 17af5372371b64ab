"""Looks for the Java that Spark needs, before anything starts that would wait for it in vain."""

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Final

from service.errors import RejectedInputError

LEAST: Final = 17
_VERSION = re.compile(r'version "(\d+)(?:\.(\d+))?')
_SECONDS = 60.0
_ADVICE = f"install Java {LEAST} or newer, or set JAVA_HOME to it: Spark needs it"


def require_java() -> None:
    """See that the Java that Spark would start is there and new enough.

    Raises:
        RejectedInputError: it is not.
    """
    java = _java()
    version = _version(java)
    if version is not None and version < LEAST:
        raise RejectedInputError(f"{java} is Java {version}: {_ADVICE}")


def _java() -> str:
    """Find Java as Spark's own scripts do."""
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java", path=str(Path(home) / "bin") if home else None)
    if found is None:
        where = f"in JAVA_HOME ({home})" if home else "on PATH"
        raise RejectedInputError(f"Java was not found {where}: {_ADVICE}")
    return found


def _version(java: str) -> int | None:
    """Return the version of this Java; None if its output is not the usual one."""
    try:
        text = subprocess.run(  # noqa: S603 - the Java that Spark starts as well
            [java, "-version"], capture_output=True, text=True, timeout=_SECONDS, check=False
        ).stderr
    except subprocess.TimeoutExpired:
        return None
    except OSError as error:
        raise RejectedInputError(f"{java} does not start ({error.strerror}): {_ADVICE}") from error
    found = _VERSION.search(text)
    if found is None:
        return None
    return int(found[2] or 1) if found[1] == "1" else int(found[1])

"""Line of an error text that says what happened: one pattern for Python and for Spark."""

import re
from typing import Final

# PySpark puts a traceback of Python behind its first line; the exception is named below it.
TRACEBACK: Final = "Traceback (most recent call last):"
RAISED: Final = r"\n((?:[A-Za-z_][\w]*\.)*[A-Za-z_]\w*(?:Error|Exception|Exit|Interrupt)\b[^\r\n]*)"
ERROR_CHARACTERS: Final = 300  # shown of the line
FIRST: Final = r"\S[^\r\n]*"


def error_line(text: str | None) -> str:
    """Return the line of the exception for a traceback, else the first line; empty for no text."""
    first = re.search(FIRST, text or "")
    line = first[0].rstrip() if first else ""
    raised = re.search(RAISED, text or "", re.ASCII) if line.endswith(TRACEBACK) else None
    return raised[1].rstrip() if raised else line

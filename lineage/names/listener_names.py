"""Names as OpenLineage's Spark listener writes them."""

import re
from typing import Final

_WORDS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+|[0-9]+")


def job_of(application: str) -> str:
    """Return the job of an application by its name: `Daily Orders` is `daily_orders`."""
    return "_".join(word.lower() for word in _WORDS.findall(application))

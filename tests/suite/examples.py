"""Number of hypothesis examples: fewer in `make test`, all of them in `make nightly`."""

import os
from typing import Final

_MOST: Final = 50


def examples(nightly: int) -> int:
    """Return this number in `make nightly`, and at most 50 otherwise."""
    return nightly if is_long() else min(nightly, _MOST)


def is_long() -> bool:
    """Return whether tests run in their long form."""
    return os.environ.get("LINEWARD_EXAMPLES") == "all"

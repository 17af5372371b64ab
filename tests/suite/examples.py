"""How many examples hypothesis tries: fewer in `make test`, all of them in `make nightly`."""

import os
from typing import Final

_MOST: Final = 50


def examples(nightly: int) -> int:
    """Return this number in `make nightly`, and at most 50 otherwise."""
    return nightly if os.environ.get("LINEWARD_EXAMPLES") == "all" else min(nightly, _MOST)

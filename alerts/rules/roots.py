"""Labels of faults of Lineward itself, by which one cause is one message."""

from typing import Final

OUTAGE: Final = {"area": "service", "root": "ingestion"}  # no lineage comes in
OUTSIDE: Final = {"reach": "outside"}  # told by somebody other than the service


def of_root(root: str) -> dict[str, str]:
    """Labels: what one cause makes true is one message."""
    return {"area": "service", "root": root}

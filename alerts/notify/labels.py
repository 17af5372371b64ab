"""What the label `root_kind` of `lineage_incident_open` says, by which outages mute the rest."""

from alerts.incidents.faults import Root
from lineage.states import UNAUTHORIZED_ACCESS


def root_kind(root: Root) -> str:
    """Of a fault of Lineward its part (`collector`, `marquez` …); else the kind of the fault."""
    if root.entity != "service":
        return root.kind
    return UNAUTHORIZED_ACCESS.name if root.kind == "access" else root.name

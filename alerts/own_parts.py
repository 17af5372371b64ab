"""Parts of Lineward: roots of the incidents about Lineward itself.

The label `root_kind` of such an incident is the name of the part.
"""

from typing import Final

from lineage.states import UNAUTHORIZED_ACCESS

COLLECTOR_ROOT, PIPELINE_ROOT, EVENTS_ROOT = "collector", "pipeline", "events"
# While an incident of one of these is open, no lineage comes in.
OUTAGE_PARTS: Final = (COLLECTOR_ROOT, PIPELINE_ROOT, "service")
ROLES: Final = (*OUTAGE_PARTS, "shipper", "marquez", "kafka", "kubernetes")
OWN_ROOTS: Final = (*ROLES, EVENTS_ROOT, UNAUTHORIZED_ACCESS.name)

"""Resources that the kubernetes role watches, named as Kubernetes names them."""

from typing import Final

APPLICATIONS: Final = "sparkapplications.sparkoperator.k8s.io"
PODS: Final = "pods"
BY_EVENTS: Final = 2  # `spark_application.has_listener`: one that the settings do not show
# A pause of the watch up to this long hides nothing: the operator deletes no application at once.
LONGEST_PAUSE_MICROS: Final = 300_000_000

"""Resources that the kubernetes role watches, named as Kubernetes names them."""

from typing import Final

APPLICATIONS: Final = "sparkapplications.sparkoperator.k8s.io"
PODS: Final = "pods"
# A pause of the watch up to this long hides nothing: the operator deletes no application at once.
LONGEST_PAUSE_MICROS: Final = 300_000_000

"""Names of the resources that the kubernetes role watches, as Kubernetes writes them."""

from typing import Final

APPLICATIONS: Final = "sparkapplications.sparkoperator.k8s.io"
PODS: Final = "pods"

"""Custom resources that the chart and the watch use, as an API server takes them."""

import json

from tests.helm.charts import Manifest
from tests.helm.crds import FOLDER

KINDS = (
    *("AlertmanagerConfig", "PodMonitor", "PrometheusRule", "ServiceMonitor"),
    *("HTTPRoute", "SparkApplication"),
)


def define(kind: str) -> Manifest:
    """Return the CustomResourceDefinition of a kind: its real schema, in the version here."""
    (path,) = FOLDER.glob(f"{kind.lower()}-*.json")
    _, group, version = path.stem.split("-")
    plural = f"{kind.lower()}s"
    served = {
        "name": version,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": json.loads(path.read_text())},
        "subresources": {"status": {}},
    }
    names = {"kind": kind, "plural": plural}
    # Groups below k8s.io are for approved definitions, unless they say that they are not.
    notes = {"api-approved.kubernetes.io": "unapproved, the schema of an approved one"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}", "annotations": notes},
        "spec": {"group": group, "names": names, "scope": "Namespaced", "versions": [served]},
    }

"""Names of Services with their addresses, in place of DNS."""

from collections.abc import Iterator

from tests.cluster.api import Api
from tests.helm.charts import Manifest


def list_names(api: Api, namespace: str) -> str:
    """Return the lines of a hosts file for the pods of a namespace.

    A Service has its virtual address. One without has the addresses of its pods that are ready.
    """
    slices = api.get("/apis/discovery.k8s.io/v1/endpointslices")["items"]
    services = api.get("/api/v1/services")["items"]
    lines = [line for one in services for line in _lines(one, slices, namespace)]
    return "".join(f"{line}\n" for line in ("127.0.0.1 localhost", *lines))


def _lines(service: Manifest, slices: list[Manifest], namespace: str) -> Iterator[str]:
    name, where = service["metadata"]["name"], service["metadata"]["namespace"]
    names = [f"{name}.{where}.svc", f"{name}.{where}", *([name] if where == namespace else [])]
    if service["spec"]["clusterIP"] != "None":
        yield " ".join((service["spec"]["clusterIP"], *names))
        return
    for one in _ready_endpoints(name, where, slices):
        own = [f"{one['hostname']}.{each}" for each in names] if "hostname" in one else []
        yield " ".join((one["addresses"][0], *names, *own))


def _ready_endpoints(name: str, namespace: str, slices: list[Manifest]) -> Iterator[Manifest]:
    for one in slices:
        labels = one["metadata"].get("labels", {})
        is_its = labels.get("kubernetes.io/service-name") == name
        if is_its and one["metadata"]["namespace"] == namespace:
            found = one["endpoints"] or ()
            yield from (each for each in found if each["conditions"].get("ready", True))

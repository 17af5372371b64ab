"""SparkApplications of jobs in the namespace `jobs`, with states as the operator writes them."""

from tests.cluster.api import Api, RejectedError
from tests.fakes.kubernetes import application
from tests.helm.charts import Manifest

PATH = "/apis/sparkoperator.k8s.io/v1beta2/namespaces/jobs/sparkapplications"


def create_job(api: Api, name: str, state: str) -> Manifest:
    """Create an application in a state; return it as it was created."""
    made = application(name)
    created = {part: made[part] for part in ("apiVersion", "kind", "spec")}
    created["metadata"] = {"name": name, "namespace": made["metadata"]["namespace"]}
    api.create(created)
    set_state(api, name, state)
    return created


def set_state(api: Api, name: str, state: str) -> None:
    """Write the state of an application."""
    status = {"applicationState": {"state": state}, "driverInfo": {}}
    api.ask("PATCH", f"{PATH}/{name}/status", {"status": status})


def are_served(api: Api) -> bool:
    """Return whether the API server answers for applications: it starts before it does."""
    try:
        list_jobs(api)
    except RejectedError:
        return False
    return True


def list_jobs(api: Api) -> set[str]:
    """Return the names of all applications."""
    return {one["metadata"]["name"] for one in api.get(PATH)["items"]}

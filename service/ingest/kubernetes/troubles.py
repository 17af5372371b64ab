"""Words for what the API server answers in place of objects: what to change, and where."""

import json
from http import HTTPStatus
from typing import Final

import msgspec
from kubernetes.client.exceptions import ApiException
from urllib3.exceptions import HTTPError

from lineage.process.health import one_line

_VERBS: Final = "get, list and watch"


class Resource(msgspec.Struct, frozen=True):
    """Objects that are followed: `sparkapplications.sparkoperator.k8s.io` in a namespace."""

    name: str
    namespace: str

    def __str__(self) -> str:
        return f"{self.name} in namespace {self.namespace}"


def describe(resource: Resource, error: BaseException | None) -> str:
    """Return one sentence on why a resource cannot be followed."""
    if isinstance(error, ApiException) and error.status:
        return one_line(_of_status(resource, error))
    name = type(error).__name__
    if isinstance(error, (HTTPError, ApiException)):
        return one_line(f"Kubernetes does not answer for {resource}: {name}")
    return one_line(f"{resource} cannot be followed: {name}: {str(error)[:200]}")


def _of_status(resource: Resource, error: ApiException) -> str:
    message = _message(error)
    if error.status == HTTPStatus.FORBIDDEN:
        return (
            f"Kubernetes forbids the ServiceAccount of Lineward to read {resource}: give its Role"
            f" the verbs {_VERBS} of {resource.name} there ({message})"
        )
    if error.status == HTTPStatus.NOT_FOUND:
        return f"Kubernetes has no {resource.name}: install the Spark operator's definitions"
    if error.status == HTTPStatus.UNAUTHORIZED:
        return "Kubernetes does not accept the token: renew LINEWARD_KUBERNETES_TOKEN_FILE"
    return f"Kubernetes answers {error.status} for {resource}: {message}"


def _message(error: ApiException) -> str:
    try:
        status = json.loads(error.body or "")
    except ValueError:
        return str(error.reason)
    return str(status.get("message", "")) if isinstance(status, dict) else str(error.reason)

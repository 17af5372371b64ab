"""Connection to the API server that the settings name: the client, and what its errors mean."""

import json
from collections.abc import Mapping
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final, Protocol

import msgspec
from kubernetes import client
from kubernetes.client.exceptions import ApiException
from urllib3.exceptions import HTTPError

from lineage.process.health import one_line
from runbooks.actions.kubernetes import GROUP_VERSION
from runbooks.actions.kubernetes_settings import KubernetesSettings
from service.ingest.kubernetes.manifests import SELECTOR

_GROUP, _, _VERSION = GROUP_VERSION.partition("/")

_VERBS: Final = "get, list and watch"


class Listing(Protocol):
    """List call of the client: with `watch`, the same call streams changes."""

    def __call__(self, **options: object) -> Any:  # noqa: ANN401 - a response of the client
        """Ask the API server."""


def open_client(settings: KubernetesSettings) -> client.ApiClient:
    """Return a client; it reads the token for each request, since a pod's is renewed."""
    configuration = client.Configuration(host=settings.url)
    configuration.ssl_ca_cert = None if settings.ca_file is None else str(settings.ca_file)
    configuration.retries = False  # the watch has its own, with pauses
    configuration.proxy = None  # of the environment: the API server is never behind it
    if settings.token_file is not None:
        # The client asks the hook only where there is a key already.
        configuration.api_key["authorization"] = ""
        configuration.refresh_api_key_hook = partial(_read_token, settings.token_file)
    return client.ApiClient(configuration)


def _read_token(file: Path, configuration: client.Configuration) -> None:
    token = file.read_text(encoding="ascii").strip()
    configuration.api_key["authorization"] = f"Bearer {token}"


def application_list_call(api: client.ApiClient, namespace: str) -> Listing:
    """Return the list call of the SparkApplications in a namespace."""
    call = client.CustomObjectsApi(api).list_namespaced_custom_object

    def list_them(**options: object) -> Any:  # noqa: ANN401 - see Listing
        return call(_GROUP, _VERSION, namespace, "sparkapplications", **options)

    return list_them


def pod_list_call(api: client.ApiClient, namespace: str) -> Listing:
    """Return the list call of Spark's pods in a namespace."""
    call = client.CoreV1Api(api).list_namespaced_pod

    def list_them(**options: object) -> Any:  # noqa: ANN401 - see Listing
        return call(namespace, label_selector=SELECTOR, **options)

    return list_them


def read_page(response: Any) -> Mapping[str, Any]:  # noqa: ANN401 - a response of the client
    """Return the list in a response as it is: the client's models of 10,000 pods take seconds."""
    found: Mapping[str, Any] = json.loads(response.data)
    return found


class Resource(msgspec.Struct, frozen=True):
    """Objects that are followed: `sparkapplications.sparkoperator.k8s.io` in a namespace."""

    name: str
    namespace: str

    def __str__(self) -> str:
        return f"{self.name} in namespace {self.namespace}"


def describe_error(resource: Resource, error: BaseException | None) -> str:
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

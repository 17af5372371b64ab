"""Opens the official client on the API server that the settings name."""

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from kubernetes import client

from runbooks.actions.kubernetes import GROUP_VERSION
from runbooks.actions.kubernetes_settings import KubernetesSettings
from service.ingest.kubernetes.pods import SELECTOR

_GROUP, _, _VERSION = GROUP_VERSION.partition("/")


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


def list_applications(api: client.ApiClient, namespace: str) -> Listing:
    """Return the list call of the SparkApplications in a namespace."""
    call = client.CustomObjectsApi(api).list_namespaced_custom_object

    def list_them(**options: object) -> Any:  # noqa: ANN401 - see Listing
        return call(_GROUP, _VERSION, namespace, "sparkapplications", **options)

    return list_them


def list_pods(api: client.ApiClient, namespace: str) -> Listing:
    """Return the list call of Spark's pods in a namespace."""
    call = client.CoreV1Api(api).list_namespaced_pod

    def list_them(**options: object) -> Any:  # noqa: ANN401 - see Listing
        return call(namespace, label_selector=SELECTOR, **options)

    return list_them


def read_page(response: Any) -> Mapping[str, Any]:  # noqa: ANN401 - a response of the client
    """Return the list in a response as it is: the client's models of 10,000 pods take seconds."""
    found: Mapping[str, Any] = json.loads(response.data)
    return found

"""Requests to the API server as one user, with the warnings and errors that it answers."""

import re
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx

from tests.helm.charts import Manifest

_MERGE = {"Content-Type": "application/merge-patch+json"}
# Made by controllers in each namespace, or for a time only.
_OWN = {"ConfigMap/kube-root-ca.crt", "ServiceAccount/default"}
_PASSING = {"Event", "Lease"}


class RejectedError(Exception):
    """Answer of the API server to a request that it rejects.

    Attributes:
        status: of HTTP.
    """

    def __init__(self, answer: httpx.Response) -> None:
        is_status = answer.headers["content-type"].startswith("application/json")
        super().__init__(answer.json()["message"] if is_status else answer.text)
        self.status = answer.status_code


class Kind(NamedTuple):
    """Kind of objects, as the API server lists it."""

    path: str
    plural: str
    is_namespaced: bool
    can_be_listed: bool


class Api:
    """API server as one user sees it."""

    def __init__(self, url: str, ca: Path, token: str) -> None:
        self.url, self.ca = url, ca
        self._http = httpx.Client(
            base_url=url,
            verify=ssl.create_default_context(cafile=ca),
            headers={"Authorization": f"Bearer {token}"},
            timeout=60,
            trust_env=False,
        )
        self._kinds: dict[tuple[str, str], Kind] = {}

    def close(self) -> None:
        """Close its connections."""
        self._http.close()

    def ask(self, method: str, path: str, body: object = None, **params: str) -> httpx.Response:
        """Return the answer to a request.

        Raises:
            RejectedError: validation, admission, RBAC or a budget rejects the request.
        """
        headers = _MERGE if method == "PATCH" else {}
        answer = self._http.request(method, path, json=body, params=params, headers=headers)
        if not answer.is_success:
            raise RejectedError(answer)
        return answer

    def get(self, path: str, **params: str) -> Manifest:
        """Return an object, or a list of some."""
        found: Manifest = self.ask("GET", path, **params).json()
        return found

    def create(self, manifest: Manifest, **params: str) -> list[str]:
        """Create an object strictly: an unknown field is an error. Return the warnings."""
        path = self.path_of(manifest).rpartition("/")[0]
        answer = self.ask("POST", path, manifest, fieldValidation="Strict", **params)
        return re.findall(r'299 \S+ "(.*?)"(?:, |$)', answer.headers.get("warning", ""))

    def delete(self, manifest: Manifest) -> None:
        """Delete an object, and what it owns in the background."""
        self.ask("DELETE", self.path_of(manifest))

    def path_of(self, manifest: Manifest) -> str:
        """Return the path of an object."""
        wanted, metadata = (manifest["apiVersion"], manifest["kind"]), manifest["metadata"]
        if wanted not in self._kinds:
            self._kinds = dict(self._list_kinds())
        kind = self._kinds[wanted]
        where = f"/namespaces/{metadata['namespace']}" if kind.is_namespaced else ""
        return f"{kind.path}{where}/{kind.plural}/{metadata['name']}"

    def known_kinds(self) -> set[str]:
        """Return the kinds that the API server has."""
        return {kind for (_, kind), _ in self._list_kinds()}

    def pods(self, namespace: str, **labels: str) -> list[Manifest]:
        """Return the pods with these labels that are not being deleted, sorted by name."""
        selector = ",".join(f"app.kubernetes.io/{name}={value}" for name, value in labels.items())
        found = self.get(f"/api/v1/namespaces/{namespace}/pods", labelSelector=selector)["items"]
        living = [one for one in found if "deletionTimestamp" not in one["metadata"]]
        return sorted(living, key=lambda one: str(one["metadata"]["name"]))

    def names(self, namespace: str) -> set[str]:
        """Return kind and name of each object in a namespace."""
        kinds = {name: one for (_, name), one in self._list_kinds() if one.is_namespaced}
        found = {
            f"{name}/{one['metadata']['name']}"
            for name, kind in kinds.items()
            if kind.can_be_listed and name not in _PASSING
            for one in self.get(f"{kind.path}/namespaces/{namespace}/{kind.plural}")["items"]
        }
        return found - _OWN

    def issue_token(self, namespace: str, account: str) -> str:
        """Return a token of a ServiceAccount, as a kubelet asks for one."""
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token"
        return str(self.ask("POST", path, body).json()["status"]["token"])

    def as_account(self, namespace: str, account: str) -> "Api":
        """Return the API server as a ServiceAccount sees it."""
        return Api(self.url, self.ca, self.issue_token(namespace, account))

    def may(self, user: str, verb: str, resource: str, namespace: str, name: str = "") -> bool:
        """Return whether RBAC allows a ServiceAccount (`NAMESPACE:NAME`) a verb.

        `resource` is `pods`, `pods/log` or `sparkapplications.sparkoperator.k8s.io`.
        """
        plural, _, group = resource.partition(".")
        plural, _, subresource = plural.partition("/")
        asked = {"verb": verb, "resource": plural, "group": group, "namespace": namespace}
        spec = {
            "user": f"system:serviceaccount:{user}",
            "resourceAttributes": {**asked, "subresource": subresource, "name": name},
        }
        api = "authorization.k8s.io/v1"
        body = {"apiVersion": api, "kind": "SubjectAccessReview", "spec": spec}
        answer = self.ask("POST", f"/apis/{api}/subjectaccessreviews", body)
        return bool(answer.json()["status"]["allowed"])

    def _list_kinds(self) -> Iterator[tuple[tuple[str, str], Kind]]:
        groups = self.get("/apis")["groups"]
        versions = ["v1", *(one["groupVersion"] for each in groups for one in each["versions"])]
        for version in versions:
            path = f"/apis/{version}" if "/" in version else f"/api/{version}"
            for one in self.get(path)["resources"]:
                if "/" not in one["name"]:
                    yield (version, one["kind"]), _kind_of(path, one)


def _kind_of(path: str, found: dict[str, Any]) -> Kind:
    return Kind(path, found["name"], found["namespaced"], "list" in found["verbs"])

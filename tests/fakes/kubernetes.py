"""Kubernetes API for SparkApplications, as documented, over HTTPS.

Bearer tokens, roles, names and namespaces, dry run on the server, strict validation of fields.
"""

import json
import re
from typing import Any
from urllib.parse import parse_qs

import trustme

from tests.fakes.http_server import Answer, FakeTlsServer, Request

_PATH = re.compile(
    r"/apis/sparkoperator\.k8s\.io/v1beta2/namespaces/(?P<namespace>[^/]+)/sparkapplications"
    r"(?:/(?P<name>[^/]+))?"
)
_WORKLOAD = re.compile(
    r"/apis/apps/v1/namespaces/(?P<namespace>[^/]+)/(?P<plural>statefulsets|deployments)"
    r"(?:/(?P<name>[^/]+))?"
)
_REQUIRED = ("driver", "executor", "mainApplicationFile", "sparkVersion", "type")
_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")
_LABEL = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")


def application(name: str, state: str | None = "FAILED", **metadata: object) -> dict[str, Any]:
    """Return a SparkApplication as the API server has it."""
    return {
        "apiVersion": "sparkoperator.k8s.io/v1beta2",
        "kind": "SparkApplication",
        "metadata": {
            "name": name,
            "namespace": "jobs",
            "uid": "8b1c4a5e-0000-4000-8000-000000000001",
            "resourceVersion": "41",
            "creationTimestamp": "2026-11-21T02:00:00Z",
            **metadata,
        },
        "spec": {
            "type": "Python",
            "mode": "cluster",
            "mainApplicationFile": "local:///opt/jobs/orders.py",
            "sparkVersion": "4.0.1",
            "driver": {"cores": 1, "podName": "orders-driver"},
            "executor": {"instances": 2},
            "restartPolicy": {"type": "Never"},
        },
        "status": {"applicationState": {"state": state}} if state else {},
    }


class FakeKubernetes(FakeTlsServer):
    """API server.

    Attributes:
        stored: by (namespace, name).
        token: the valid one.
        verbs: that the token's role has.
        workloads: StatefulSets and Deployments by (plural, namespace, name).
    """

    def __init__(self, authority: trustme.CA) -> None:
        super().__init__(authority)
        self.stored: dict[tuple[str, str], dict[str, Any]] = {}
        self.token = "t0ken-of-the-service-account"  # noqa: S105 - of a fake
        self.verbs = {"get", "list", "create"}
        self.workloads: dict[tuple[str, str, str], dict[str, Any]] = {}

    def store(self, *applications: dict[str, Any]) -> None:
        """Store these objects."""
        for one in applications:
            self.stored[one["metadata"]["namespace"], one["metadata"]["name"]] = one

    def answer(self, request: Request) -> Answer:
        """Answer 401 before 403 before 404, as the API server does."""
        if request.headers.get("authorization") != f"Bearer {self.token}":
            return status_answer(401, "Unauthorized", "Unauthorized")
        if (of_workload := _WORKLOAD.fullmatch(request.path)) and "list" in self.verbs:
            return self._answer_workload(request, **of_workload.groupdict())
        found = _PATH.fullmatch(request.path)
        if found is None:
            return status_answer(
                404, "NotFound", "the server could not find the requested resource"
            )
        asked = {name: values[0] for name, values in parse_qs(request.query).items()}
        verb = "create" if request.body else "get" if found["name"] else "list"
        if verb not in self.verbs:
            message = f"sparkapplications.sparkoperator.k8s.io is forbidden: cannot {verb} resource"
            return status_answer(403, "Forbidden", message)
        return self._answer_application(request, verb, asked, **found.groupdict())

    def _answer_application(
        self, request: Request, verb: str, asked: dict[str, str], namespace: str, name: str | None
    ) -> Answer:
        one = self.stored.get((namespace, str(name)))
        if request.method == "PATCH":
            return self._patch(one, request)
        if verb == "create":
            return self._create(namespace, json.loads(request.body), asked)
        if verb == "list":
            return self._list(namespace, asked.get("labelSelector", ""))
        name = f'sparkapplications.sparkoperator.k8s.io "{name}"'
        return Answer(200, one) if one else status_answer(404, "NotFound", f"{name} not found")

    def _answer_workload(
        self, request: Request, plural: str, namespace: str, name: str | None
    ) -> Answer:
        if request.method == "PATCH":
            return self._patch(self.workloads.get((plural, namespace, str(name))), request)
        selector = parse_qs(request.query)["labelSelector"][0]
        wanted = {tuple(part.split("=")) for part in selector.split(",")}
        items = [
            one
            for key, one in self.workloads.items()
            if key[:2] == (plural, namespace) and wanted <= one["metadata"]["labels"].items()
        ]
        return Answer(200, {"items": items})

    @staticmethod
    def _patch(stored: dict[str, Any] | None, request: Request) -> Answer:
        if request.headers["content-type"] != "application/merge-patch+json":
            return status_answer(415, "UnsupportedMediaType", "the body of the request was unknown")
        if stored is None:
            return status_answer(404, "NotFound", "not found")
        if "dryRun=All" not in request.query:
            _merge(stored, json.loads(request.body))
        return Answer(200, stored)

    def _list(self, namespace: str, selector: str) -> Answer:
        name, _, value = selector.partition("=")
        items = [
            one
            for (of, _), one in self.stored.items()
            if of == namespace and (one["metadata"].get("labels") or {}).get(name) == value
        ]
        return Answer(200, {"kind": "SparkApplicationList", "items": items})

    def _create(self, namespace: str, body: dict[str, Any], asked: dict[str, str]) -> Answer:
        metadata, spec = body["metadata"], body["spec"]
        name = metadata["name"]
        wrong = [f"spec.{field}: Required value" for field in _REQUIRED if field not in spec]
        wrong += [] if _NAME.fullmatch(name) else [f"metadata.name: Invalid value: {name!r}"]
        labels = (metadata.get("labels") or {}).values()
        wrong += [f"metadata.labels: {one!r}" for one in labels if not _LABEL.fullmatch(one)]
        if wrong:
            message = f'SparkApplication.sparkoperator.k8s.io "{name}" is invalid: {wrong[0]}'
            return status_answer(422, "Invalid", message)
        if (namespace, name) in self.stored:
            message = f'sparkapplications.sparkoperator.k8s.io "{name}" already exists'
            return status_answer(409, "AlreadyExists", message)
        if asked.get("dryRun") != "All":
            self.stored[namespace, name] = body
        return Answer(201, body)


def _merge(stored: dict[str, Any], change: dict[str, Any]) -> None:
    """Merge a change of objects in objects, by RFC 7386."""
    for name, value in change.items():
        if isinstance(value, dict):
            _merge(stored.setdefault(name, {}), value)
        else:
            stored[name] = value


def status_answer(code: int, reason: str, message: str) -> Answer:
    """Return a failure as the API server words it."""
    body = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code}
    return Answer(code, {**body, "reason": reason, "message": message})

"""SparkApplications of the Kubernetes API: read, listed, created; nothing is changed or deleted."""

import ssl
from typing import Any, Final
from urllib.parse import quote

import httpx

from runbooks.actions.errors import (
    FailedActionError,
    InvalidActionError,
    RefusedActionError,
)
from runbooks.actions.kubernetes_settings import KubernetesSettings

GROUP_VERSION: Final = "sparkoperator.k8s.io/v1beta2"
_MOST_ERROR: Final = 300
_WORDS: Final = {
    401: "it does not know our token: renew LINEWARD_KUBERNETES_TOKEN_FILE",
    403: "our token may not: its role needs get, list and create of sparkapplications",
    422: "it is not valid",
}


class Kubernetes:
    """One API server."""

    def __init__(self, settings: KubernetesSettings) -> None:
        self._settings = settings

    def application(self, namespace: str, name: str) -> dict[str, Any]:
        """A SparkApplication.

        Raises:
            InvalidActionError: there is none, or the operator's definitions are not installed.
            FailedActionError: it does not answer, or not to us.
        """
        return self._asked("GET", f"{_path(namespace)}/{quote(name, safe='')}", params={})

    def applications(self, namespace: str, selector: str) -> list[dict[str, Any]]:
        """Those with these labels.

        Raises:
            FailedActionError: as above.
        """
        found = self._asked("GET", _path(namespace), params={"labelSelector": selector})
        return list(found.get("items") or [])

    def create(self, namespace: str, body: dict[str, Any], *, is_dry: bool) -> dict[str, Any]:
        """Create one; dry, the API server says whether it would, and stores nothing.

        Raises:
            RefusedActionError: one of that name is there.
            FailedActionError: it may not be, or is not valid.
        """
        params = {"fieldValidation": "Strict", **({"dryRun": "All"} if is_dry else {})}
        return self._asked("POST", _path(namespace), params=params, body=body)

    def _asked(
        self, method: str, path: str, *, params: dict[str, str], body: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        settings = self._settings
        try:
            with httpx.Client(
                base_url=settings.url or "",
                verify=self._trusted(),
                timeout=settings.timeout_seconds,
                trust_env=False,
                headers=self._headers(),
            ) as client:
                answer = client.request(method, path, params=params, json=body)
        except (httpx.HTTPError, OSError) as error:
            message = f"Kubernetes does not answer at {settings.url}: {type(error).__name__}"
            raise FailedActionError(message) from error
        if not answer.is_success:
            raise _refusal(answer, path)
        found = _json(answer)
        if not found:
            raise FailedActionError(f"{settings.url} answers, and not as Kubernetes does")
        return found

    def _trusted(self) -> ssl.SSLContext | bool:
        file = self._settings.ca_file
        return True if file is None else ssl.create_default_context(cafile=file)

    def _headers(self) -> dict[str, str]:
        file = self._settings.token_file
        if file is None:
            return {}
        try:
            token = file.read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError) as error:
            message = f"LINEWARD_KUBERNETES_TOKEN_FILE: {file} cannot be read"
            raise FailedActionError(message) from error
        return {"Authorization": f"Bearer {token}"}


def _path(namespace: str) -> str:
    return f"/apis/{GROUP_VERSION}/namespaces/{quote(namespace, safe='')}/sparkapplications"


def _refusal(answer: httpx.Response, path: str) -> Exception:
    """By the status; the words are those of the API server's Status."""
    said = str(_json(answer).get("message", ""))[:_MOST_ERROR]
    status = answer.status_code
    if status == httpx.codes.NOT_FOUND:
        return InvalidActionError(f"Kubernetes has no {path.rpartition('/v1beta2/')[2]}: {said}")
    if status == httpx.codes.CONFLICT:
        return RefusedActionError(f"Kubernetes: there already: {said}")
    words = _WORDS.get(status, "refused")
    return FailedActionError(f"Kubernetes answers {status}: {words}: {said}".rstrip(": "))


def _json(answer: httpx.Response) -> dict[str, Any]:
    try:
        found = answer.json()
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}

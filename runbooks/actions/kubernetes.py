"""Part of the Kubernetes API that actions need. Nothing is deleted."""

import ssl
from typing import Any, Final
from urllib.parse import quote

import httpx

from runbooks.actions.errors import (
    FailedActionError,
    InvalidActionError,
    RejectedActionError,
)
from runbooks.actions.kubernetes_settings import KubernetesSettings

GROUP_VERSION: Final = "sparkoperator.k8s.io/v1beta2"
APPLICATIONS_API: Final = f"/apis/{GROUP_VERSION}"
_MERGE: Final = {"Content-Type": "application/merge-patch+json"}
_MOST_ERROR: Final = 300
_WORDS: Final = {
    401: "the API server does not accept the token: renew LINEWARD_KUBERNETES_TOKEN_FILE",
    403: "the Role of the ServiceAccount lacks a verb (docs/runbooks.md#kubernetes)",
    422: "the object is not valid",
}


class Kubernetes:
    """Client of one API server."""

    def __init__(self, settings: KubernetesSettings) -> None:
        self._settings = settings

    @property
    def settings(self) -> KubernetesSettings:
        """Settings that it was made with."""
        return self._settings

    def application(self, namespace: str, name: str) -> dict[str, Any]:
        """Return a SparkApplication.

        Raises:
            InvalidActionError: there is none, or the operator's definitions are not installed.
            FailedActionError: it does not answer, or not to us.
        """
        return self._asked("GET", f"{_path(namespace)}/{quote(name, safe='')}", params={})

    def applications(self, namespace: str, selector: str) -> list[dict[str, Any]]:
        """Return the SparkApplications with these labels.

        Raises:
            FailedActionError: as above.
        """
        return self.list_objects(_path(namespace), selector)

    def list_objects(self, path: str, selector: str) -> list[dict[str, Any]]:
        """Return the objects of one kind with these labels.

        Raises:
            InvalidActionError: the API server does not know the kind.
            FailedActionError: as above.
        """
        found = self._asked("GET", path, params={"labelSelector": selector})
        return list(found.get("items") or [])

    def patch(self, path: str, change: dict[str, Any], *, is_dry: bool) -> None:
        """Change an object; dry, the API server says whether it would, and changes nothing.

        Raises:
            InvalidActionError: there is no such object.
            FailedActionError: as above.
        """
        self._asked("PATCH", path, params=_writing(is_dry=is_dry), body=change)

    def create(self, namespace: str, body: dict[str, Any], *, is_dry: bool) -> dict[str, Any]:
        """Create one; dry, the API server says whether it would, and stores nothing.

        Raises:
            RejectedActionError: one of that name is there.
            FailedActionError: it may not be, or is not valid.
        """
        return self._asked("POST", _path(namespace), params=_writing(is_dry=is_dry), body=body)

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
                headers={**self._headers(), **(_MERGE if method == "PATCH" else {})},
            ) as client:
                answer = client.request(method, path, params=params, json=body)
        except (httpx.HTTPError, OSError) as error:
            message = f"Kubernetes does not answer at {settings.url}: {type(error).__name__}"
            raise FailedActionError(message) from error
        if not answer.is_success:
            raise _error_of(answer, path)
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


def _writing(*, is_dry: bool) -> dict[str, str]:
    return {"fieldValidation": "Strict", **({"dryRun": "All"} if is_dry else {})}


def _path(namespace: str) -> str:
    return f"{APPLICATIONS_API}/namespaces/{quote(namespace, safe='')}/sparkapplications"


def _error_of(answer: httpx.Response, path: str) -> Exception:
    """Return the error for a status, in the words of the API server's Status."""
    message = str(_json(answer).get("message", ""))[:_MOST_ERROR]
    status = answer.status_code
    if status == httpx.codes.NOT_FOUND:
        return InvalidActionError(f"Kubernetes has no {path.rpartition('/v1beta2/')[2]}: {message}")
    if status == httpx.codes.CONFLICT:
        return RejectedActionError(f"Kubernetes: there already: {message}")
    words = _WORDS.get(status, "rejected")
    return FailedActionError(f"Kubernetes answers {status}: {words}: {message}".rstrip(": "))


def _json(answer: httpx.Response) -> dict[str, Any]:
    try:
        found = answer.json()
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}

"""Makes the volumes of a pod as folders, with the owners and modes that a kubelet gives them."""

import base64
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.cluster.api import Api
from tests.helm.charts import Manifest

_CORE = "/api/v1/namespaces"


def read_secret(api: Api, namespace: str) -> Callable[[str, str], str]:
    """Return a function that reads a key of a Secret."""

    def read(name: str, key: str) -> str:
        data = api.get(f"{_CORE}/{namespace}/secrets/{name}")["data"]
        return base64.b64decode(data[key]).decode()

    return read


class Volumes:
    """Folders of one pod's volumes, by name."""

    def __init__(self, api: Api, pod: Manifest, folder: Path) -> None:
        self._api, self._folder = api, folder
        self._metadata = pod["metadata"]
        self._namespace = pod["metadata"]["namespace"]
        self._account = pod["spec"]["serviceAccountName"]
        self._group = pod["spec"].get("securityContext", {}).get("fsGroup", 0)

    def make(self, volume: dict[str, Any]) -> Path:
        """Return the folder of a volume with the files that it has."""
        if "persistentVolumeClaim" in volume:
            claim = volume["persistentVolumeClaim"]["claimName"]
            return self._writable(self._folder.parent / f"{self._namespace}-{claim}")
        folder = self._folder / volume["name"]
        if "emptyDir" in volume:
            return self._writable(folder)
        folder.mkdir(parents=True, exist_ok=True)
        kind = next(name for name in ("configMap", "secret", "projected") if name in volume)
        mode = volume[kind].get("defaultMode", 0o644)
        sources = volume[kind]["sources"] if kind == "projected" else [{kind: volume[kind]}]
        for source in sources:
            for path, content in self._files(source):
                (folder / path).write_bytes(content)
                os.chown(folder / path, 0, self._group)
                (folder / path).chmod(mode)
        return folder

    def _writable(self, folder: Path) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        os.chown(folder, 0, self._group)
        folder.chmod(0o2777)
        return folder

    def _files(self, source: dict[str, Any]) -> Iterator[tuple[str, bytes]]:
        ((kind, given),) = source.items()
        if kind == "serviceAccountToken":
            yield given["path"], self._api.issue_token(self._namespace, self._account).encode()
            return
        if kind == "downwardAPI":
            for item in given["items"]:
                field = item["fieldRef"]["fieldPath"].removeprefix("metadata.")
                yield item["path"], str(self._metadata[field]).encode()
            return
        name = given.get("name") or given["secretName"]
        plural = "secrets" if kind == "secret" else "configmaps"
        data = self._api.get(f"{_CORE}/{self._namespace}/{plural}/{name}").get("data", {})
        paths = {item["key"]: item["path"] for item in given.get("items", [])}
        for key, value in data.items():
            if key in paths or not paths:
                content = base64.b64decode(value) if kind == "secret" else value.encode()
                yield paths.get(key, key), content

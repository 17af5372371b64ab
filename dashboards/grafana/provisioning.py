"""Dashboards as files that Grafana reads at its start, and as ConfigMaps for its sidecar."""

from typing import Final

from alerts.rules.model import as_yaml

FOLDER_UID: Final = "lineward"
FOLDER: Final = "Lineward"
PROVIDER_FILE: Final = "lineward-dashboards.yaml"
PLACE: Final = "/var/lib/grafana/dashboards/lineward"
_HEAD: Final = ("By `lineward render dashboards`: change the policy instead.",)
_SIDECAR: Final = {"grafana_dashboard": "1"}  # what the chart of Grafana looks for


def files(dashboards: dict[str, str], place: str = PLACE) -> dict[str, str]:
    """Text by file name: the dashboards, and the provider that goes into provisioning/dashboards.

    Args:
        dashboards: JSON by uid.
        place: the folder of the JSON files as Grafana sees it.
    """
    named = {f"{uid}.json": text for uid, text in dashboards.items()}
    return {**named, PROVIDER_FILE: _provider(place)}


def _provider(place: str) -> str:
    one = {
        "name": FOLDER_UID,
        "orgId": 1,
        "folder": FOLDER,
        "folderUid": FOLDER_UID,
        "type": "file",
        "disableDeletion": True,
        "allowUiUpdates": False,
        "updateIntervalSeconds": 60,
        "options": {"path": place},
    }
    return as_yaml({"apiVersion": 1, "providers": [one]}, _HEAD)


def config_maps(dashboards: dict[str, str]) -> str:
    """One for each: what `kubectl apply` remembers of an object may have 256 KiB."""
    return "---\n".join(_config_map(uid, text) for uid, text in dashboards.items())


def _config_map(uid: str, text: str) -> str:
    metadata = {
        "name": uid,
        "labels": _SIDECAR,
        "annotations": {"grafana_folder": FOLDER},
    }
    found = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
    return as_yaml({**found, "data": {f"{uid}.json": text}}, _HEAD)

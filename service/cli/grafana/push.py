"""Dashboards into a Grafana: the same ones again change nothing."""

import json
from typing import Any, Final, Literal

import msgspec

from service.cli.grafana.api import Grafana
from service.errors import RejectedInputError

_NOT_OURS: Final = ("id", "version")  # Grafana's own numbers of a dashboard
_MESSAGE: Final = "lineward dashboards push"

What = Literal["created", "updated", "unchanged"]


class Pushed(msgspec.Struct, frozen=True):
    """Result of one dashboard."""

    uid: str
    outcome: What
    url: str


def require_sources(grafana: Grafana, needed: dict[str, str]) -> bool:
    """See that there is a data source of each type; whether that could be seen.

    Args:
        grafana: which is asked.
        needed: by type, what has to be done where there is none.

    Raises:
        RejectedInputError: one is missing: panels would be empty, and look well.
    """
    there = grafana.source_types()
    if there is None:
        return False
    missing = [f"{kind}: {advice}" for kind, advice in needed.items() if kind not in there]
    if missing:
        message = f"Grafana lacks a data source of the type {'; '.join(missing)}"
        raise RejectedInputError(message)
    return True


def require_folder(grafana: Grafana, uid: str, title: str) -> None:
    """See that the folder is there; it keeps the title that people gave it."""
    if grafana.find(f"/api/folders/{uid}") is None:
        grafana.make("/api/folders", {"uid": uid, "title": title})


def push(grafana: Grafana, folder: str, text: str) -> Pushed:
    """Save one dashboard in the folder, over what was changed by hand."""
    wanted: dict[str, Any] = json.loads(text)
    uid = str(wanted["uid"])
    there = grafana.find(f"/api/dashboards/uid/{uid}")
    if there is not None and _is_same(there, wanted, folder):
        return Pushed(uid, "unchanged", f"/d/{uid}")
    asked = {"dashboard": {**wanted, "id": None}, "folderUid": folder, "overwrite": True}
    saved = grafana.save("/api/dashboards/db", {**asked, "message": _MESSAGE})
    # What could not be seen may have been there.
    outcome: What = "created" if saved.get("version") == 1 else "updated"
    return Pushed(uid, outcome, str(saved.get("url", f"/d/{uid}")))


def _is_same(there: dict[str, Any], wanted: dict[str, Any], folder: str) -> bool:
    kept = dict(there["dashboard"])
    for name in _NOT_OURS:
        kept.pop(name, None)
    return kept == wanted and there.get("meta", {}).get("folderUid") == folder

"""Grafana's HTTP API as documented, as far as dashboards use it, faults included."""

import json
from typing import Any

from tests.fakes.http_server import Answer, FakeServer, Request

_SOURCES = ("prometheus", "yesoreyeram-infinity-datasource")


class FakeGrafana(FakeServer):
    """Folders and dashboards, behind a service account's token.

    Attributes:
        token: the valid one.
        may: what the token's role allows: `sources`, `read`, `folders`, `dashboards`.
        is_open: a missing object is answered with 404; otherwise, as to an Editor, with 403.
        sources: types of the data sources that are set up.
        folders: title by uid.
        dashboards: (folder's uid, JSON) by uid.
        provisioned: uids that came from a file, and cannot be overwritten.
        saved: uids, in the order in which they were saved.
        broken: answer to every request while it is set.
    """

    def __init__(self) -> None:
        super().__init__()
        self.token = "glsa_of_nobody"  # noqa: S105 - of nobody
        self.may = {"sources", "read", "folders", "dashboards"}
        self.is_open = True
        self.sources = list(_SOURCES)
        self.folders: dict[str, str] = {}
        self.dashboards: dict[str, tuple[str, dict[str, Any]]] = {}
        self.provisioned: set[str] = set()
        self.saved: list[str] = []
        self.broken: Answer | None = None

    @property
    def url(self) -> str:
        """Return its address."""
        return f"http://{self.address}"

    def answer(self, request: Request) -> Answer:
        """Answer as documented."""
        if self.broken is not None:
            return self.broken
        if request.headers.get("authorization") != f"Bearer {self.token}":
            return Answer(401, {"message": "Invalid API key"})
        way = (request.method, *request.path.strip("/").split("/")[1:])
        body = json.loads(request.body) if request.body else {}
        match way:
            case "GET", "datasources":
                found = [{"type": kind} for kind in self.sources]
                answer = self._allowed("sources") or Answer(200, found)
            case "GET", "folders", uid:
                answer = self._allowed("read") or self._folder(uid)
            case "POST", "folders":
                answer = self._allowed("folders") or self._create_folder(body)
            case "GET", "dashboards", "uid", uid:
                answer = self._allowed("read") or self._dashboard(uid)
            case "POST", "dashboards", "db":
                answer = self._allowed("dashboards") or self._save(body)
            case _:
                answer = Answer(404, {"message": "Not found"})
        return answer

    def _allowed(self, what: str) -> Answer | None:
        if what in self.may:
            return None
        return Answer(403, {"message": f"You'll need additional permissions: {what}"})

    def _nothing(self, message: str) -> Answer:
        if self.is_open:
            return Answer(404, {"message": message})
        return Answer(403, {"message": "You'll need additional permissions to perform this action"})

    def _folder(self, uid: str) -> Answer:
        if uid not in self.folders:
            return self._nothing("folder not found")
        return Answer(200, {"uid": uid, "title": self.folders[uid], "version": 1})

    def _create_folder(self, asked: dict[str, Any]) -> Answer:
        if asked["uid"] in self.folders:
            return Answer(409, {"message": "a folder with the same uid exists"})
        self.folders[asked["uid"]] = asked["title"]
        return Answer(200, {"uid": asked["uid"], "title": asked["title"], "version": 1})

    def _dashboard(self, uid: str) -> Answer:
        if uid not in self.dashboards:
            return self._nothing("Dashboard not found")
        folder, dashboard = self.dashboards[uid]
        return Answer(200, {"dashboard": dashboard, "meta": {"folderUid": folder}})

    def _save(self, asked: dict[str, Any]) -> Answer:
        dashboard, folder = asked["dashboard"], asked["folderUid"]
        uid = dashboard["uid"]
        if folder not in self.folders:
            return Answer(400, {"message": "folder not found"})
        if uid in self.provisioned:
            return Answer(400, {"message": "Cannot save provisioned dashboard"})
        for other, (place, kept) in self.dashboards.items():
            if (place, kept["title"]) == (folder, dashboard["title"]) and other != uid:
                message = "A dashboard with the same name in the folder already exists"
                return Answer(412, {"message": message, "status": "name-exists"})
        version = 1
        if uid in self.dashboards:
            version = self.dashboards[uid][1]["version"] + 1
            if not asked["overwrite"] and dashboard.get("version") != version - 1:
                message = "The dashboard has been changed by someone else"
                return Answer(412, {"message": message, "status": "version-mismatch"})
        self.dashboards[uid] = (
            folder,
            {**dashboard, "id": len(self.saved) + 1, "version": version},
        )
        self.saved.append(uid)
        result = {"status": "success", "uid": uid, "version": version, "url": f"/d/{uid}"}
        return Answer(200, result)

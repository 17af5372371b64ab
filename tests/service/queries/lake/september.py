"""Installation that received events in September and has deleted their runs by the end of November.

The lake still has the events.
"""

import hashlib
import uuid
from collections.abc import Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy import Engine

from lineage.lake.settings import LakeSettings
from lineage.lake.storage import open_lake
from lineage.policy import DEFAULT, Policy
from service.queries.catalog_session import CatalogSession, open_session
from service.queries.lake.recalled import LakeQuestion
from service.queries.lake.runs import (
    DatasetWindow,
    LakeRunAnswer,
    LakeRuns,
    dataset_runs_in_lake,
    run_in_lake,
)
from service.queries.run_shapes import RunDetail
from service.queries.runs import runs_of_id
from service.queries.visibility import EVERYTHING, Visibility
from service.runtime.settings import Settings
from slis.lake.writer import LakeWriter
from slis.settings import PipelineSettings
from slis.stream.batch import Batches
from slis.stream.prune import prune_lake_and_catalog
from tests.slis.stream.spools import Event, Lander, run_event, symlink

THEN = datetime(2026, 9, 3, 10, tzinfo=UTC)
NOW = datetime(2026, 11, 27, 9, tzinfo=UTC)
HOT_DAYS, LAKE_DAYS = 14, 90
SECRET = "hunter2hunter2"  # noqa: S105 - to be looked for
HIDDEN = "s3://payroll"
POLICY = """\
access:
  tokens:
    - {name: boss, sha256: %s, roles: [admin]}
    - {name: team, sha256: %s, roles: [read], namespaces: ["n"]}
"""
TOKENS = {name: f"{name}-0123456789abcdef" for name in ("boss", "team")}


def run_id_at(at: datetime, number: int = 1) -> str:
    """Return a UUID of version 7 that was made then."""
    milliseconds = int(at.timestamp() * 1_000)
    return str(uuid.UUID(int=milliseconds << 80 | 7 << 76 | 0b10 << 62 | number))


LOADED, FAILED, READER, RUNNING, NIGHT, LINKED, PARTED, PAID, TWIN = (
    run_id_at(THEN, number) for number in range(1, 10)
)
ROOT, SILENT, CHILD = (run_id_at(THEN, number) for number in (50, 51, 52))
NAMED = (
    *(LOADED, FAILED, READER, RUNNING, NIGHT, LINKED, PARTED, PAID, TWIN, ROOT),
    *(SILENT, CHILD),
)


def minutes(count: float) -> datetime:
    """Return the time so many minutes later."""
    return THEN + timedelta(minutes=count)


def september_events() -> list[Event]:
    """Return the events of two days in September."""
    app = {"root": (ROOT, "app")}
    error = {"errorMessage": {"message": f"login failed: password={SECRET}"}}
    midnight = datetime(2026, 9, 4, tzinfo=UTC)
    quarter = timedelta(minutes=15)
    paid = run_event("COMPLETE", minutes(31), run=PAID, inputs=["raw"], outputs=["core"])
    paid["inputs"].append({"namespace": HIDDEN, "name": "salaries", "facets": {}})
    return [
        run_event("START", THEN, run=LOADED, job="load", inputs=["raw"], **app),
        run_event("COMPLETE", minutes(5), run=LOADED, job="load", outputs=["core"], **app),
        run_event("START", minutes(1), run=FAILED, job="fail", inputs=["raw"], outputs=["core"]),
        run_event("FAIL", minutes(2), run=FAILED, job="fail", facets=error),
        run_event("COMPLETE", minutes(9), run=READER, job="read", inputs=["core"], rows_written=3),
        # Without an end: its root run failed.
        run_event("START", minutes(3), run=RUNNING, job="hang", outputs=["core"], **app),
        run_event("START", minutes(-1), run=ROOT, job="app", job_type="APPLICATION"),
        run_event("FAIL", minutes(40), run=ROOT, job="app", job_type="APPLICATION"),
        run_event("START", midnight - quarter, run=NIGHT, job="night", inputs=["raw"]),
        run_event("COMPLETE", midnight + quarter, run=NIGHT, job="night", outputs=["core"]),
        run_event("COMPLETE", minutes(20), run=LINKED, outputs=["hive_core"]),
        run_event("COMPLETE", minutes(21), run=PARTED, outputs=["core/dt=2026-09-03"]),
        run_event("START", minutes(30), run=PAID),
        paid,
        run_event("COMPLETE", minutes(50), run=TWIN, job="one", outputs=["core"], rows_written=7),
        run_event("COMPLETE", minutes(51), run=TWIN, job="two", outputs=["other"]),
        # Its root run reports nothing itself.
        run_event("COMPLETE", minutes(52), run=CHILD, outputs=["third"], root=(SILENT, "quiet")),
    ]


def recent_events() -> list[Event]:
    """Return events of the last days that name the same datasets."""
    at = NOW - timedelta(days=1)
    event = run_event(
        *("COMPLETE", at),
        run=run_id_at(at),
        inputs=["raw"],
        outputs=[("core", symlink("hive_core")), "other", "third"],
    )
    event["inputs"].append({"namespace": HIDDEN, "name": "salaries", "facets": {}})
    return [event]


class Installation:
    """Catalog and lake, with a hand on both."""

    def __init__(
        self,
        catalog: Engine,
        folder: Path,
        lake: LakeSettings | None = None,
        policy: Policy = DEFAULT,
    ) -> None:
        self.catalog, self.policy = catalog, policy
        url = catalog.url.render_as_string(hide_password=False)
        hashes = (hashlib.sha256(TOKENS[name].encode()).hexdigest() for name in ("boss", "team"))
        (folder / "lineward.yaml").write_text(POLICY % tuple(hashes))
        self.settings = Settings(
            catalog_url=url, data_dir=folder, lake_settings=lake or LakeSettings()
        )
        self.guarded = msgspec.structs.replace(self.settings, policy=folder / "lineward.yaml")
        self._lander = Lander(catalog, folder, THEN)
        self._lander.policy = policy
        self._lake = open_lake(folder, lake)

    def land(self, events: Sequence[Event], received_at: datetime) -> None:
        """Land events as a batch each of up to 5, received at one time."""
        self._lander.now = received_at
        writer = LakeWriter(self.catalog, self._lake, lambda: received_at)
        self._lander.writer = writer
        self._lander.batches = Batches(writer, lambda: received_at, lambda: self.policy)
        for begin in range(0, len(events), 5):
            self._lander.land(*events[begin : begin + 5])

    def forget(self, *, lake_days: int = LAKE_DAYS) -> None:
        """Let retention delete what is older than the hot days, as in November."""
        settings = PipelineSettings(write_days=HOT_DAYS, event_days=7)
        prune_lake_and_catalog(self._lander.writer, settings, NOW, lake_days=lake_days)

    def ask_catalog(self) -> AbstractContextManager[CatalogSession]:
        """Begin a question to the catalog."""
        return open_session(self.settings, lambda: NOW)

    def catalog_runs(self, run_id: str, visibility: Visibility = EVERYTHING) -> list[RunDetail]:
        """Return what the catalog says of a run."""
        with open_session(self.settings, lambda: NOW, visibility) as asked:
            return runs_of_id(asked.reader, run_id, asked.visibility).runs

    def lake_run(
        self, run_id: str, *window: str, visibility: Visibility = EVERYTHING, seconds: float = 60.0
    ) -> LakeRunAnswer:
        """Return what the lake says of a run."""
        given = LakeQuestion(self.settings, self.policy, lambda: NOW, visibility, seconds)
        return run_in_lake(given, run_id, *window)

    def lake_runs(
        self,
        dataset: str,
        *window: str,
        visibility: Visibility = EVERYTHING,
        **more: Any,  # noqa: ANN401 - fields of `DatasetWindow`
    ) -> LakeRuns:
        """Return what the lake says of the runs of a dataset, on the third of September."""
        first, last = window or ("2026-09-03", "2026-09-03")
        wanted = DatasetWindow(dataset, "n", first, last, **more)
        given = LakeQuestion(self.settings, self.policy, lambda: NOW, visibility)
        return dataset_runs_in_lake(given, wanted)


def fill(installed: Installation) -> Installation:
    """Land the events of September and of the last days."""
    installed.land(september_events(), THEN + timedelta(days=1))
    installed.land(recent_events(), NOW - timedelta(days=1))
    return installed

"""Job with every kind of output, run once for all tests, and the content of its log and events."""

import json
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lab.demo.spark import command, spark_environment
from slis.evidence.scan import scan_logs
from tests.slis.stream.spools import Lander, rows

_JOB_SECONDS = 240
_SETTLED = timedelta(minutes=5)


def each_job(test: str) -> pytest.MarkDecorator:
    """Run a test on the log of the job with a listener, and nightly on that of the one without."""
    nightly = pytest.mark.nightly(short=f"{test}[sqlite-ran]")
    names = ["ran", pytest.param("ran_alone", marks=nightly)]
    return pytest.mark.parametrize("unheard", names, indirect=True)


def run_job(
    name: str, folder: Path, conf: dict[str, str], *arguments: str, master: str | None = None
) -> None:
    """Run a job of `jobs`, with its event log in `logs` of the folder."""
    (folder / "logs").mkdir()
    logged = {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": (folder / "logs").as_uri(),
        "spark.eventLog.compress": "false",
        "spark.sql.maxMetadataStringLength": "100000",
    }
    script = Path(__file__).with_name("jobs") / f"{name}.py"
    argv = command(script, str(folder), *arguments, conf={**logged, **conf}, scratch=folder)
    if master:
        argv = tuple(master if word == "local[2]" else word for word in argv)
    done = subprocess.run(
        argv,
        env=spark_environment(),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=_JOB_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2_000:]


def events_of(folder: Path) -> list[dict]:
    """Return the listener's events of the job."""
    return [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]


class Estate:
    """Catalog with rows of events and of evidence."""

    def __init__(self, spark, catalog, folder) -> None:
        self.spark, self.catalog = spark, catalog
        self.folder = folder
        self.now = datetime.now(UTC) + timedelta(minutes=10)

    def land(self, events):
        """Land a batch of these events."""
        Lander(self.catalog, self.folder, self.now).land(*events)

    def scan(self, logs, *, after=timedelta()):
        """Scan the logs, ten minutes and `after` from now."""
        at = self.now + after
        scratch = self.folder / "unpacked"
        folders = [logs.as_uri()]
        return scan_logs(self.spark, self.catalog, folders, at, settle=_SETTLED, scratch=scratch)

    def rows(self, query):
        """Return rows, with paths relative to the job's folder, and flags as booleans."""
        return {
            tuple(short(value) if isinstance(value, str) else bool(value) for value in row)
            for row in rows(self.catalog, query)
        }


def short(name: str) -> str:
    """Return a path relative to the job's folder."""
    for part in ("/kinds0/", "/alone0/", "/retried0/", "/topics0/"):
        if part in name:
            return name.split(part)[1]
    return name

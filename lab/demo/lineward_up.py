"""Child process `lineward up` that watches the demo's shop, and reads of its catalog."""

import os
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import httpx

from lab.demo.waiting import Patience, StepFailedError
from service.errors import NoDataError
from service.ingest.backfill import BatchSender, events_in
from service.ingest.collector_spool import read_last_stored
from service.queries.catalog_session import open_session
from service.queries.dataset import explain_states
from service.queries.dataset_lookup import resolve_dataset
from service.queries.datasets import Filters, list_datasets
from service.queries.shapes import DatasetRow, SliAnswer
from service.queries.slis import list_slis, read_objectives
from service.runtime.child import Child, RoleCommand
from service.runtime.roles import role_environment
from service.runtime.run_folder import running_pids
from service.runtime.settings import Settings

_STOP_SECONDS = 75.0
_MOST_QUOTED = 20
_EVIDENCE_SECONDS = {"EVIDENCE_SECONDS": "5", "EVIDENCE_SETTLE_SECONDS": "15"}

# Asked to stop rather than killed when its parent is, so that it stops its roles in order.
UP: Final = RoleCommand(
    role="up",
    argv=(sys.executable, "-m", "service.cli.main", "up"),
    death_signal=signal.SIGTERM,
)


class LinewardUp:
    """Process of `lineward up`, as a child."""

    def __init__(self, settings: Settings, log: Path, event_logs: Path) -> None:
        self.settings = settings
        self.collector = f"http://{settings.host}:{settings.collector_port}"
        self._log = log
        # Soon enough for who watches: elsewhere a minute and five are enough.
        evidence = {"EVENT_LOGS": event_logs.as_uri(), **_EVIDENCE_SECONDS}
        given = {f"LINEWARD_PIPELINE_{name}": value for name, value in evidence.items()}
        event_logs.mkdir(parents=True)
        self._child = Child(UP, {**role_environment(settings), **given}, log)

    def start(self, patience: Patience) -> None:
        """Start it, and wait until it takes events."""
        self._child.start()
        patience.watchers.append(self.require_alive)
        patience.until(self.accepts, what="collector")

    def require_alive(self) -> None:
        """See that it runs.

        Raises:
            StepFailedError: it has ended; with the end of its log.
        """
        if self._child.pid is not None and self._child.exited() is not None:
            lines = self._log.read_text(encoding="utf-8", errors="replace").splitlines()
            raise StepFailedError("\n".join(["`lineward up` ended:", *lines[-_MOST_QUOTED:]]))

    def accepts(self) -> bool:
        """Return whether the collector answers."""
        try:
            return httpx.get(f"{self.collector}/livez", trust_env=False).is_success
        except httpx.TransportError:
            return False

    def stop(self, patience: Patience) -> None:
        """Ask it to stop, wait for that, and kill what is left."""
        if self.require_alive in patience.watchers:
            patience.watchers.remove(self.require_alive)
        self._child.ask_to_stop()
        try:
            patience.until(
                lambda: not self._child.is_running(), seconds=_STOP_SECONDS, what="end of `up`"
            )
        finally:
            self._child.end()

    def pid_of(self, role: str) -> int:
        """Process id of a role that runs.

        Raises:
            StepFailedError: it does not run.
        """
        pids = running_pids(self.settings.data_dir)
        if role not in pids:
            raise StepFailedError(f"the {role} does not run")
        return pids[role]

    def load_history(self, recorded: Path) -> int:
        """Send recorded events like `lineward backfill files`; return how many were accepted.

        Raises:
            StepFailedError: some were rejected.
        """
        sender = BatchSender(self.settings)
        for _ in sender.send(events_in(recorded)):
            pass
        if sender.report.rejected:
            raise StepFailedError(f"{recorded}: {sender.report.rejections[0].reason}")
        return sender.report.taken

    def deliver(self, recorded: Path) -> None:
        """Send the events of a file as any sender would: they are live, and late.

        Raises:
            StepFailedError: they were not taken.
        """
        body = b"[" + b",".join(event.body for event in events_in(recorded)) + b"]"
        url = f"{self.collector}/api/v1/lineage/batch"
        answer = httpx.post(url, content=body, timeout=30, trust_env=False)
        # 200 lists rejected events; another success code means that all were accepted.
        if answer.status_code == httpx.codes.OK or not answer.is_success:
            raise StepFailedError(f"{recorded}: {answer.status_code} {answer.text[:200]}")

    def received(self) -> int:
        """Return the number of the newest event in the spool."""
        return read_last_stored(self.settings.spool) or 0

    def evaluated(self) -> int:
        """Return the number of the newest event that an evaluation has included."""
        try:
            with open_session(self.settings) as asked:
                found = asked.reader.rows("SELECT max(last_seq) FROM evaluation")
        except NoDataError:
            return 0
        return found[0][0] or 0

    def datasets(self) -> Mapping[str, DatasetRow]:
        """Return every dataset by its name within the shop, most severe first; none at first."""
        try:
            with open_session(self.settings) as asked:
                rows = list_datasets(asked.reader, Filters(), asked.evaluated).datasets
        except NoDataError:
            return {}
        return {row.dataset.rpartition(f"{os.sep}shop{os.sep}")[2]: row for row in rows}

    def slis(self) -> SliAnswer:
        """Return all SLIs, by tier."""
        with open_session(self.settings) as asked:
            targets = read_objectives(self.settings)
            return list_slis(asked.reader, asked.evaluated, targets, now=asked.now)

    def evidence(self, dataset: DatasetRow) -> str:
        """Explain in words why it is in its state."""
        with open_session(self.settings) as asked:
            named = resolve_dataset(asked.reader, dataset.dataset, dataset.dataset_namespace)
            states = explain_states(asked.reader, named, asked.evaluated).states
        return next((one.evidence or "" for one in states if one.sli == dataset.sli), "")


@contextmanager
def outage(parent: int) -> Iterator[None]:
    """Stop the collector of this parent process for as long as this context lasts.

    The parent is stopped, so that it starts no new worker, and the worker is killed with -9:
    nothing is taken and no heartbeat written. Senders wait in the listening socket's backlog
    meanwhile, as before a machine that stands still.
    """
    os.kill(parent, signal.SIGSTOP)
    try:
        for worker in _children(parent):
            os.kill(worker, signal.SIGKILL)
        yield
    finally:
        with suppress(ProcessLookupError):
            os.kill(parent, signal.SIGCONT)


def _children(parent: int) -> list[int]:
    listed = Path(f"/proc/{parent}/task/{parent}/children").read_text(encoding="ascii")
    return [int(pid) for pid in listed.split()]

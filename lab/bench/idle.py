"""Benchmark of a small estate: cores and memory of `lineward up`, idle and with few events."""

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Final

import httpx
import msgspec

from lab.bench.footprint import CpuMeter, memory_bytes
from lab.bench.query.roles import wait_until
from lab.demo.lineward_up import UP
from lineage.catalog.reader import open_reader
from lineage.process.clock import system_clock
from service.runtime.child import Child
from service.runtime.roles import role_environment, with_free_ports
from service.runtime.run_folder import running_pids
from service.runtime.settings import Settings
from slis.made_up_events import make_events

BUDGET_IDLE_CORES: Final = 0.08
BUDGET_LIVE_CORES: Final = 0.25
BUDGET_MIB: Final = 1_638
# So many runs have nearly all of the 1,000 datasets of `made_up_events`.
_HISTORY: Final = 12_000
_A_POST: Final = 1_000
_APART: Final = timedelta(seconds=2)
_A_RUN: Final = 3  # events
_A_MILLI: Final = timedelta(milliseconds=1)
_LOAD_SECONDS: Final = 600.0


class Phase(msgspec.Struct, frozen=True):
    """Part of the measurement, with mean numbers of cores."""

    phase: str
    seconds: float
    evaluations: int
    collector: float
    pipeline: float
    service: float
    cores: float
    budget: float


class IdleFigures(msgspec.Struct, frozen=True):
    """Measured figures; memory is that of all roles at the end, shared pages counted once."""

    datasets: int
    memory_mib: float
    budget_memory_mib: float
    phases: list[Phase]


def run(events_a_second: float = 2.0, settle: float = 120.0, seconds: float = 120.0) -> IdleFigures:
    """Load an estate into a `lineward up`, and measure its processes in both phases.

    Args:
        events_a_second: of the second phase, by START, RUNNING and COMPLETE of a run at a time.
        settle: seconds from the first evaluation until the first phase.
        seconds: of each phase.
    """
    with tempfile.TemporaryDirectory(prefix="lineward-bench-") as folder, _running(folder) as up:
        up.load()
        time.sleep(settle)
        phases = [up.watch("idle", seconds, 0.0, BUDGET_IDLE_CORES)]
        phases.append(up.watch("live", seconds, events_a_second, BUDGET_LIVE_CORES))
        return IdleFigures(
            datasets=up.ask("SELECT count(*) FROM dataset"),
            memory_mib=memory_bytes(up.pid) / (1 << 20),
            budget_memory_mib=BUDGET_MIB,
            phases=phases,
        )


class _Up:
    """Running `lineward up`."""

    def __init__(self, settings: Settings, pid: int, sender: httpx.Client) -> None:
        self.pid = pid
        self._settings = settings
        self._sender = sender

    def is_ready(self) -> bool:
        """Return whether the collector takes events."""
        try:
            return self._sender.get("/readyz").is_success
        except httpx.TransportError:
            return False

    def load(self) -> None:
        """Post the history of the estate; wait until an evaluation has included all of it."""
        start = system_clock() - _HISTORY * _APART
        made = [body for _, body in make_events(_HISTORY, seed=1, start=start, apart=_APART)]
        for first in range(0, _HISTORY, _A_POST):
            self._post(made[first : first + _A_POST])
        wait_until(
            lambda: self.ask("SELECT max(last_seq) FROM evaluation") >= _HISTORY,
            "no evaluation included all events",
            _LOAD_SECONDS,
        )

    def watch(self, phase: str, seconds: float, rate: float, budget: float) -> Phase:
        """Return what the processes take for so long, with so many events a second."""
        before = self.ask("SELECT count(*) FROM evaluation")
        every = CpuMeter(self.pid)
        roles = {role: CpuMeter(pid) for role, pid in running_pids(self._settings.data_dir).items()}
        self._send(seconds, rate)
        spent = {role: round(meter.seconds() / seconds, 3) for role, meter in roles.items()}
        return Phase(
            phase=phase,
            seconds=seconds,
            evaluations=self.ask("SELECT count(*) FROM evaluation") - before,
            cores=round(every.seconds() / seconds, 3),
            budget=budget,
            **{role: spent[role] for role in ("collector", "pipeline", "service")},
        )

    def ask(self, query: str) -> int:
        """Return the number that a query of the catalog gives; 0 for none."""
        with open_reader(self._settings.catalog) as reader:
            return int(reader.rows(query)[0][0] or 0)

    def _send(self, seconds: float, rate: float) -> None:
        """Post a run at a time for so long."""
        began = time.monotonic()
        for number in range(int(seconds * rate / _A_RUN)):
            made = make_events(_A_RUN, seed=1_000 + number, start=system_clock(), apart=_A_MILLI)
            self._post([body for _, body in made])
            _sleep_until(began + (number + 1) * _A_RUN / rate)
        _sleep_until(began + seconds)

    def _post(self, bodies: list[bytes]) -> None:
        body = b"[" + b",".join(bodies) + b"]"
        self._sender.post("/api/v1/lineage/batch", content=body).raise_for_status()


def _sleep_until(at: float) -> None:
    time.sleep(max(0.0, at - time.monotonic()))


@contextmanager
def _running(folder: str) -> Iterator[_Up]:
    """Start `lineward up` in a folder; stop it at the end."""
    settings = with_free_ports(Settings(data_dir=Path(folder)))
    child = Child(UP, role_environment(settings), Path(folder) / "up.log")
    url = f"http://{settings.host}:{settings.collector_port}"
    with httpx.Client(base_url=url, timeout=60, trust_env=False) as sender:
        child.start()
        try:
            up = _Up(settings, child.pid or 0, sender)
            wait_until(up.is_ready, "the collector did not answer")
            yield up
            child.ask_to_stop()
            wait_until(lambda: not child.is_running(), "`lineward up` did not stop")
        finally:
            child.end()

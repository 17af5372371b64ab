"""Demo from its first step to its last: a shop's Spark jobs, watched by a `lineward up`."""

import time
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path

from lab.demo import recording
from lab.demo.estate import Shop
from lab.demo.lineward_up import LinewardUp, outage
from lab.demo.screen import Screen
from lab.demo.spark import ShopJob, http, wait_for_exit
from lab.demo.waiting import Patience, StepFailedError
from lineage.process.clock import system_clock
from service.queries.shapes import DatasetRow

EXPECTED = {
    "mart/revenue": "good",
    "live/clicks": "good",
    "mart/churn": "bad",
    "ref/rates": "bad: lineage_missing",  # its event log is read a little later than the rest
    "mart/segments": "learning",
    "mart/stock": "unknown",
}
_STEPS = 8
_DAYS = 30
_NIGHTLY = ("raw", "core", "mart", "churn")
# So long ago ended today's nightly runs, whose events come late: their reads have settled by now.
_LATE = timedelta(minutes=40)
_STOCK_LIMIT = timedelta(hours=26)  # as the policy declares it
_STOCK_DUE = timedelta(seconds=6)
_CLICKS_EVERY_SECONDS = 3.0


class Story:
    """Run of the demo, in a folder of its own."""

    def __init__(self, folder: Path, home: LinewardUp) -> None:
        self._folder = folder
        self._home = home
        self._shop = Shop(folder / "shop")
        self._screen = Screen(_STEPS)
        self._patience = Patience()
        self._patience.watchers.append(self._screen.draw)
        self._ending = ExitStack()
        self._clicked = 0.0

    def play(self, *, once: bool) -> None:
        """Run every step; whatever happens, stop all that was started."""
        with self._ending:
            with self._screen.bar():
                self._start()
                self._history()
                self._unwatched_job_and_outage()
                self._jobs()
                self._stream()
                self._states()
            self._screen.show(self._home)
            self._screen.addresses(self._home.settings)
            if not once:
                self._stay()
            self._screen.say("stopping")

    def _start(self) -> None:
        with self._screen.step("lineward up: collector, pipeline (Spark) and service"):
            # Customers who never ordered: `core` keeps them, and `churn` was not made for them.
            self._shop.land(newcomers=2)
            self._ending.callback(self._home.stop, Patience())
            self._home.start(self._patience)

    def _history(self) -> None:
        with self._screen.step(f"history: {_DAYS} nights of recorded events of this shop"):
            nightly = recording.load().of(_NIGHTLY)
            last = system_clock() - _LATE - timedelta(days=1)
            nights = recording.daily(nightly, last=last, days=_DAYS, shop=self._shop.folder)
            taken = self._home.load_history(self._recorded("history", nights))
            self._screen.say(
                f"    {taken:,} events: cadences and edges are learned, no SLI counts them"
            )
            tonight = nightly.ending(last + timedelta(days=1), self._shop.folder)
            self._home.deliver(self._recorded("tonight", tonight))
            self._screen.say(
                "    tonight's events arrived 40 min late: they are live, count in SLIs, and"
                " show as lag"
            )

    def _recorded(self, name: str, events: Iterator[bytes]) -> Path:
        path = self._folder / f"{name}.jsonl"
        recording.write(events, path)
        return path

    def _unwatched_job_and_outage(self) -> None:
        with self._screen.step("rates: CSV to ref, by a job without the listener"):
            self._succeed(self._job("rates", instrumented=False))
            # A write without an event is no fault while the collector is out: only once it ended.
            self._outage()

    def _jobs(self) -> None:
        with self._screen.step("raw: CSV and JSON to Parquet, with the OpenLineage listener"):
            self._succeed(self._job("raw"))
        with self._screen.step("core: orders and customers joined"):
            self._succeed(self._job("core"))
        with self._screen.step("marts: revenue, and segments, a new dataset; churn, which fails"):
            mart, churn = self._job("mart", "--segments"), self._job("churn")
            self._succeed(mart)
            if wait_for_exit(churn, self._patience) == 0:
                raise StepFailedError(f"job churn was meant to fail: see {churn.log}")
            self._screen.say("    churn's Python function raised on a customer who never ordered")

    def _job(self, name: str, *arguments: str, instrumented: bool = True) -> ShopJob:
        transport = http(self._home.collector) if instrumented else None
        job = ShopJob(name, self._shop.folder, *arguments, transport=transport)
        self._ending.callback(job.kill)
        job.start()
        return job

    def _succeed(self, job: ShopJob) -> None:
        code = wait_for_exit(job, self._patience)
        if code:
            lines = job.log.read_text(encoding="utf-8", errors="replace").splitlines()[-15:]
            raise StepFailedError("\n".join([f"job {job.name} ended with {code}:", *lines]))

    def _outage(self) -> None:
        """Stop the collector when the stock count is due: whether that ran is then unknown."""
        due = system_clock() + _STOCK_DUE
        stock = recording.load().of(["stock"])
        last = due - _STOCK_LIMIT
        nights = recording.daily(stock, last=last, days=_DAYS, shop=self._shop.folder)
        self._home.load_history(self._recorded("stock", nights))
        is_over = due + timedelta(seconds=1)
        with outage(self._home.pid_of("collector")):
            self._screen.say("    meanwhile the collector is killed, and its parent is stopped")
            self._screen.say(f"    mart/stock is due at {due.astimezone():%H:%M:%S}")
            self._patience.until(lambda: system_clock() > is_over, seconds=60, what="outage")
        self._patience.until(self._home.accepts, seconds=60, what="collector after its outage")
        self._screen.say("    it is up again; clients waited, and no event was rejected")

    def _stream(self) -> None:
        with self._screen.step("clicks: a stream that runs until the demo ends"):
            job = self._job("clicks")
            self._ending.callback(job.stop, Patience())
            self._patience.watchers.append(self._land_clicks)
            self._patience.until(
                lambda: self._wrote_clicks(job), seconds=180, what=f"clicks ({job.log})"
            )

    def _wrote_clicks(self, job: ShopJob) -> bool:
        if job.exited() is not None:
            raise StepFailedError(f"job clicks ended: see {job.log}")
        return any((self._shop.folder / "live" / "clicks").glob("part-*"))

    def _land_clicks(self) -> None:
        if time.monotonic() - self._clicked >= _CLICKS_EVERY_SECONDS:
            self._clicked = time.monotonic()
            self._shop.land_clicks(system_clock())

    def _states(self) -> None:
        with self._screen.step("states: good, bad, learning and unknown, in an evaluation"):
            received = self._home.received()
            self._patience.until(
                lambda: self._home.evaluated() >= received,
                what="evaluation of all sent events",
            )
            try:
                self._patience.until(lambda: self._found() == EXPECTED, what="states")
            except StepFailedError as error:
                message = f"{error}: expected {EXPECTED}, found {self._found()}"
                raise StepFailedError(message) from error

    def _found(self) -> dict[str, str]:
        found = self._home.datasets()
        return {name: _state_of(found[name], name) for name in EXPECTED if name in found}

    def _stay(self) -> None:
        self._screen.say("the shop keeps running until Ctrl-C")
        try:
            self._patience.for_ever()
        except KeyboardInterrupt:
            return


def _state_of(row: DatasetRow, name: str) -> str:
    """Return its state, and the reason where one is expected."""
    return f"{row.state}: {row.reason}" if ":" in EXPECTED[name] else row.state

"""Game day on the real clock, against a service that is already up.

Events go to its collector as a listener would post them; notifications come to our own Slack.
"""

import time
from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from lab.gameday.driver.message_listener import MessageListener
from lab.gameday.driver.service_client import ServiceClient
from lab.gameday.fake_receivers import ReceivedMessage, Receivers
from lab.gameday.live.course import Faults
from lab.gameday.live.estate import LIVE_TEAMS, NAMESPACE, PACE, WritePace, chains, day_name
from lab.gameday.live.plan import chains_for, plan_live_faults
from lab.gameday.live.running import RunningChains
from lab.gameday.score_shapes import Score
from lab.gameday.scorer import first_message_at, score
from lab.gameday.truth_shapes import InjectedKind, NamePattern, Truth
from lineage.errors import RequestError
from lineage.process.clock import SECOND_MICROS, system_clock, to_micros
from lineage.states import GOOD
from service.errors import NotRunningError, RejectedInputError
from service.ingest.collector_client import UnansweredError
from service.ingest.event_uploader import EventUploader

_TURN_SECONDS: Final = 0.2
_LOOK_SECONDS: Final = 3
_READY_PERIODS: Final = 25
_BEGUN_PERIODS: Final = 5  # each edge was seen three times by then
_DROPPED_SECONDS: Final = 20


class Wanted(msgspec.Struct, frozen=True):
    """Options of a live game day."""

    seed: int
    faults: int
    kinds: tuple[InjectedKind, ...]
    pace: WritePace = PACE


class Played(msgspec.Struct, frozen=True):
    """Result of a live game day.

    Attributes:
        injected_at: of each fault, in the order of the truth.
        failed_at: of each fault, the FAIL that it began with; None: with none to notify at once.
        others: messages about what is not of the game day.
    """

    score: Score
    truth: Truth
    messages: tuple[ReceivedMessage, ...]
    injected_at: tuple[int, ...]
    failed_at: tuple[int | None, ...]
    others: int

    def from_injection(self) -> list[float | None]:
        """Return the seconds from each fault's injection to the notification."""
        delays = (each.seconds_to_delivery for each in self.score.faults)
        waits = (
            (fault.starts_at - injected_at) / SECOND_MICROS
            for fault, injected_at in zip(self.truth.faults, self.injected_at, strict=True)
        )
        pairs = zip(delays, waits, strict=True)
        return [None if seconds is None else seconds + wait for seconds, wait in pairs]

    def from_failure(self) -> list[float | None]:
        """Return the seconds from each FAIL to the first message about it, a page or a ticket."""
        faults = zip(self.truth.faults, self.failed_at, strict=True)
        return [
            None if first is None else (first - at) / SECOND_MICROS
            for fault, at in faults
            if at is not None
            for first in [first_message_at(fault, self.messages)]
        ]


def play(
    wanted: Wanted,
    poster: EventUploader,
    asked: ServiceClient,
    receivers: Receivers,
    say: Callable[[str], None],
) -> Played:
    """Play it through, and leave nothing that is still expected.

    Raises:
        RejectedInputError: the service does not know our policy, or accepts no event of ours.
        NotRunningError: it does not answer.
    """
    began = time.monotonic()
    day = _Day(wanted, poster, asked, receivers, say)
    day.look()
    try:
        day.settle()
        day.inject()
    finally:
        day.leave()
    return day.judged(time.monotonic() - began)


class _Day:
    def __init__(
        self,
        wanted: Wanted,
        poster: EventUploader,
        asked: ServiceClient,
        receivers: Receivers,
        say: Callable[[str], None],
    ) -> None:
        self._wanted, self._say = wanted, say
        self._poster, self._asked = poster, asked
        self._listener = MessageListener(receivers, asked)
        self._begins_at = _now()
        self._name = day_name(self._begins_at)
        self._estate = chains(wanted.seed, chains_for(wanted.faults), self._begins_at, wanted.pace)
        self._running = RunningChains(self._estate, self._begins_at, wanted.pace)
        self._faults: Faults | None = None
        self._ends_at = self._begins_at

    def look(self) -> None:
        """See that the service answers us, before anything is posted."""
        self._asked.datasets(self._name)

    def settle(self) -> None:
        """Let the chains run until the service finds each dataset good, and knows its owner."""
        self._say(f"{len(self._estate.datasets)} datasets begin: {NAMESPACE}/{self._name}/")
        period = self._wanted.pace.period_seconds
        self._turn_for(_BEGUN_PERIODS * period)
        while wrong := self._not_ready():
            if _now() > self._begins_at + _READY_PERIODS * period * SECOND_MICROS:
                raise RejectedInputError(
                    f"{wrong}. Check that the policy of `lineward gameday policy` is in force, and"
                    " that --against and --service belong to the same Lineward."
                )
            self._turn_for(_LOOK_SECONDS)

    def inject(self) -> None:
        """Inject all planned faults, and wait for the end of each."""
        planned = plan_live_faults(
            self._estate, self._wanted.faults, self._wanted.kinds, self._wanted.pace
        )
        faults = self._faults = Faults(self._estate, self._running, planned, _now())
        shown = faults.counts()
        while not faults.is_over:
            self._turn_for(_TURN_SECONDS)
            faults.step(_now(), self._listener.messages)
            if faults.counts() != shown:
                shown = faults.counts()
                self._say(", ".join(f"{count} {stage}" for stage, count in shown.items() if count))
        self._ends_at = _now()

    def leave(self) -> None:
        """Let every job drop what it writes: dropped datasets are not expected any more."""
        self._running.stop(_now())
        try:
            self._turn_for(_DROPPED_SECONDS)
        except RequestError as error:
            self._say(f"not dropped, see `lineward retire`: {NAMESPACE}/{self._name}/: {error}")

    def judged(self, seconds: float) -> Played:
        """Score the day like a replayed one, without figures of other processes."""
        if self._faults is None:
            raise RuntimeError("a run that did not settle cannot be scored")
        truth = self._faults.truth(self._begins_at, self._ends_at)
        listener = self._listener
        found = score(
            truth, listener.messages, (), listener.resolve, wall_seconds=round(seconds, 1)
        )
        found = msgspec.structs.replace(found, baseline=None, peak_rss_bytes=None)
        injected_at, failed_at = self._faults.injected_at(), self._faults.failed_at()
        times = tuple(injected_at), tuple(failed_at)
        return Played(found, truth, tuple(listener.messages), *times, listener.others)

    def _not_ready(self) -> str | None:
        """Describe the first dataset that is not as it should be."""
        rows = self._asked.datasets(self._name)
        for dataset, tier in zip(self._estate.datasets, self._estate.tiers, strict=True):
            row = rows.get(NamePattern(*dataset.full_name))
            owner = LIVE_TEAMS[dataset.team]
            if row is None:
                return f"{dataset.name} is not known to the service"
            if (row.owner, row.tier) != (owner, tier):
                return f"{dataset.name} {row.owner}, {row.tier}: expected {owner}, {tier}"
            if row.state != GOOD:
                return f"{dataset.name} is {row.state}: {row.reason}"
        return None

    def _turn_for(self, seconds: float) -> None:
        ends = time.monotonic() + seconds
        while True:
            self._turn()
            if time.monotonic() >= ends:
                return
            time.sleep(_TURN_SECONDS)

    def _turn(self) -> None:
        bodies = self._running.until(_now())
        if bodies:
            self._post(bodies)
        self._listener.listen()

    def _post(self, bodies: Sequence[bytes]) -> None:
        try:
            rejected = self._poster.post(bodies)
        except UnansweredError as error:
            raise NotRunningError(f"--against does not answer: {error}") from error
        if rejected:
            raise RejectedInputError(f"--against: an event was rejected: {rejected[0].reason}")


def _now() -> int:
    return to_micros(system_clock())

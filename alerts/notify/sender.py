"""Sender of due messages. Each channel is served by itself: a slow one delays no other."""

import random
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from threading import Event
from typing import Final

import structlog
from sqlalchemy import Engine

from alerts.notify import claims
from alerts.notify.attempts import AttemptRecorder
from alerts.notify.channels.channel import (
    Deliverer,
    DeliveryOutcome,
    PermanentFailure,
    Retryable,
    Sent,
)
from alerts.notify.channels.name import parse_channel
from alerts.notify.claims import SendClaim, correct_times
from alerts.notify.fallback import Fallback
from alerts.notify.sentences import NOT_CONFIGURED
from alerts.notify.settings import DeliverySettings
from lineage.catalog.engine import write_transaction
from lineage.catalog.leases import require_lead
from lineage.lease_rules import LeaseLostError
from lineage.process.clock import Clock, system_clock, to_micros

_MOST_CHANNELS_AT_ONCE: Final = 8
_MOST_OF_A_CHANNEL: Final = 50
# A rejected message is copied to the fallback channel, which is served within the same pass.
_ROUNDS: Final = 3
_log = structlog.get_logger()


class Sender:
    """Sender; of two, neither sends what the other is sending."""

    def __init__(  # noqa: PLR0913 - what a sender needs from its process
        self,
        engine: Engine,
        channels: Mapping[str, Deliverer],
        settings: DeliverySettings,
        *,
        clock: Clock = system_clock,
        spread: random.Random | None = None,
        runbook: str | None = None,
    ) -> None:
        """Set what to send through.

        Args:
            engine: of the catalog.
            channels: by kind of channel; a kind that is not there is rejected.
            settings: waits and the fallback channel.
            clock: decides what is due.
            spread: of the waits.
            runbook: link of an alert on a channel.
        """
        named = settings.fallback
        self._engine = engine
        self._channels = channels
        self._settings = settings
        self._clock = clock
        self._fallback = Fallback(
            None if named is None else parse_channel(named),
            settings.undelivered_seconds,
            runbook=runbook,
        )
        # Of each kind of its own: fifty channels of a Slack that hangs leave PagerDuty its threads.
        self._pools: dict[str, ThreadPoolExecutor] = {}
        self._busy: dict[str, Future[int]] = {}
        self._is_ending = Event()
        self._recorder = AttemptRecorder(settings, self._fallback, spread or random.Random())  # noqa: S311

    def begin(self) -> list[Future[int]]:
        """Start to send all that is due, and return at once.

        Returns:
            A future for each channel begun, with the number of messages its provider accepted; a
            busy channel has none.
        """
        begun: list[Future[int]] = []
        for channel in self._due():
            busy = self._busy.get(channel)
            if busy is None or busy.done():
                self._busy[channel] = self._pool_of(channel).submit(self._channel, channel)
                self._busy[channel].add_done_callback(_log_failure)
                begun.append(self._busy[channel])
        return begun

    def run(self) -> int:
        """Send all that is due; return how many messages were accepted."""
        taken = 0
        for _ in range(_ROUNDS):
            begun = self.begin()
            if not begun:
                break
            taken += sum(each.result() for each in begun)
        return taken

    def close(self) -> None:
        """Wait for messages that are being sent."""
        for pool in self._pools.values():
            pool.shutdown()

    def drain(self, seconds: float) -> None:
        """Start no further message, and wait at most so long for those being sent."""
        self._is_ending.set()
        wait(self._busy.values(), timeout=seconds)

    def _pool_of(self, channel: str) -> ThreadPoolExecutor:
        kind = parse_channel(channel).kind
        if kind not in self._pools:
            self._pools[kind] = ThreadPoolExecutor(_MOST_CHANNELS_AT_ONCE, f"notify-{kind}")
        return self._pools[kind]

    def _due(self) -> list[str]:
        now = to_micros(self._clock())
        with self._engine.connect() as connection:
            if not claims.is_any_waiting(connection):
                return []  # and the catalog is not locked for it
        with write_transaction(self._engine) as connection:
            correct_times(connection, now, self._settings)
            self._fallback.hand_over_overdue(connection, now)
            return claims.due_channels(connection, now)

    def _channel(self, channel: str) -> int:
        """Send messages of one channel until one fails; return how many were accepted."""
        taken = 0
        for _ in range(_MOST_OF_A_CHANNEL):
            claim = self._claim(channel)
            if claim is None:
                break
            # A process that was paused since the claim: the message waits until the claim ends.
            require_lead(self._engine)
            outcome = self._send(claim)
            self._record(claim, outcome)
            taken += isinstance(outcome, Sent)
            if isinstance(outcome, Retryable):
                break
        return taken

    def _claim(self, channel: str) -> SendClaim | None:
        if self._is_ending.is_set():
            return None
        # A lease that was given up is free, and its epoch goes on until another process takes it.
        require_lead(self._engine)
        now = to_micros(self._clock())
        with write_transaction(self._engine) as connection:
            return claims.claim(connection, channel, now, self._settings.lease_seconds)

    def _send(self, claim: SendClaim) -> DeliveryOutcome:
        channel = self._channels.get(claim.kind)
        if channel is None:
            reason = f"no channel of kind {claim.kind[:80]!r} is set"
            return PermanentFailure(NOT_CONFIGURED, reason, is_of_kind=True)
        try:
            return channel.send(claim.task)
        except Exception as error:  # noqa: BLE001 - counted and logged; see the line below
            # The edge of this one message: whatever it trips over, the others are sent.
            _log.exception("notification_failed", channel=claim.channel)
            return Retryable("internal", type(error).__name__, is_in_doubt=True)

    def _record(self, claim: SendClaim, outcome: DeliveryOutcome) -> None:
        now = to_micros(self._clock())
        with write_transaction(self._engine) as connection:
            self._recorder.record(connection, claim, outcome, now)
        if not isinstance(outcome, Sent):
            _log.warning(
                "notification_not_taken",
                channel=claim.channel,
                incident_id=claim.message.incident_id,
                revision=claim.message.revision,
                reason=outcome.reason,
                error=outcome.error,
                attempts=claim.attempts,
            )


def _log_failure(done: Future[int]) -> None:
    """Log the error: what was claimed is due again when its lease ends."""
    error = done.exception()
    if isinstance(error, LeaseLostError):
        _log.warning("notification_left_to_the_leader", reason=str(error))
    elif error is not None:
        _log.error("sending_failed", error=f"{type(error).__name__}: {error}"[:300])

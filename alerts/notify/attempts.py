"""Results of attempts to send, and the time of the next attempt."""

import random
from typing import Any

import msgspec
from sqlalchemy import Connection, insert, select, update

from alerts.notify.channels.channel import DeliveryOutcome, PermanentFailure, Retryable, Sent
from alerts.notify.claims import SendClaim
from alerts.notify.delivery_queries import DELIVERY_FAILED, REPEATED, SENT
from alerts.notify.fallback import Fallback
from alerts.notify.outbox import add_count, message_condition
from alerts.notify.settings import DeliverySettings
from lineage.catalog.tables import notification, notification_channel
from lineage.process.clock import SECOND_MICROS


class AttemptRecorder(msgspec.Struct, frozen=True):
    """Recorder of attempts. Waits stand in the table, so that a restart keeps them.

    Attributes:
        spread: of the waits, so that many senders do not come back at once; from 0.5 to 1.
    """

    settings: DeliverySettings
    fallback: Fallback
    spread: random.Random

    def record(
        self, connection: Connection, claim: SendClaim, outcome: DeliveryOutcome, now: int
    ) -> None:
        """Write the outcome of a claim; `now` in µs."""
        if isinstance(outcome, Sent):
            self._record_sent(connection, claim, outcome, now)
            return
        add_count(connection, DELIVERY_FAILED, claim.channel, outcome.reason)
        if isinstance(outcome, PermanentFailure):
            self._record_failure(connection, claim, outcome, now)
        else:
            self._record_retry(connection, claim, outcome, now)

    def _record_sent(self, connection: Connection, claim: SendClaim, sent: Sent, now: int) -> None:
        _update(
            connection,
            claim,
            state="sent",
            handle=sent.handle,
            doubt_since=None,
            finished_at=now,
            reason="",
            error="",
        )
        add_count(connection, SENT, claim.channel, claim.message.kind)
        if sent.is_repeat:
            add_count(connection, REPEATED, claim.channel)
        _hold_channel(connection, claim.channel, failures=0, held_until=0)
        self.fallback.resolve_channel_alert(connection, claim, now)

    def _record_failure(
        self, connection: Connection, claim: SendClaim, failure: PermanentFailure, now: int
    ) -> None:
        _update(
            connection,
            claim,
            state="failed",
            doubt_since=claim.task.doubt_since,
            finished_at=now,
            reason=failure.reason,
            error=failure.error,
        )
        self.fallback.handle_failure(connection, claim, failure, now)

    def _record_retry(
        self, connection: Connection, claim: SendClaim, later: Retryable, now: int
    ) -> None:
        doubt = claim.began_at if later.is_in_doubt else None
        _update(
            connection,
            claim,
            reason=later.reason,
            error=later.error,
            doubt_since=doubt if claim.task.doubt_since is None else claim.task.doubt_since,
            next_attempt_at=now + self._wait(claim.attempts, later),
        )
        if now - claim.created_at >= self.settings.give_up_seconds * SECOND_MICROS:
            self._give_up(connection, claim, later, now)
        failures = _load_failures(connection, claim.channel) + 1
        held_until = now + self._wait(failures, later)
        _hold_channel(connection, claim.channel, failures=failures, held_until=held_until)

    def _give_up(
        self, connection: Connection, claim: SendClaim, later: Retryable, now: int
    ) -> None:
        _update(connection, claim, state="failed", finished_at=now)
        add_count(connection, DELIVERY_FAILED, claim.channel, "gave_up")
        self.fallback.handle_given_up(connection, claim, later.reason, now)

    def _wait(self, failures: int, later: Retryable) -> int:
        """Return the wait in µs: doubled each time, and at least what the provider asked for."""
        settings = self.settings
        doubled = settings.first_wait_seconds * 2 ** min(failures - 1, 20)
        seconds = min(doubled, settings.longest_wait_seconds) * self.spread.uniform(0.5, 1)
        return int(max(seconds, later.retry_after_seconds) * SECOND_MICROS)


def _update(connection: Connection, claim: SendClaim, **values: Any) -> None:  # noqa: ANN401 - columns
    connection.execute(
        update(notification)
        .where(message_condition(claim.message.incident_id, claim.message.revision, claim.channel))
        .values(**values)
    )


def _load_failures(connection: Connection, channel: str) -> int:
    table = notification_channel
    return connection.scalar(select(table.c.failures).where(table.c.channel == channel)) or 0


def _hold_channel(connection: Connection, channel: str, *, failures: int, held_until: int) -> None:
    table = notification_channel
    values = {"failures": failures, "held_until": held_until}
    changed = connection.execute(
        update(table).where(table.c.channel == channel).values(**values)
    ).rowcount
    if not changed:
        connection.execute(insert(table).values(channel=channel, **values))

"""Resending of events that were set aside, once an operator has fixed why Marquez rejected them."""

import sys
from collections.abc import Sequence

import msgspec

from lineage.catalog.reader import CatalogReader
from lineage.errors import InvalidRequestError
from service.ingest.marquez.client import Marquez
from service.ingest.marquez.settings import MarquezSettings

_ASIDE = """
SELECT spool_seq, run, reason, body, body_bytes FROM marquez_set_aside ORDER BY spool_seq
"""


class ResendableEvent(msgspec.Struct, frozen=True):
    """Event that was set aside.

    Attributes:
        is_whole: whether all of its body was kept; of larger ones 64 KiB are.
    """

    spool_seq: int
    run: str
    reason: str
    body: bytes
    is_whole: bool


class Resent(msgspec.Struct, frozen=True):
    """Result of one: `sent`, `rejected`, `failed`, or `cut` where its body is incomplete."""

    spool_seq: int
    run: str
    outcome: str
    detail: str


def load_set_aside(reader: CatalogReader, wanted: Sequence[int]) -> list[ResendableEvent]:
    """Return the events of these numbers, all without any, in the order of acceptance.

    Raises:
        InvalidRequestError: a number is none of them.
    """
    found = [
        ResendableEvent(seq, run, reason, bytes(body), len(body) == size)
        for seq, run, reason, body, size in reader.rows(_ASIDE)
    ]
    if unknown := sorted(set(wanted) - {one.spool_seq for one in found}):
        message = f"{unknown[0]}: not set aside, or no longer stored; see `lineward marquez status`"
        raise InvalidRequestError(message)
    return [one for one in found if not wanted or one.spool_seq in wanted]


def print_bodies(events: Sequence[ResendableEvent]) -> None:
    """Write one body a line, as it was received: line ends in JSON have no meaning there."""
    for one in events:
        line = one.body.replace(b"\r", b" ").replace(b"\n", b" ")
        sys.stdout.buffer.write(line + b"\n")
    sys.stdout.buffer.flush()


async def resend_events(
    marquez_settings: MarquezSettings, events: Sequence[ResendableEvent]
) -> list[Resent]:
    """Send each event once, in this order.

    None leaves the list. An event that is sent twice is in Marquez twice.
    """
    marquez = Marquez(marquez_settings)
    try:
        return [await _sent(marquez, one) for one in events]
    finally:
        await marquez.close()


async def _sent(marquez: Marquez, one: ResendableEvent) -> Resent:
    if not one.is_whole:
        return Resent(one.spool_seq, one.run, "cut", f"{len(one.body)} bytes are stored")
    result = await marquez.post(one.body)
    return Resent(one.spool_seq, one.run, result.outcome, result.detail)

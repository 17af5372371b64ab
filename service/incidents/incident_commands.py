"""Commands on incidents from API, CLI and Slack: each is queued, and its result awaited."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

import msgspec
from sqlalchemy import Connection

from alerts.operator_actions.command_requests import (
    CommandRequest,
    record_rejected_request,
    submit_command,
)
from lineage.catalog.engine import open_catalog, write_transaction
from lineage.catalog.reader import open_reader
from lineage.errors import NotNowError, RequestError
from lineage.process.clock import to_micros
from service.runtime.settings import Settings

WAIT_SECONDS = 5.0
_STATEMENT_SECONDS = 10.0
_POLL_SECONDS = 0.1
_ANSWER = "SELECT done_at, answer FROM incident_command WHERE id = :number"


class Outcome(msgspec.Struct, frozen=True):
    """Result of a command. Without `is_done` the command is stored and not yet executed."""

    id: int
    incident_id: str
    action: str
    is_done: bool
    detail: str | None = None


@contextmanager
def command_transaction(settings: Settings) -> Iterator[Connection]:
    """Open a write transaction on a catalog that exists."""
    engine = open_catalog(settings.catalog, seconds=_STATEMENT_SECONDS, most=1)
    try:
        with write_transaction(engine) as connection:
            yield connection
    finally:
        engine.dispose()


def put_command(settings: Settings, wanted: CommandRequest, now: datetime) -> int:
    """Store a command and its row of the audit log, which rejected commands have too.

    Raises:
        RequestError: the command is rejected; 404, 400 or 409.
    """
    at = to_micros(now)
    try:
        with command_transaction(settings) as connection:
            return submit_command(connection, wanted, at)
    except RequestError as error:
        with command_transaction(settings) as connection:
            record_rejected_request(connection, wanted, error, at)
        raise


async def await_outcome(settings: Settings, wanted: CommandRequest, number: int) -> Outcome:
    """Return the outcome once it is known, or report after five seconds that it is unknown.

    Raises:
        NotNowError: the command was rejected; the text is the reason.
    """
    deadline = time.monotonic() + WAIT_SECONDS
    answer = await asyncio.to_thread(_answer, settings, number)
    while answer is None and time.monotonic() < deadline:
        await asyncio.sleep(_POLL_SECONDS)
        answer = await asyncio.to_thread(_answer, settings, number)
    if answer:
        raise NotNowError(answer)
    late = "requested; the action waits for the leading service"
    detail = late if answer is None else None
    return Outcome(number, wanted.incident_id, wanted.action, answer is not None, detail)


def _answer(settings: Settings, number: int) -> str | None:
    """Return the answer: empty if done, a reason if rejected, None if there is none yet."""
    with open_reader(settings.catalog) as reader:
        rows = reader.rows(_ANSWER, {"number": number})
    done_at, answer = rows[0] if rows else (None, None)
    return None if done_at is None else str(answer or "")

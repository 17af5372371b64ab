"""Events with errors: rejected by the collector, or not readable to the pipeline.

Bodies of rejected events are in the spool. Bodies of all others are in the lake, and in the spool
until the collector prunes them.
"""

import re
import sqlite3
from pathlib import Path
from typing import Final

import msgspec

from lineage.catalog.reader import CatalogReader, read_connection
from lineage.catalog.rows import Row
from lineage.redaction import redact
from service.ingest.collector_spool import open_read_only
from service.queries.cursors import Whole, cursor_of, start_key
from service.queries.run_shapes import IsoTime
from service.queries.timestamps import iso

MOST_EVENT_ERRORS: Final = 500
_BODY_CHARACTERS = 2_000
_READ_BYTES = 8_000  # before redaction: a secret that ends behind the cut is found too
_REJECTED = """
SELECT id, received_at, origin, reason, path, detail, body_bytes,
  length(body) = body_bytes AND reason <> 'too_large' AS is_whole, substr(body, 1, :read) AS body
FROM rejected WHERE id < :before AND (:reason IS NULL OR reason = :reason)
ORDER BY id DESC LIMIT :most
"""
_ERRORS = """
SELECT spool_seq, landed_at, reason, detail, is_history FROM pipeline_error
WHERE spool_seq < :before AND (CAST(:reason AS TEXT) IS NULL OR reason = CAST(:reason AS TEXT))
ORDER BY spool_seq DESC LIMIT :most
"""
_LAST = 2**62
_ESCAPE = re.compile(r"\\u00([2-7][0-9a-fA-F])")  # of ASCII: secrets are found by ASCII's letters


class RejectedEvent(msgspec.Struct, frozen=True):
    """Body that the collector rejected.

    Attributes:
        number: by which `requeue-rejected` posts it again.
        path: of the part of the event that is invalid; null where it is the whole body.
        is_whole: whether all of the body is stored; only then it can be posted again.
        body: its beginning, with secrets replaced.
    """

    number: int
    received_at: IsoTime | None
    origin: str
    reason: str
    path: str | None
    detail: str
    body_bytes: int
    is_whole: bool
    body: str


class RejectedPage(msgspec.Struct, frozen=True):
    """Newest first; `next_cursor` leads to older ones."""

    events: list[RejectedEvent]
    partial: bool
    partial_reason: str | None
    next_cursor: str | None


class PipelineError(msgspec.Struct, frozen=True):
    """Event that the pipeline could not read, or only a part of it.

    Attributes:
        spool_seq: number of the event in the spool and in the lake.
        detail: begins with the path of the part that is invalid, where one is.
        body: its beginning, with secrets replaced; null once the spool has pruned the event.
    """

    spool_seq: int
    landed_at: IsoTime | None
    reason: str
    detail: str
    is_history: bool
    body: str | None


class PipelineErrorPage(msgspec.Struct, frozen=True):
    """Newest first; `next_cursor` leads to older ones."""

    errors: list[PipelineError]
    partial: bool
    partial_reason: str | None
    next_cursor: str | None


def list_rejected_events(
    spool: Path, *, reason: str | None = None, limit: int = 100, cursor: str | None = None
) -> RejectedPage:
    """Return at most `limit` rejected events.

    Raises:
        InvalidRequestError: the cursor belongs to another question, or to none.
    """
    question = "rejected", reason
    (before,) = start_key(cursor, question, tuple[Whole]) or (_LAST,)
    values = {"before": before, "reason": reason, "most": limit + 1, "read": _READ_BYTES}
    with open_read_only(spool) as connection:
        if connection is None:
            where = f"no spool at {spool}: ask where the collector runs"
            return RejectedPage([], partial=True, partial_reason=where, next_cursor=None)
        rows = read_connection(connection).rows(_REJECTED, values)
    events = [_rejected(row) for row in rows[:limit]]
    is_cut = len(rows) > limit
    return RejectedPage(
        events,
        partial=is_cut,
        partial_reason=_older(limit) if is_cut else None,
        next_cursor=cursor_of(question, (events[-1].number,)) if is_cut else None,
    )


def list_pipeline_errors(
    reader: CatalogReader,
    spool: Path,
    *,
    reason: str | None = None,
    limit: int = 100,
    cursor: str | None = None,
) -> PipelineErrorPage:
    """Return at most `limit` errors of the pipeline.

    Raises:
        InvalidRequestError: the cursor belongs to another question, or to none.
    """
    question = "pipeline_errors", reason
    (before,) = start_key(cursor, question, tuple[Whole]) or (_LAST,)
    rows = reader.rows(_ERRORS, {"before": before, "reason": reason, "most": limit + 1})
    shown = rows[:limit]
    bodies = _bodies(spool, [row.spool_seq for row in shown])
    errors = [
        PipelineError(
            spool_seq=row.spool_seq,
            landed_at=iso(row.landed_at),
            reason=row.reason,
            detail=row.detail,
            is_history=bool(row.is_history),
            body=bodies.get(row.spool_seq),
        )
        for row in shown
    ]
    is_cut = len(rows) > limit
    return PipelineErrorPage(
        errors,
        partial=is_cut,
        partial_reason=_older(limit) if is_cut else None,
        next_cursor=cursor_of(question, (errors[-1].spool_seq,)) if is_cut else None,
    )


def _older(limit: int) -> str:
    return f"{limit:,} shown; older ones exist"


def _rejected(row: Row) -> RejectedEvent:
    return RejectedEvent(
        number=row.id,
        received_at=iso(row.received_at),
        origin=row.origin,
        reason=row.reason,
        path=row.path,
        detail=redact(row.detail),
        body_bytes=row.body_bytes,
        is_whole=bool(row.is_whole),
        body=_shown(row.body),
    )


def _bodies(spool: Path, numbers: list[int]) -> dict[int, str]:
    """Return the beginnings of those that the spool still has."""
    with open_read_only(spool) as connection:
        if connection is None:
            return {}
        return {seq: _shown(body) for seq, body in _read(connection, numbers)}


def _read(connection: sqlite3.Connection, numbers: list[int]) -> list[tuple[int, bytes]]:
    sql = """
    SELECT seq, substr(body, 1, :read) FROM event
    WHERE seq IN (SELECT value FROM json_each(:numbers))
    """
    values = {"read": _READ_BYTES, "numbers": msgspec.json.encode(numbers).decode()}
    return connection.execute(sql, values).fetchall()


def _shown(body: bytes) -> str:
    text = _plain(bytes(body).decode("utf-8", "replace"))
    # What was cut ends in a text that nothing closes: a secret is looked for up to its quote.
    return redact(f'{text}"').removesuffix('"')[:_BODY_CHARACTERS]


def _plain(text: str) -> str:
    """Return the text without NULs, which UTF-16 has between letters, and without escapes."""
    unescaped = _ESCAPE.sub(lambda found: chr(int(found[1], 16)), text.replace("\0", ""))
    return unescaped.replace("\\/", "/")

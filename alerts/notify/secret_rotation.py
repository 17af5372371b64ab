"""Failed notifications are sent again when the secret of their channel has changed."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import structlog
from sqlalchemy import Connection, Engine, select

from alerts.notify.channels.channel import MissingSecretError, read_secret_file
from alerts.notify.channels.name import parse_channel
from alerts.notify.channels.registry import find_type
from alerts.notify.outbox import failed_channels, requeue
from alerts.notify.settings import DeliverySettings
from lineage.catalog.engine import write_transaction
from lineage.catalog.tables import notification_secret
from lineage.catalog.upsert import fold_rows

_log = structlog.get_logger(__name__)


def requeue_after_rotation(engine: Engine, settings: DeliverySettings, now: int) -> int:
    """Make failed notifications due whose channel has a new secret; return how many.

    Without a failed notification, or with the same secrets, nothing is written.
    """
    with engine.connect() as connection:
        changed = _find_changed(connection, settings)
    if not changed:
        return 0
    with write_transaction(engine) as connection:
        known = _load_fingerprints(connection)
        rows = [{"channel": channel, "mark": mark} for channel, mark in changed.items()]
        fold_rows(connection, notification_secret, rows)
        renewed = [channel for channel, mark in changed.items() if mark and channel in known]
        counts = {channel: requeue(connection, channel, now) for channel in renewed}
    for channel, count in counts.items():
        _log.info("notifications_requeued", channel=channel, times=count, why="a new secret")
    return sum(counts.values())


def _find_changed(connection: Connection, settings: DeliverySettings) -> dict[str, str]:
    """Return the mark of each channel with failed notifications that is not the one on record."""
    known = _load_fingerprints(connection)
    now = {each: _fingerprint(secret_files(settings, each)) for each in failed_channels(connection)}
    return {channel: mark for channel, mark in now.items() if known.get(channel) != mark}


def _load_fingerprints(connection: Connection) -> dict[str, str]:
    table = notification_secret
    rows = connection.execute(select(table.c.channel, table.c.mark))
    return {row.channel: row.mark for row in rows}


def secret_files(settings: DeliverySettings, channel: str) -> tuple[Path, ...]:
    """Return the files that hold the secrets of a channel."""
    known = find_type(channel)
    return () if known is None else known.secret_files(settings, parse_channel(channel).target)


def _fingerprint(paths: Sequence[Path]) -> str:
    """Return a text that changes with the secrets; empty: one of them is missing."""
    try:
        secret = " ".join(map(read_secret_file, paths))
    except MissingSecretError:
        secret = ""
    return hashlib.sha256(f"lineward {secret}".encode()).hexdigest()[:16] if secret else ""

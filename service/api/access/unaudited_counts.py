"""Counts of what this process answered or rejected without an audit row.

The judge of the audit log sees rows; this counts what has none, for each replica by itself.
"""

import uuid
from collections.abc import Sequence

from sqlalchemy import Connection, Engine, select

from lineage.catalog import tables
from lineage.process.clock import Clock, to_micros
from lineage.states import UNAUTHORIZED_ACCESS
from service.api.access.access_auditor import DENIED_METRIC, GROUPED, count_bad, stored_versions
from service.api.access.audit_log import AccessRecord, Recorder
from service.api.access.budget import RejectionCounts
from service.api.access.judge import AccessFileVersion, version_at
from service.api.access.served_counts import ServedLog, ServedResponse
from service.api.served.counter_buffer import CountBatch

UNAUDITED = "unaudited"
_MOST_IDS = 500


class AccessCounter:
    """Periodic task that stores the counts, once a second in every replica."""

    def __init__(
        self, recorder: Recorder, served: ServedLog, grouped: RejectionCounts, clock: Clock
    ) -> None:
        self._recorder = recorder
        self._served = served
        self._grouped = grouped
        self._versions: list[AccessFileVersion] = []
        self._clock = clock

    def __call__(self, engine: Engine) -> None:
        """Store the version in force, and count what this process answered and rejected."""
        self._recorder.store_versions()
        answered, lost = self._served.take()
        grouped = self._grouped.take()
        try:
            batch = self._count(engine, answered, lost, grouped)
            at = to_micros(self._clock())
            rows = [_grouped_row(at, *each) for each in sorted(grouped.items())]
            # In one transaction: what is given back was neither written nor counted.
            self._recorder.write(rows, batch)
        except BaseException:
            self._served.give_back(answered, lost)
            for reason, count in grouped.items():
                self._grouped.add(reason, count)
            raise

    def _count(
        self, engine: Engine, answered: list[ServedResponse], lost: int, grouped: dict[str, int]
    ) -> CountBatch:
        with engine.connect() as connection:
            versions = self._versions = stored_versions(connection, self._versions)
            unaudited = _unaudited(connection, versions, answered)
        batch = CountBatch()
        for reason, count in grouped.items():
            batch.counts[DENIED_METRIC, reason] += count
        for one in unaudited:
            count_bad(batch, UNAUDITED, one.answered_at, {"request_id": one.request_id})
        # Without a version nobody was ever asked for a token: what was served is no access.
        for _ in range(lost if versions else 0):
            batch.count(UNAUTHORIZED_ACCESS, to_micros(self._clock()), "unknown")
        return batch


def _grouped_row(at: int, reason: str, count: int) -> AccessRecord:
    """Return one row for all rejections of a second for the same reason."""
    return AccessRecord(
        at=at,
        request_id=uuid.uuid4().hex,
        who="",
        fingerprint="",
        action=GROUPED,
        subject=f"{count:,} more requests",
        namespaces="[]",
        decision="deny",
        reason=reason,
        status=401,
        version="",
    )


def _unaudited(
    connection: Connection,
    versions: Sequence[AccessFileVersion],
    answered: Sequence[ServedResponse],
) -> list[ServedResponse]:
    """Return what was served while access was guarded, from request to answer, without a row."""
    guarded = [one for one in answered if _is_guarded(versions, one)]
    audit = tables.access_audit
    known: set[str] = set()
    for start in range(0, len(guarded), _MOST_IDS):
        ids = [one.request_id for one in guarded[start : start + _MOST_IDS]]
        is_let_in = (audit.c.request_id.in_(ids)) & (audit.c.decision == "allow")
        known |= set(connection.scalars(select(audit.c.request_id).where(is_let_in)))
    return [one for one in guarded if one.request_id not in known]


def _is_guarded(versions: Sequence[AccessFileVersion], one: ServedResponse) -> bool:
    held = (version_at(versions, at) for at in (one.asked_at, one.answered_at))
    return all(version is not None and version.tokens is not None for version in held)

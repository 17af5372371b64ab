"""Rows of a catalog for evaluations, as the stream would store them."""

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Engine, insert

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.names.keys import key
from lineage.process.clock import to_micros

_NAMESPACE = "shop"


class CatalogRows:
    """Writer of facts: each event is a batch of its own."""

    def __init__(self, engine: Engine, start: datetime) -> None:
        self.engine = engine
        self.start = start
        self.seq = 0

    def _insert(self, table: Any, **row: Any) -> None:  # noqa: ANN401
        with write_transaction(self.engine) as connection:
            connection.execute(insert(table), row)

    def dataset(self, name: str, *, writes: int = 0, **activity: datetime | str | bool) -> int:
        """Add a dataset, and its latest activity."""
        at = key(_NAMESPACE, name)
        start = to_micros(self.start)
        self._insert(
            tables.dataset,
            dataset_key=at,
            namespace=_NAMESPACE,
            name=name,
            canonical_key=at,
            first_seen_at=start,
            last_seen_at=start,
        )
        fields = {
            field: to_micros(value) if isinstance(value, datetime) else value
            for field, value in activity.items()
        }
        self._insert(
            tables.dataset_activity, dataset_key=at, writes=writes, learned_writes=0, **fields
        )
        return at

    def written(self, at: int, when: datetime, landed: datetime | None = None, **row: Any) -> None:  # noqa: ANN401
        """Add a reported batch write as the newest one."""
        landed = landed or when
        fields = {"names_input": True, "is_reported": True, "is_streaming": False, **row}
        self._insert(
            tables.dataset_write,
            dataset_key=at,
            root_run_id=f"run-{when:%dT%H%M%S}",
            bucket=0,
            job_key=1,
            job_namespace="jobs",
            job_name="job",
            written_at=to_micros(when),
            landed_at=to_micros(landed),
            is_history=False,
            **fields,
        )
        activity = tables.dataset_activity
        newest = activity.c.last_written_at.is_(None) | (
            activity.c.last_written_at < to_micros(when)
        )
        with write_transaction(self.engine) as connection:
            connection.execute(
                activity.update()
                .where(activity.c.dataset_key == at)
                .values(writes=activity.c.writes + 1)
            )
            connection.execute(
                activity.update()
                .where(activity.c.dataset_key == at, newest)
                .values(
                    last_written_at=to_micros(when),
                    last_write_landed_at=to_micros(landed),
                    last_write_root_run_id=f"run-{when:%dT%H%M%S}",
                    last_job_namespace="jobs",
                    last_job_name="job",
                    **{f"last_write_{name}": value for name, value in fields.items()},
                )
            )

    def read(self, at: int, when: datetime, **row: Any) -> None:  # noqa: ANN401
        """Add a reported read that landed at once."""
        self._insert(
            tables.dataset_read,
            **{
                "dataset_key": at,
                "root_run_id": f"reader-{when:%dT%H%M%S}",
                "bucket": 0,
                "job_namespace": "jobs",
                "job_name": "reader",
                "read_at": to_micros(when),
                "landed_at": to_micros(when),
                "is_reported": True,
                "is_streaming": False,
                "is_history": False,
                **row,
            },
        )

    def edge(self, upstream: int, downstream: int, when: datetime, **row: Any) -> None:  # noqa: ANN401
        """Add an edge that was reported in eight runs, the last one then."""
        self._insert(
            tables.edge,
            **{
                "upstream_key": upstream,
                "downstream_key": downstream,
                "job_key": 1,
                "job_namespace": "jobs",
                "job_name": "job",
                "first_seen_at": to_micros(when - timedelta(days=7)),
                "last_seen_at": to_micros(when),
                "last_reported_at": to_micros(when),
                "runs": 8,
                **row,
            },
        )

    def check(  # noqa: PLR0913 - the last three by name
        self,
        upstream: int,
        downstream: int,
        when: datetime,
        outcome: str,
        *,
        oracle: str = "event_log",
        run: str = "r1",
        written: datetime | None = None,
    ) -> None:
        """Add an edge that was compared with an oracle, once it was written."""
        self._insert(
            tables.edge_check,
            upstream_key=upstream,
            downstream_key=downstream,
            job_key=1,
            job_version=1,
            outcome=outcome,
            oracle=oracle,
            root_run_id=run,
            producer="listener",
            adapter_version="1.0",
            written_at=to_micros(written or when),
            first_checked_at=to_micros(when),
            checked_at=to_micros(when),
        )

    def batch(self, landed: datetime) -> None:
        """Add a batch of one event: what was written before it landed is of it."""
        self.seq += 1
        self._insert(
            tables.batch,
            query_id="q",
            batch_id=self.seq,
            after_seq=self.seq - 1,
            last_seq=self.seq,
            events=1,
            duplicates=0,
            landed_at=to_micros(landed),
        )

    def event(self, when: datetime, lag_seconds: float, *, is_history: bool = False) -> None:
        """Add a batch of one event that landed that long after it happened."""
        landed = when + timedelta(seconds=lag_seconds)
        self.batch(landed)
        self._insert(
            tables.event,
            event_time=to_micros(when),
            event_key=self.seq,
            landed_at=to_micros(landed),
            last_seq=self.seq,
            is_streaming=False,
            is_history=is_history,
            is_skewed=False,
        )

    def failed(self, at: int, when: datetime) -> None:
        """Add a run that was to write the dataset began, and failed then."""
        name, now = f"failed-{when:%dT%H%M%S}", to_micros(when)
        seen = {"first_event_at": now, "last_event_at": now, "landed_at": now}
        job = {"job_namespace": "jobs", "job_name": "job"}
        root = {f"root_{field}": value for field, value in job.items()}
        run = {"run_key": key(name), "run_id": name, "root_run_id": name, "failed_at": now}
        self._insert(tables.run, **run, **job, **root, **seen, is_history=False)
        io = {"dataset_key": at, "direction": "write", "has_statistics": False}
        self._insert(tables.run_io, run_key=key(name), **io, **seen, is_reported=True)

    def rows(self, table: Any) -> list[dict[str, Any]]:  # noqa: ANN401
        """Return all rows of a table, in the order of its key."""
        query = table.select().order_by(*table.primary_key)
        with self.engine.connect() as connection:
            return [dict(row) for row in connection.execute(query).mappings()]

"""Catalog with a few datasets, whose states a test sets as an evaluation would."""

import itertools
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Engine, Row, Table, delete, insert, update

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.catalog.upsert import fold_rows
from lineage.names.keys import key
from lineage.process.clock import SECOND_MICROS, to_micros

NAMESPACE = "s3://shop"
JOBS = "spark"
DAY = 86_400
MIDNIGHT = to_micros(datetime(2026, 11, 21, tzinfo=UTC))


def micros(seconds: float) -> int:
    """Return the time so many seconds after midnight."""
    return MIDNIGHT + round(seconds * SECOND_MICROS)


def dataset(name: str) -> int:
    """Return the key of a dataset."""
    return key(NAMESPACE, name)


def job(name: str) -> int:
    """Return the key of the job that writes a dataset, as roots have it."""
    return key(JOBS, f"make_{name}")


class CatalogBuilder:
    """Datasets that are each written daily, at midnight, by a job named after them."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._runs = 0
        self._edges: list[dict[str, Any]] = []

    def add(self, *names: str, tier: str = "important", **policy: Any) -> None:  # noqa: ANN401
        """Add good datasets."""
        with write_transaction(self.engine) as connection:
            for table, rows in rows_of(names, tier, **policy).items():
                connection.execute(insert(tables.metadata.tables[table]), rows)

    def chain(self, *names: str) -> None:
        """Add edges: each dataset is made of the one before it."""
        for upstream, downstream in itertools.pairwise(names):
            self.pend_edge(upstream, downstream)
        self.flush_edges()

    def pend_edge(self, upstream: str, downstream: str) -> None:
        """Prepare an edge, which the next flush adds."""
        seen = {"first_seen_at": micros(-9 * DAY), "last_seen_at": micros(0)}
        made = {"job_namespace": JOBS, "job_name": f"make_{downstream}"}
        ends = {"upstream_key": dataset(upstream), "downstream_key": dataset(downstream)}
        reported = {"job_key": job(downstream), "runs": 10, "last_reported_at": micros(0)}
        self._edges.append(ends | made | seen | reported)

    def flush_edges(self) -> None:
        """Add the prepared edges."""
        with write_transaction(self.engine) as connection:
            connection.execute(insert(tables.edge), self._edges)
        self._edges = []

    def say(self, name: str, state: str, reason: str | None = None, **fields: Any) -> None:  # noqa: ANN401
        """Set the state of freshness of a dataset, or of another SLI, in the newest evaluation."""
        row = _state(name) | {"sli": fields.pop("sli", "M2"), "state": state, "reason": reason}
        row |= {"since": micros(fields.pop("since", 0))} | fields
        with write_transaction(self.engine) as connection:
            fold_rows(connection, tables.dataset_state, [row])

    def clear_last_write(self, name: str) -> None:
        """Delete the time of the last write, as if no job had written the dataset."""
        table = tables.dataset_activity
        with write_transaction(self.engine) as connection:
            own = table.c.dataset_key == dataset(name)
            connection.execute(table.update().where(own).values(last_written_at=None))

    def add_good_runs(self, activities: Iterable[Row[Any]], engine_version: str) -> None:
        """Add a good run for the newest write of each."""
        for activity in activities:
            self._runs += 1
            run, name = f"run-{self._runs}", activity.last_job_name.removeprefix("make_")
            good = _run(self._runs, run, name, 0) | {"engine_version": engine_version}
            self._insert(tables.run, good | {"completed_at": micros(0)})
            table = tables.dataset_activity
            with write_transaction(self.engine) as connection:
                mine = update(table).where(table.c.dataset_key == activity.dataset_key)
                connection.execute(mine.values(last_write_root_run_id=run))

    def own(self, name: str, owner: str) -> None:
        """Set the owner of a dataset, as the policy would."""
        table = tables.dataset_policy
        with write_transaction(self.engine) as connection:
            mine = update(table).where(table.c.dataset_key == dataset(name))
            connection.execute(mine.values(owner=owner))

    def fail(self, name: str, at: float, **fields: Any) -> str:  # noqa: ANN401
        """Fail a run of its job; return its id."""
        run = self.start(name, at, **{"failed_at": micros(at), "error_message": "boom"} | fields)
        changed = {"last_failed_at": micros(at), "last_failed_run_id": run}
        row = {"dataset_key": dataset(name), "writes": 9, "learned_writes": 9} | changed
        with write_transaction(self.engine) as connection:
            fold_rows(connection, tables.dataset_activity, [row])
        return run

    def start(self, name: str, at: float, **fields: Any) -> str:  # noqa: ANN401
        """Start a run of its job; return its id."""
        self._runs += 1
        run = f"run-{self._runs}"
        self._insert(tables.run, _run(self._runs, run, name, at) | fields)
        self._insert(tables.run_io, _io(self._runs, name, at))
        return run

    def evaluate(self, at: float) -> None:
        """Add an evaluation."""
        row = {"as_of": micros(at), "previous_as_of": None, "last_seq": 0, "datasets": 0}
        with write_transaction(self.engine) as connection:
            connection.execute(delete(tables.evaluation))
            connection.execute(insert(tables.evaluation).values(**row, policy_hash="", seconds=0.0))

    def note(self, **times: float | None) -> None:
        """Set times of the catalog, in seconds after midnight; None: 0, as for no time."""
        rows = [
            {"name": name, "value": str(0 if at is None else micros(at))}
            for name, at in times.items()
        ]
        with write_transaction(self.engine) as connection:
            fold_rows(connection, tables.meta, rows)

    def _insert(self, table: Table, row: dict[str, Any]) -> None:
        with write_transaction(self.engine) as connection:
            connection.execute(insert(table).values(**row))


def rows_of(
    names: Iterable[str],
    tier: str = "important",
    **policy: Any,  # noqa: ANN401
) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of good datasets, by table."""
    every = [*names]
    return {
        "dataset": [_dataset(name) for name in every],
        "dataset_policy": [_policy(dataset(name), tier) | policy for name in every],
        "dataset_limit": [_limit(dataset(name)) for name in every],
        "dataset_activity": [_activity(dataset(name), name) for name in every],
        "dataset_state": [_state(name) for name in every],
    }


def _dataset(name: str) -> dict[str, Any]:
    number = dataset(name)
    seen = {"first_seen_at": micros(-9 * DAY), "last_seen_at": micros(0)}
    return {
        "dataset_key": number,
        "namespace": NAMESPACE,
        "name": name,
        "canonical_key": number,
        **seen,
    }


def _state(name: str) -> dict[str, Any]:
    row = {"dataset_key": dataset(name), "sli": "M2", "state": "good", "reason": None}
    reported = {"was_good": True, "is_worst": True, "limit_seconds": DAY + 3600.0}
    return row | reported | {"since": micros(0)}


def _policy(number: int, tier: str) -> dict[str, Any]:
    flags = ("is_source", "is_generated", "is_streaming", "is_declared")
    fields = {"dataset_key": number, "tier": tier, "tier_origin": "declared", "owner": "sales"}
    return fields | dict.fromkeys(flags, False)


def _limit(number: int) -> dict[str, Any]:
    learned = {"limit_seconds": DAY + 3600.0, "cadence_class": "periodic", "gaps": 99}
    reported = {"cadence_seconds": float(DAY), "explanation": "", "learned_at": micros(-DAY)}
    return {"dataset_key": number, **learned, **reported}


def _activity(number: int, name: str) -> dict[str, Any]:
    job_names = {"last_job_namespace": JOBS, "last_job_name": f"make_{name}"}
    instants = {"last_written_at": micros(0), "last_started_at": micros(-60)}
    return {"dataset_key": number, "writes": 9, "learned_writes": 9, **job_names, **instants}


def _run(number: int, run: str, name: str, at: float) -> dict[str, Any]:
    of = {"job_namespace": JOBS, "job_name": f"make_{name}.insert", "engine": "spark"}
    root = {"root_job_namespace": JOBS, "root_job_name": f"make_{name}", "root_run_id": run}
    seen = dict.fromkeys(("first_event_at", "last_event_at", "landed_at"), micros(at))
    return {"run_key": number, "run_id": run, "is_history": False, **of, **root, **seen}


def _io(number: int, name: str, at: float) -> dict[str, Any]:
    seen = dict.fromkeys(("first_event_at", "last_event_at", "landed_at"), micros(at))
    reported = {"has_statistics": False, "is_reported": True, "direction": "write"}
    return {"run_key": number, "dataset_key": dataset(name), **seen, **reported}

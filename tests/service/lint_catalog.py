"""Catalogs of names, for lints."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Engine, insert

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.catalog.reader import open_reader
from lineage.names.keys import key
from lineage.names.patterns import pattern_of
from lineage.process.clock import to_micros
from service.queries.lint.findings import LintAnswer
from service.queries.lint.lint import find_duplicates_and_claims

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


def add(catalog: Engine, namespace: str, name: str, *, written: bool = False) -> int:
    """Add a dataset that is seen now, and written now if `written`."""
    at, now = key(namespace, name), to_micros(NOW)
    seen = {"first_seen_at": now, "last_seen_at": now}
    row = {"dataset_key": at, "namespace": namespace, "name": name, "canonical_key": at, **seen}
    activity = {"dataset_key": at, "writes": 0, "learned_writes": 0}
    with write_transaction(catalog) as connection:
        connection.execute(insert(tables.dataset), row)
        wrote = {"last_written_at": now if written else None}
        connection.execute(insert(tables.dataset_activity), {**activity, **wrote})
    return at


def alias(catalog: Engine, dataset: int, namespace: str, name: str, rule: str = "symlink") -> None:
    """Add another name of a dataset."""
    row = {"alias_key": key(namespace, name), "dataset_key": dataset, "rule": rule}
    seen = {"first_seen_at": 0, "last_seen_at": 0}
    with write_transaction(catalog) as connection:
        connection.execute(
            insert(tables.dataset_alias), {**row, "namespace": namespace, "name": name, **seen}
        )


def add_read(catalog: Engine, dataset: int, job: str) -> None:
    """Add a read of the dataset by a run of this job."""
    flags = {"is_reported": True, "is_streaming": False, "is_history": False}
    row: dict[str, Any] = {"dataset_key": dataset, "root_run_id": f"{job}-1", "bucket": 0, **flags}
    job_row = {"job_namespace": "jobs", "job_name": job, "read_at": 0, "landed_at": 0}
    with write_transaction(catalog) as connection:
        connection.execute(insert(tables.dataset_read), row | job_row)


def feed(catalog: Engine, upstream: int, downstream: int) -> None:
    """Add an edge: a job reads the one and writes the other."""
    job = {"job_key": 1, "job_namespace": "jobs", "job_name": "build", "runs": 1}
    seen = {"first_seen_at": 0, "last_seen_at": 0}
    ends = {"upstream_key": upstream, "downstream_key": downstream}
    with write_transaction(catalog) as connection:
        connection.execute(insert(tables.edge), ends | job | seen)


def explode(catalog: Engine, namespace: str, name: str, new: int) -> None:
    """Record that the pattern of this name grew by so many datasets."""
    pattern = {"namespace": pattern_of(namespace), "name": pattern_of(name)}
    grown = {"new_datasets": new, "is_explosion": new >= 20}
    example = {"example_namespace": namespace, "example_name": name}
    with write_transaction(catalog) as connection:
        connection.execute(insert(tables.name_pattern), pattern | grown | example)


def run_lint(catalog: Engine, **bounds: int) -> LintAnswer:
    """Return the findings of a lint of the catalog."""
    with open_reader(catalog.url.render_as_string(hide_password=False)) as reader:
        return find_duplicates_and_claims(reader, **bounds)

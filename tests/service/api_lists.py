"""Lists of the API, and functions that add rows to them."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from sqlalchemy import Engine, insert

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.names.keys import key
from tests.service import shop

STATES = ("bad", "good", "learning", "unknown")
TIERS = ("critical", "important", "optional")


class Listed(NamedTuple):
    """List of the API: its path, the name of its rows, and what identifies a row."""

    path: str
    rows: str
    name: Callable[[dict[str, Any]], Any]
    add: Callable[..., None]
    named: Callable[[int], str]


def add_datasets(engine: Engine, numbers: Iterable[int], namespace: str = shop.NAMESPACE) -> None:
    """Add a dataset for each number, in any state and tier."""
    for number in numbers:
        shop.add_dataset(engine, namespace, f"more/{number:03}", STATES[number % 4])


def add_incident(engine: Engine, numbers: Iterable[int], namespace: str = shop.NAMESPACE) -> None:
    """Add an incident for each number, pages and tickets, with a dataset each."""
    rows = list(numbers)
    with write_transaction(engine) as connection:
        for number in rows:
            name = f"affected/{number:03}"
            member = {"dataset_key": key(namespace, name), "incident_id": f"inc-{number:03}"}
            connection.execute(insert(tables.dataset), [shop.dataset_row(name, namespace)])
            connection.execute(insert(tables.incident), [_incident(number, namespace, name)])
            connection.execute(insert(tables.incident_member), [_MEMBER | member])


def add_runs(engine: Engine, numbers: Iterable[int], hour: float | None = None) -> None:
    """Add a run for each number that wrote `core/orders`, in order of time."""
    core = shop.dataset_key(shop.CORE)
    with write_transaction(engine) as connection:
        for number in numbers:
            run = shop.run_row() | {"run_key": number + 100, "run_id": f"run-{number}"}
            seen = {"last_event_at": shop.at(number if hour is None else hour)}
            connection.execute(insert(tables.run), [run])
            connection.execute(
                insert(tables.run_io), [shop.io_row(number + 100, core, "write") | seen]
            )


def add_audit(engine: Engine, numbers: Iterable[int]) -> None:
    """Add an audit row for each number."""
    with write_transaction(engine) as connection:
        connection.execute(insert(tables.audit), [audit_row(number) for number in numbers])


def audit_row(number: int, who: str = "ann") -> dict[str, Any]:
    """Return a row of `audit`."""
    fields = {"who": who, "via": "api", "action": "suppress_pattern", "detail": "{}"}
    return {"at": shop.at(number), "answer": "done", **fields}


def add_set_aside(engine: Engine, numbers: Iterable[int]) -> None:
    """Insert one for each number."""
    rows = [set_aside_row(number) for number in numbers]
    with write_transaction(engine) as connection:
        connection.execute(insert(tables.event_set_aside), rows)


def set_aside_row(number: int, **given: str | int | None) -> dict[str, Any]:
    """Return a row of `event_set_aside`."""
    return {
        "spool_seq": number,
        "received_at": shop.at(0),
        "origin": "http",
        "kind": "run",
        "bytes": 1_234,
        "error": "ValueError: odd",
        "failed_at": shop.at(1),
        "producer": "https://example.com/spark",
        "job_namespace": "jobs",
        "job_name": f"etl.{number}",
        "run_id": shop.RUN_ID,
    } | given


_MEMBER = {"kind": "late", "steps": 0, "relays": "[]", "job_key": 0} | dict.fromkeys(
    ("onset", "joined_at"), 0
)


def _incident(number: int, namespace: str, name: str) -> dict[str, Any]:
    answer = dict.fromkeys(("life", "because", "evidence", "correlation_id"), "")
    flags = dict.fromkeys(("is_remembered", "is_bridged", "is_flapping", "is_frozen"), False)
    return {
        **answer,
        **flags,
        "incident_id": f"inc-{number:03}",
        "state": "open",
        "revision": 1,
        "what": f"{name} is late",
        "root_entity": "dataset",
        "root_key": key(namespace, name),
        "root_kind": "late",
        "root_namespace": namespace,
        "root_name": name,
        "severity": "page" if number % 3 else "ticket",
        "score": 1.0,
        "onset": shop.at(number),
        "seen_at": shop.at(number),
        "opened_at": shop.at(number // 2),  # two at a time
    }


LISTS = (
    Listed(
        "/api/v1/datasets",
        "datasets",
        lambda row: row["dataset"],
        add_datasets,
        "more/{:03}".format,
    ),
    Listed(
        "/api/v1/incidents", "incidents", lambda row: row["id"], add_incident, "inc-{:03}".format
    ),
    Listed(
        "/api/v1/runs",
        "runs",
        lambda row: row["run_id"],
        add_runs,
        "run-{}".format,
    ),
    Listed("/api/v1/audit", "rows", lambda row: row["id"], add_audit, str),
    Listed("/api/v1/set-aside-events", "events", lambda row: row["spool_seq"], add_set_aside, str),
)

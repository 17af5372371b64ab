"""Shop with everything that a page can show, and names that would break one."""

import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy import Engine, insert, update

from collector.spool_file import SCHEMA
from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.names.keys import key
from lineage.process.clock import to_micros
from service.incidents.diagnosis.ranking import Diagnosis, Difference
from slis.evaluation.dataset_policies import rank_tiers
from slis.evaluation.dataset_states import mark_worst
from tests.lineage.policies import policy_row
from tests.service import shop
from tests.service.api_lists import set_aside_row
from tests.service.shop_columns import edge_row

NOW = datetime(2026, 11, 20, 3, 0, tzinfo=UTC)
LEADER = "lineward-service-7d9f8c6b5d-x2x7q-1a2b3c4d"
_HALF_A_PERIOD = 15 * 86_400 * 1_000_000  # of an error budget, in µs
MARKUP = "<img src=x onerror=alert(1)>"
LONG = "long/" + "x" * 9_995
RIGHT_TO_LEFT = "\u0645\u062e\u0632\u0646/\u202e\u0637\u0644\u0628\u0627\u062a"
HOSTILE = (MARKUP, LONG, RIGHT_TO_LEFT, "\"'&</script><svg onload=alert(2)>", "a\nb\tc {{ 7*7 }}")
INCIDENT, OTHER, OVER = "00000000000000aa", "00000000000000bb", "00000000000000cc"
ROOT_RUN = shop.run_row()["root_run_id"]
EARLIER_RUN = "0195f1c2-7f8e-7000-8000-00000000000e"
_HOW = [{"type": "DIRECT", "subtype": "TRANSFORMATION", "description": f"concat({MARKUP})"}]
_Rows = list[dict[str, Any]]


def fill(engine: Engine, *, now: datetime = NOW) -> None:
    """Add the shop of all tests, two open incidents and a resolved one, and hostile names."""
    shop.fill(engine, evaluated_at=now - timedelta(seconds=12))
    with write_transaction(engine) as connection:
        for table, rows in _rows(to_micros(now)).items():
            connection.execute(insert(tables.metadata.tables[table]), rows)
        mine = tables.run_io.c.dataset_key == shop.dataset_key(shop.CORE)
        connection.execute(update(tables.run_io).where(mine).values(partition=MARKUP))
        mark_worst(connection)
        rank_tiers(connection)


def set_events_aside(engine: Engine) -> None:
    """Set two events aside, of which one was requeued; releases before have no table for them."""
    error = f"PythonException: {MARKUP} " + "x" * 200
    names = {"job_name": HOSTILE[3], "producer": RIGHT_TO_LEFT}
    rows = [
        set_aside_row(7_000_001, error=error, **names),
        set_aside_row(7_000_002, error="Spark ended with exit code 52", bytes=1_048_000),
    ]
    requeued = {"spool_seq": 7_000_001, "requested_at": to_micros(NOW)}
    with write_transaction(engine) as connection:
        connection.execute(insert(tables.event_set_aside), rows)
        connection.execute(insert(tables.event_requeue), requeued)


def lead(engine: Engine) -> None:
    """Have a service lead for three hours: as long a name as a pod of a Deployment has."""
    row = {"name": "service", "holder": LEADER, "epoch": 7, "expires_at": 1 << 60}
    with write_transaction(engine) as connection:
        since = to_micros(NOW - timedelta(hours=3))
        connection.execute(insert(tables.lease), {**row, "since": since})


def reject_events(folder: Path, engine: Engine) -> None:
    """Write a spool with rejected bodies beside a collector that is up, and errors for the lake."""
    body = f'{{"job": "{MARKUP}"}}'.encode() * 40
    rows = [
        (to_micros(NOW), "invalid_event", "run.runId", MARKUP, body, len(body)),
        (to_micros(NOW), "too_large", None, "larger than 1 MiB", body, 2_000_000),
    ]
    columns = "received_at, reason, path, detail, body, body_bytes"
    with closing(sqlite3.connect(folder / "spool.db")) as spool, spool:
        spool.executescript(SCHEMA)
        spool.execute("INSERT INTO heartbeat VALUES (1, ?)", (to_micros(NOW),))
        spool.executemany(f"INSERT INTO rejected ({columns}) VALUES (?, ?, ?, ?, ?, ?)", rows)  # noqa: S608
    error = {"spool_seq": 7, "reason": "partly_unreadable", "detail": f"outputs: {MARKUP}"}
    with write_transaction(engine) as connection:
        landed = {"is_history": False, "landed_at": to_micros(NOW)}
        connection.execute(insert(tables.pipeline_error), error | landed)
        connection.execute(
            insert(tables.access_audit), [_access("allow", ""), _access("deny", RIGHT_TO_LEFT)]
        )


def _access(decision: str, who: str) -> dict[str, Any]:
    asked = {"action": "lineage", "subject": MARKUP, "namespaces": '["s3://shop"]', "status": 403}
    keys = {"request_id": "r", "fingerprint": "f1", "version": "v", "reason": "unknown_token"}
    return {"at": to_micros(NOW), "who": who, "decision": decision, **asked, **keys}


def _rows(now: int) -> dict[str, _Rows]:
    core = shop.dataset_key(shop.CORE)
    hostile = [key(shop.NAMESPACE, name) for name in HOSTILE]
    hour = to_micros(NOW.replace(minute=0)) - 3_600_000_000
    return {
        "dataset": [shop.dataset_row(name) for name in HOSTILE],
        "dataset_policy": [
            policy_row(one, "important", MARKUP, owner_origin="policy") for one in hostile
        ],
        "dataset_state": [shop.state_row(one, "M2", "bad", "upstream_late") for one in hostile],
        "edge": [_edge(core, one) for one in hostile],
        "run": [_earlier()],
        "dataset_write": [
            _write(core, EARLIER_RUN, shop.at(1)),
            _write(core, ROOT_RUN, shop.at(2.5)),
        ],
        "schema_version": [
            _schema(core, 1, '[{"name":"id","type":"int"},{"name":"at","type":"date"}]', 0),
            _schema(core, 2, f'[{{"name":"id","type":"bigint"}},{{"name":"{MARKUP}"}}]', 2),
        ],
        "column_edge": [
            edge_row(shop.dataset_key(shop.RAW), "id", core, "id", _HOW),
            *(edge_row(core, "id", one, MARKUP, _HOW) for one in hostile),
            edge_row(7, "of a dataset without a row", core, MARKUP, None),
        ],
        "edge_check": [
            _check(shop.RAW, core, "good", "event_log"),
            _check(shop.REF, core, "edge_missing", "sql"),
        ],
        "sli_hour": [
            _hour("M1", "critical", hour, 119.6, 120.0),
            _hour("M2", "critical", hour, 110.0, 120.0),
            *(_hour(sli, "critical", hour - _HALF_A_PERIOD, 0.0, 0.0) for sli in ("M1", "M2")),
            _hour("M6", "all", hour, 998.0, 1_000.0),
        ],
        "incident": [
            incident_row(INCIDENT, "open", "page", "job etl fails", now)
            | {"acknowledged_at": now - 120_000_000},  # it came back: nobody is on it
            incident_row(OTHER, "acknowledged", "ticket", f"{MARKUP} is late", now),
            *(
                incident_row(f"{n:016x}", "open", "ticket", f"{n}: {'long text ' * 12}", now)
                for n in range(6)
            ),
            incident_row(OVER, "resolved", "ticket", "mart/daily was late", now),
        ],
        "incident_event": [
            _event(INCIDENT, 1, "opened", None, now - 600_000_000),
            _event(INCIDENT, 2, "rooted", MARKUP, now - 300_000_000),
        ],
        "incident_member": [member_row(core, 0, None), member_row(hostile[0], 1, core)],
        "incident_impact": [
            {"incident_id": INCIDENT, "dataset_key": one, "hops": 1} for one in hostile
        ],
        "incident_telling": [
            {
                "incident_id": INCIDENT,
                "telling": '{"places":[{"known_as":"00000000000000dd"}]}',
                "fault": "failed",
                "addressee": "sales",
                "severity": "page",
                "is_bad": True,
                "is_told": True,
                "policy": "",
            }
        ],
        "notification": [
            message_row(INCIDENT, 1, "slack:#sales", "sent", now),
            message_row("00000000000000dd", 1, "pagerduty:keys/sales", "failed", now),
        ],
    }


def _edge(upstream: int, downstream: int) -> dict[str, Any]:
    names = {"job_key": 7, "job_namespace": "jobs", "job_name": MARKUP}
    seen = {"first_seen_at": 0, "last_seen_at": 0, "runs": 3}
    return {"upstream_key": upstream, "downstream_key": downstream, **names, **seen}


def _earlier() -> dict[str, Any]:
    row = shop.run_row()
    ends = {"completed_at": shop.at(1), "failed_at": None, "error_message": None}
    names = {"run_key": 2, "run_id": EARLIER_RUN, "root_run_id": EARLIER_RUN}
    fields = {"code_version": "aa17c02", "first_event_at": shop.at(0.5), "started_at": shop.at(0.5)}
    return row | ends | names | fields


def _write(dataset: int, run: str, at: int) -> dict[str, Any]:
    return {
        "dataset_key": dataset,
        "root_run_id": run,
        "bucket": 0,
        "written_at": at,
        "job_key": 7,
        "names_input": True,
        "is_reported": True,
        "is_streaming": False,
        "is_history": False,
        "job_namespace": "jobs",
        "job_name": MARKUP,
        "landed_at": at,
        "rows": 1_234_567,
        "code_version": "4f1c0de",
    }


def _schema(dataset: int, schema: int, fields: str, hours: float) -> dict[str, Any]:
    seen = {"first_seen_at": shop.at(hours), "last_seen_at": shop.at(hours + 1)}
    return {"dataset_key": dataset, "schema_key": schema, "fields": fields, **seen}


def _check(upstream: str, downstream: int, outcome: str, oracle: str) -> dict[str, Any]:
    at = shop.at(2.5)
    return {
        "upstream_key": shop.dataset_key(upstream),
        "downstream_key": downstream,
        "job_key": 7,
        "job_version": 1,
        "outcome": outcome,
        "oracle": oracle,
        "root_run_id": ROOT_RUN,
        "producer": "https://github.com/OpenLineage/OpenLineage",
        "adapter_version": "1.53.0",
        "written_at": at,
        "first_checked_at": at,
        "checked_at": at,
    }


def _hour(sli: str, tier: str, hour: int, good: float, total: float) -> dict[str, Any]:
    counts = {"good": good, "total": total, "unknown": 0.0}
    return {"sli": sli, "tier": tier, "hour": hour, **counts}


def incident_row(number: str, state: str, severity: str, what: str, now: int) -> dict[str, Any]:
    is_over, is_taken = state == "resolved", state == "acknowledged"
    found = Diagnosis(
        good_run_id=EARLIER_RUN,
        failed_run_id=ROOT_RUN,
        error_message=f"division by zero in {MARKUP}",
        differences=(Difference("code_version", "aa17c02", "4f1c0de"), Difference(LONG, None, "x")),
    )
    return {
        "incident_id": number,
        "state": state,
        "revision": 2,
        "is_remembered": True,
        "life": msgspec.json.encode({"times": {"first_failed_at": now - 900_000_000}}).decode(),
        "what": what,
        "root_entity": "job",
        "root_key": 7,
        "root_kind": "failed",
        "root_namespace": "jobs",
        "root_name": "etl",
        "severity": severity,
        "because": "",
        "score": 4.0,
        "hit_at": now + 3_600_000_000,
        "owner": "sales",
        "evidence": f"failed: run {shop.RUN_ID}\n{MARKUP}",
        "correlation_id": "c",
        "diagnosis": msgspec.json.encode(found).decode(),
        "is_bridged": False,
        "is_flapping": False,
        "is_frozen": False,
        "onset": now - 900_000_000,
        "seen_at": now - 600_000_000,
        "opened_at": now - 600_000_000,
        "acknowledged_at": now - 60_000_000 if is_taken else None,
        "acknowledged_by": "ada" if is_taken else None,
        "resolved_at": now if is_over else None,
    }


def _event(number: str, revision: int, what: str, by: str | None, at: int) -> dict[str, Any]:
    fields = {"what": what, "reason": "held", "by": by, "detail": "{}"}
    return {"incident_id": number, "revision": revision, "at": at, **fields}


def member_row(dataset: int, steps: int, explained_by: int | None) -> dict[str, Any]:
    return {
        "incident_id": INCIDENT,
        "dataset_key": dataset,
        "kind": "late" if steps else "failed",
        "onset": shop.at(2.5),
        "steps": steps,
        "explained_by": explained_by,
        "relays": "[]",
        "job_key": 7,
        "run_id": None if steps else shop.RUN_ID,
        "joined_at": shop.at(2.6),
    }


def message_row(number: str, revision: int, channel: str, state: str, now: int) -> dict[str, Any]:
    """Return a row of `notification`."""
    at = now - 590_000_000
    return {
        "incident_id": number,
        "revision": revision,
        "channel": channel,
        "target": channel,
        "kind": "opened",
        "message": "{}",
        "state": state,
        "attempts": 3 if state == "failed" else 1,
        "created_at": at,
        "undelivered_since": at,
        "next_attempt_at": at,
        "finished_at": at,
        "reason": "refused" if state == "failed" else "",
        "error": "",
    }

"""Shop with everything that a dashboard shows: rows, a spool, a lake."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, insert, text, update

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.process.clock import to_micros
from lineage.states import SLIS
from tests.service import shop
from tests.slis.lake.lakes import commit, event_row, write, writer_of

NOW = datetime.now(UTC)
POLICY = """
objectives: {coverage: {critical: 0.99}}
owners: [{name: sales}]
datasets:
  - {match: 's3://shop/core/*', pii: true, regulated: true}
suppressions: [{name: reload, match: 's3://none/*', from: FROM, until: UNTIL}]
"""
_COUNTERS = (
    "UPDATE sli_counter SET good = good + 8, total = total + 10, unknown = unknown + 1",
    "UPDATE served_counter SET good = good + 1, total = total + 2",
    "UPDATE sli_explained SET value = value + 1",
    "UPDATE lag_bucket SET value = value + 10",
    "UPDATE served_bucket SET value = value + 10",
    "UPDATE served_count SET value = value + 1",
    "UPDATE error_count SET events = events + 1",
    "UPDATE notification_count SET value = value + 1",
    "UPDATE marquez_counter SET value = value + 1",
)


def policy_text() -> str:
    """Return a policy with a window that is open now."""
    begin, until = (NOW + timedelta(hours=hours) for hours in (-1, 1))
    return POLICY.replace("FROM", begin.isoformat()).replace("UNTIL", until.isoformat())


def ago(seconds: float) -> int:
    """Return the time so long before now."""
    return to_micros(NOW) - int(seconds * 1e6)


def fill(engine: Engine, folder: Path) -> None:
    """Fill the shop with incidents, changes, failures, messages, evidence and a Marquez."""
    shop.fill(engine)
    with write_transaction(engine) as connection:
        for name, rows in {**_counter_rows(), **_incident_rows(), **_beside()}.items():
            connection.execute(insert(tables.metadata.tables[name]), rows)
        connection.execute(text("DELETE FROM batch"))
        core = shop.dataset_key(shop.CORE)
        connection.execute(
            text(
                "UPDATE dataset_activity SET last_failed_at = :at, last_failed_run_id = :run,"
                " last_written_at = :wrote WHERE dataset_key = :key"
            ),
            {"at": ago(600), "wrote": ago(3_600), "run": shop.RUN_ID, "key": core},
        )
        connection.execute(
            text("UPDATE dataset_state SET state = 'bad', reason = 'no_inputs' WHERE sli = 'M1'")
        )
    writer = writer_of(engine, folder)
    commit(writer, write(writer, event_row(1)))


def land(engine: Engine, last_seq: int, events: int) -> None:
    """Commit the last events of the spool as an evaluated batch."""
    at = to_micros(datetime.now(UTC))
    flags = dict.fromkeys(("is_streaming", "is_history", "is_skewed"), False)
    event = {"event_time": at - 5_000_000, "event_key": 1, "landed_at": at, "last_seq": last_seq}
    batch = {"query_id": "q", "batch_id": 7, "after_seq": last_seq - events, "last_seq": last_seq}
    counts = {"events": events, "duplicates": 0, "landed_at": at}
    with write_transaction(engine) as connection:
        connection.execute(insert(tables.event), {**event, **flags})
        connection.execute(insert(tables.batch), {**batch, **counts})
        # A reader beyond the spool's last event shows that the spool has lost events.
        connection.execute(update(tables.reader_cursor).values(seq=last_seq))


def go_on(engine: Engine) -> None:
    """Let time pass: all counters rise, and an evaluation is current."""
    with write_transaction(engine) as connection:
        for statement in _COUNTERS:
            connection.execute(text(statement))
        connection.execute(
            text("UPDATE evaluation SET as_of = :at"), {"at": to_micros(datetime.now(UTC))}
        )


def _counter_rows() -> dict[str, list[dict[str, Any]]]:
    served, counters, nows, hours = [], [], [], []
    known = {("M1", "critical"), ("M6", "all")}  # of the shop
    amounts = {"good": 80.0, "total": 100.0, "unknown": 0.0}
    hour = to_micros(NOW) // 3_600_000_000 * 3_600_000_000
    for sli in SLIS:
        for tier in sli.tiers:
            labels = {"sli": sli.id, "tier": tier, "tier_origin": "declared"}
            if sli.id in ("M7", "M8", "M10"):
                served.append({**labels, **amounts})
            elif (sli.id, tier) not in known:
                counters.append({**labels, "epoch": "e1", **amounts})
            nows.append({**labels, "tier_origin": "x", **amounts, "learning": 0, "excepted": 0})
            hours.append({"sli": sli.id, "tier": tier, "hour": hour, **amounts})
    return {
        "sli_counter": counters,
        "served_counter": served,
        "sli_now": nows,
        "sli_hour": hours,
        "sli_explained": [{"sli": "M1", "tier": "critical", "value": 1.0}],
        "served_count": [{"metric": "lineage_access_unauthorized", "label": "role", "value": 1.0}],
        "error_count": [
            {"stage": stage, "cause": cause, "origin": "live", "events": 3}
            for stage, cause in (("collector", "depth"), ("pipeline", "core_unreadable"))
        ],
        "notification_count": [
            {"metric": metric, "channel": "slack:C1", "label": label, "value": 2.0}
            for metric, label in (("sent", "opened"), ("failed", "rate_limited"))
        ],
        "meta": [
            {"name": "catalog_epoch", "value": "e1"},
            {"name": "evidence_listed_at", "value": str(ago(60))},
            {"name": "evidence_unlisted_folders", "value": "0"},
        ],
    }


def _incident_rows() -> dict[str, list[dict[str, Any]]]:
    core, mart = (shop.dataset_key(name) for name in (shop.CORE, shop.MART))
    seen = {"last_seen_at": ago(60), "fields": "[]", "dataset_key": core}
    write = {"dataset_key": core, "bucket": 0, "job_key": 1, "job_namespace": "j", "job_name": "j"}
    write |= dict.fromkeys(("names_input", "is_reported", "is_streaming", "is_history"), False)
    runs = ((9 * 86_400, "a", "v1"), (3_600, "b", "v2"))
    return {
        "incident": [_incident("i-open", "open", "page"), _incident("i-over", "resolved", "page")],
        "incident_impact": [{"incident_id": "i-open", "dataset_key": mart, "hops": 1}],
        "schema_version": [
            {**seen, "schema_key": number, "first_seen_at": ago(days * 86_400)}
            for number, days in ((1, 20), (2, 1))
        ],
        "dataset_write": [
            {**write, "root_run_id": run, "code_version": code}
            | {"written_at": ago(seconds), "landed_at": ago(seconds)}
            for seconds, run, code in runs
        ],
    }


def _incident(number: str, state: str, severity: str) -> dict[str, Any]:
    named = {"incident_id": number, "state": state, "severity": severity, "revision": 1}
    texts = {"life": "{}", "what": "orders failed", "because": "", "evidence": ""}
    root = {"root_entity": "job", "root_key": 1, "root_kind": "failed", "root_namespace": "jobs"}
    flags = {"is_remembered": state == "open"}
    flags |= dict.fromkeys(("is_bridged", "is_flapping", "is_frozen"), False)
    times = {"onset": ago(900), "seen_at": ago(60), "opened_at": ago(800), "hit_at": ago(-3_600)}
    times |= {"fault_at": ago(900), "accepted_at": ago(790)}
    times |= {"resolved_at": ago(100) if state == "resolved" else None}
    more = {"root_name": "etl", "score": 1.0, "owner": "sales", "correlation_id": number}
    return {**named, **texts, **root, **flags, **times, **more}


def _beside() -> dict[str, list[dict[str, Any]]]:
    stratum = {"producer": "listener", "adapter_version": "1.53", "good": 9, "total": 10}
    alone = {**shop.run_row(), "run_key": 77, "run_id": "alone", "evidence": "alone"}
    return {
        "accuracy_stratum": [
            {**stratum, "ratio": 0.9, "lower": 0.6, "upper": 0.98, "state": "unknown"}
        ],
        "run": [alone],
        "reader_cursor": [{"reader": "marquez", "seq": 1}],
        "marquez_counter": [
            {"name": name, "value": 3} for name in ("forwarded", "set_aside:http_400")
        ],
    }

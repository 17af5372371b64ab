"""Simulated estate in a catalog, for benchmarks of any size."""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Engine, Table, insert, text

from lineage.catalog import tables
from lineage.catalog.engine import exclusive_transaction
from lineage.catalog.queries import split_batches
from lineage.names.keys import key
from lineage.policy import DEFAULT
from lineage.policy.tiers import MIN_RUNS
from lineage.process.clock import to_micros
from slis.evaluation import dataset_policies
from slis.evaluation.dataset_states import mark_worst

NAMESPACE = "s3://bench"
_CHUNK = 20_000
_BAD_SHARE = 0.02
_DAY = timedelta(days=1)
_FAILED_EACH = 50
_WRITE = """
    UPDATE dataset_activity SET last_written_at = :at, last_write_landed_at = :at,
        last_write_root_run_id = :run WHERE dataset_key = :own
"""
_FAIL = """
    UPDATE dataset_activity SET last_failed_at = :at, last_failed_run_id = 'failed',
        last_failure = 'ValueError: bench' WHERE dataset_key = :own
"""
_REPEAT = f"""
    UPDATE edge SET runs = {MIN_RUNS}
    WHERE upstream_key = :upstream_key AND downstream_key = :downstream_key AND job_key = :job_key
"""  # noqa: S608 - a constant
_Row = dict[str, Any]


def fill(engine: Engine, *, datasets: int, edges: int, now: datetime) -> None:
    """Store datasets with daily writes, 2 % of them overdue, three of four with a learned limit.

    Each dataset is made of the three before it, near enough: lineage is mostly local.
    """
    chance = random.Random(7)  # noqa: S311 - the same estate each time
    fill_with(engine, datasets=datasets, pairs=_local(datasets, edges, chance), now=now)


def fill_with(
    engine: Engine,
    *,
    datasets: int,
    pairs: Iterable[tuple[int, int]],
    now: datetime,
    bad_share: float = _BAD_SHARE,
) -> None:
    """Store the same datasets, with an edge for each pair of upstream and downstream numbers."""
    chance = random.Random(7)  # noqa: S311 - as above
    keys = [key(NAMESPACE, name_of(n)) for n in range(datasets)]
    _insert(engine, tables.dataset, _datasets(keys, now))
    _insert(engine, tables.dataset_activity, _activity(keys, now, chance, bad_share))
    _insert(engine, tables.dataset_limit, _limits(keys, now))
    _insert(engine, tables.edge, _edges(keys, pairs, now))


def judge(engine: Engine, *, datasets: int, now: datetime) -> None:
    """Store an evaluation that found all of them good: two states each, without a policy."""
    keys = [key(NAMESPACE, name_of(n)) for n in range(datasets)]
    found = {"as_of": to_micros(now), "last_seq": 0, "datasets": datasets, "seconds": 1.0}
    _insert(engine, tables.evaluation, iter([{**found, "policy_hash": "bench"}]))
    _insert(engine, tables.dataset_state, _states(keys, now))
    dataset_policies.renew_policies(engine, DEFAULT)
    with exclusive_transaction(engine) as connection:
        mark_worst(connection)


def name_of(number: int) -> str:
    """Return the key of that dataset, in `NAMESPACE`."""
    return f"domain_{number % 50}/table_{number}"


def _insert(engine: Engine, table: Table, rows: Iterator[_Row]) -> None:
    for chunk in split_batches(rows, _CHUNK):
        with exclusive_transaction(engine) as connection:
            connection.execute(insert(table), chunk)


def _datasets(keys: list[int], now: datetime) -> Iterator[_Row]:
    for number, at in enumerate(keys):
        yield {
            "dataset_key": at,
            "namespace": NAMESPACE,
            "name": name_of(number),
            "canonical_key": at,
            "first_seen_at": to_micros(now - 90 * _DAY),
            "last_seen_at": to_micros(now),
        }


def _activity(
    keys: list[int], now: datetime, chance: random.Random, bad_share: float
) -> Iterator[_Row]:
    for at in keys:
        age = 3 * _DAY if chance.random() < bad_share else chance.random() * _DAY
        yield {
            "dataset_key": at,
            "last_written_at": to_micros(now - age),
            "last_write_landed_at": to_micros(now - age),
            "last_write_root_run_id": f"run-{at}",
            "last_write_names_input": True,
            "last_write_is_reported": True,
            "last_write_is_streaming": False,
            "last_job_namespace": "bench",
            "last_job_name": f"job_{at % 500}",
            "writes": 90,
            "learned_writes": 90,
            "last_read_at": to_micros(now - chance.random() * _DAY),
        }


def _limits(keys: list[int], now: datetime) -> Iterator[_Row]:
    for number, at in enumerate(keys):
        is_learned = number % 4 > 0
        yield {
            "dataset_key": at,
            "limit_seconds": 26 * 3_600.0 if is_learned else None,
            "cadence_class": "periodic",
            "cadence_seconds": 86_400.0 if is_learned else None,
            "duration_seconds": 600.0,
            "gaps": 89 if is_learned else 3,
            "explanation": "benchmark",
            "learned_at": to_micros(now),
        }


def _states(keys: list[int], now: datetime) -> Iterator[_Row]:
    for at in keys:
        for sli in ("M1", "M2"):
            known = {"state": "good", "since": to_micros(now - _DAY), "was_good": True}
            yield {"dataset_key": at, "sli": sli, **known}


def _local(datasets: int, count: int, chance: random.Random) -> Iterator[tuple[int, int]]:
    seen: set[tuple[int, int]] = set()
    while len(seen) < count:
        down = chance.randrange(1, datasets)
        pair = max(0, down - 1 - int(chance.expovariate(1 / 20))), down
        if pair not in seen:
            seen.add(pair)
            yield pair


def _edges(
    keys: Sequence[int] | Mapping[int, int], pairs: Iterable[tuple[int, int]], now: datetime
) -> Iterator[_Row]:
    for up, down in pairs:
        yield {
            "upstream_key": keys[up],
            "downstream_key": keys[down],
            "job_key": keys[down],
            "job_namespace": "bench",
            "job_name": f"job_{down % 500}",
            "first_seen_at": to_micros(now - 90 * _DAY),
            "last_seen_at": to_micros(now),
            "last_reported_at": to_micros(now),
            "runs": 90,
        }


def land(engine: Engine, *, seq: int, keys: int, events: int, now: datetime) -> None:
    """Store a batch of that many events, and a write of each of the first `keys` datasets."""
    at = to_micros(now)
    batch = {"query_id": "bench", "batch_id": seq, "after_seq": seq - 1, "last_seq": seq}
    counts = {"events": events, "duplicates": 0, "landed_at": at}
    flags = {"is_streaming": False, "is_history": False, "is_skewed": False}
    rows = [
        {"event_time": at - n, "event_key": n, "landed_at": at, "last_seq": seq, **flags}
        for n in range(events)
    ]
    reads = [
        {
            "dataset_key": key(NAMESPACE, name_of(n)),
            "root_run_id": f"reader-{seq}",
            "bucket": 0,
            "job_namespace": "bench",
            "job_name": "reader",
            "read_at": at - 900_000_000,
            "landed_at": at - 900_000_000,
            "is_reported": True,
            "is_streaming": False,
            "is_history": False,
        }
        for n in range(keys)
    ]
    with exclusive_transaction(engine) as connection:
        connection.execute(insert(tables.batch), {**batch, **counts})
        connection.execute(insert(tables.event), rows)
        connection.execute(insert(tables.dataset_read), reads)


def change(  # noqa: PLR0913 - by name
    engine: Engine, *, seq: int, datasets: int, written: int, edges: int, now: datetime
) -> None:
    """Write that many datasets, fail every fiftieth of them, and add edges of new jobs.

    The edges of the round before get the run from which on an edge decides tiers.

    Args:
        engine: of the catalog.
        seq: number of the round: other datasets each time.
        datasets: of the estate.
        written: how many are written.
        edges: how many are new.
        now: when.
    """
    at = to_micros(now)
    numbers = [(seq * written + n) % datasets for n in range(written)]
    keys = [key(NAMESPACE, name_of(n)) for n in numbers]
    fresh = [{"own": one, "at": at, "run": f"run-{seq}"} for one in keys]
    failed = [{"own": one, "at": at + 1} for one in keys[::_FAILED_EACH]]
    new, repeated = (
        _new_edges(each, datasets=datasets, written=written, edges=edges, now=now)
        for each in (seq, seq - 1)
    )
    with exclusive_transaction(engine) as connection:
        for statement, rows in ((_WRITE, fresh), (_FAIL, failed), (_REPEAT, repeated)):
            if rows:
                connection.execute(text(statement), rows)
        if new:
            connection.execute(insert(tables.edge), new)


def _new_edges(seq: int, *, datasets: int, written: int, edges: int, now: datetime) -> list[_Row]:
    """Return the edges that `change` adds in a round."""
    rows = []
    for n in range(seq * written, seq * written + min(written, edges)):
        pair = n % datasets, (n + datasets // 2) % datasets
        [row] = _edges({one: key(NAMESPACE, name_of(one)) for one in pair}, [pair], now)
        rows.append({**row, "job_key": row["job_key"] + seq + 1, "runs": 1})
    return rows


def add(engine: Engine, *, first: int, datasets: int, now: datetime) -> None:
    """Add datasets that were seen now for the first time, and written."""
    keys = [key(NAMESPACE, name_of(n)) for n in range(first, first + datasets)]
    rows = _datasets(keys, now)
    named = ({**row, "name": name_of(first + n)} for n, row in enumerate(rows))
    _insert(engine, tables.dataset, named)
    _insert(engine, tables.dataset_activity, _activity(keys, now, random.Random(7), 0.0))  # noqa: S311 - as above

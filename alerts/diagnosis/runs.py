"""What the runs of the catalog say of themselves, as far as jobs can have it in common."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec
from sqlalchemy import Connection, bindparam, text

from alerts.diagnosis.shared import Attributes, Failing
from lineage.catalog.pieces import pieces
from lineage.keys import key

# What a fleet shares: what is of one job alone, as its code, cannot be common to several.
_SAID = "r.engine, r.engine_version, r.adapter_version, r.spark_conf"
_FAILED = text(
    f"""
    SELECT r.root_job_namespace, r.root_job_name, {_SAID} FROM run r WHERE r.run_id IN :run_ids
    """  # noqa: S608 - constants only
).bindparams(bindparam("run_ids", expanding=True))
_LAST_GOOD = f"""
    SELECT DISTINCT a.last_job_namespace, a.last_job_name, {_SAID}
    FROM dataset_activity a JOIN run r ON r.root_run_id = a.last_write_root_run_id
    WHERE a.last_written_at >= :since
"""  # noqa: S608 - likewise
_LISTENER: Final = "OpenLineage listener"


def last_good(connection: Connection, since: int) -> dict[int, Attributes]:
    """What the newest good run of each job says, if it was since then (µs); by job key."""
    return _by_job(connection.execute(text(_LAST_GOOD), {"since": since}))


def failing(
    connection: Connection, run_ids: Iterable[str], before: Mapping[int, Attributes]
) -> list[Failing]:
    """The jobs of these failed runs, beside what they said when they last were well."""
    now: dict[int, Attributes] = {}
    for piece in pieces(sorted(run_ids)):
        now |= _by_job(connection.execute(_FAILED, {"run_ids": piece}))
    return [Failing(job, said, before.get(job)) for job, said in sorted(now.items())]


def _by_job(rows: Iterable[Any]) -> dict[int, Attributes]:
    found: dict[int, dict[str, str]] = {}
    for namespace, name, *said in rows:
        found.setdefault(key(namespace, name), {}).update(_said(*said))
    return dict(found)


def _said(
    engine: str | None, engine_version: str | None, adapter_version: str | None, conf: str | None
) -> dict[str, str]:
    named = {engine or "engine": engine_version, _LISTENER: adapter_version}
    settings = {} if conf is None else msgspec.json.decode(conf, type=dict[str, str])
    return {name: value for name, value in named.items() if value} | settings

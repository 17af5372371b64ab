"""Storage of an oracle's checks in `edge_check`."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, text

from lineage.names.keys import key
from slis.key_queries import in_parts

_Check = Mapping[str, Any]
"""A row of `accuracy.schemas.FINDINGS`."""

_VERSIONS = """
    SELECT r.root_run_id, max(r.producer) AS producer, max(r.adapter_version) AS adapter_version,
        max(r.engine_version) AS engine_version, max(r.code_version) AS code_version
    FROM run r WHERE coalesce(r.evidence, '') <> 'alone' AND r.root_run_id IN :keys
    GROUP BY r.root_run_id
"""
_KEEP = """
    INSERT INTO edge_check (upstream_key, downstream_key, job_key, job_version, outcome, oracle,
        root_run_id, producer, adapter_version, written_at, first_checked_at, checked_at)
    SELECT :upstream_key, :downstream_key, w.job_key, :job_version, :outcome, :oracle,
        w.root_run_id, :producer, :adapter_version, w.written_at, :at, :at
    FROM dataset_write w WHERE w.dataset_key = :downstream_key AND w.root_run_id = :root_run_id
    ORDER BY w.written_at DESC LIMIT 1
    ON CONFLICT (upstream_key, downstream_key, job_key, job_version, outcome, oracle) DO UPDATE SET
        root_run_id = CASE WHEN excluded.written_at < edge_check.written_at
            THEN edge_check.root_run_id ELSE excluded.root_run_id END,
        written_at = CASE WHEN excluded.written_at < edge_check.written_at
            THEN edge_check.written_at ELSE excluded.written_at END,
        checked_at = excluded.checked_at
"""


def keep_checks(connection: Connection, checks: Sequence[_Check], at: int) -> None:
    """Keep checks of writes, each edge once for each version of what ran and of who reported it.

    The run that is named is the one that wrote last, in whatever order runs are compared.
    """
    versions = _versions(connection, {check["root_run_id"] for check in checks})
    rows = [
        {**check, **versions[check["root_run_id"]], "at": at}
        for check in checks
        if check["root_run_id"] in versions
    ]
    if rows:
        connection.execute(text(_KEEP), rows)


def _versions(connection: Connection, root_run_ids: Iterable[str]) -> dict[str, dict[str, Any]]:
    found = in_parts(connection, _VERSIONS, root_run_ids)
    return {run.root_run_id: _version(run) for run in found}


def _version(run: Row[Any]) -> dict[str, Any]:
    """Return the key by which an edge is checked once: the code that ran, and the reporter."""
    texts = (run.producer, run.adapter_version, run.engine_version, run.code_version)
    return {
        "job_version": key(*(one or "" for one in texts)),
        "producer": run.producer or "unknown",
        "adapter_version": run.adapter_version or "unknown",
    }

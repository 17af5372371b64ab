"""Runs: one by its id, and the last one that meant to write a dataset."""

from typing import Any, Final

from lineage.catalog.queries import ROWS_AND_BYTES, leaf_job
from lineage.catalog.reader import CatalogReader, rows_for
from lineage.catalog.rows import Row, convert_row, pairs_of
from lineage.catalog.run_ends import error_of, failed_at
from lineage.states import run_state
from service.errors import UnknownRunError
from service.queries.cursors import Whole, cursor_of, start_key
from service.queries.dataset_lookup import UNCHOSEN, KnownDataset
from service.queries.deleted_runs import older_runs, older_runs_advice
from service.queries.descriptions import settings_of, tags_of_text
from service.queries.run_shapes import (
    RecentRun,
    RecentRuns,
    RunAnswer,
    RunDetail,
    RunIo,
    RunSummary,
)
from service.queries.timestamps import iso, iso_of, seconds_between
from service.queries.visibility import EVERYTHING, Visibility, sql_filter

NO_RUNS: Final = RecentRuns(None, None, [], partial=True, partial_reason=UNCHOSEN, next_cursor=None)
_MOST_IO = 1_000  # datasets listed of the runs of one id
_PLAIN = (*("run_id", "job_namespace", "job_name", "first_event_at", "started_at", "completed_at"),)
_SUMMARY, _RUN_SUMMARY = (
    ", ".join(
        [
            *(f"{alias}.{column}" for column in _PLAIN),
            f"{failed_at(alias)} AS failed_at",
            f"{alias}.last_event_at",
            f"{leaf_job('name', alias)} AS known_job_name",
        ]
    )
    for alias in ("run", "r")
)
_TEXTS = (
    *("root_run_id", "root_job_namespace", "root_job_name", "leaf_job_namespace", "leaf_job_name"),
    *("parent_run_id", "processing_type"),
    *("integration", "producer", "application_id", "error_message", "engine", "engine_version"),
    *("adapter_version", "job_version", "code_version", "code_url", "code_path", "code_tag"),
    "code_branch",
)
# What is called after what a run makes, as its job is.
_NAMING = (
    "root_job_name",
    "leaf_job_name",
    "job_version",
    "code_url",
    "code_path",
    "code_tag",
    "code_branch",
)
_ERROR = f"{error_of('run')} AS error_message"
_DETAIL_TEXTS = ", ".join(_ERROR if it == "error_message" else it for it in _TEXTS)
_DETAILS = f"""
SELECT {_SUMMARY}, run_key, {_DETAIL_TEXTS}, nominal_start_at, spark_conf, parameters, tags,
  retries_left
FROM run"""  # noqa: S608 - constants only
_DETAIL = f"""
{_DETAILS} WHERE {{column}} = :run_id ORDER BY first_event_at, run_key LIMIT :most
"""
_BY_KEYS = f"{_DETAILS} WHERE run_key IN (:keys)"
_MOST_RUNS = 200  # of one id
_OF_RUNS = "FROM run_io io JOIN dataset d ON d.dataset_key = io.dataset_key"
_INFERRED = """
FROM inferred_input n JOIN run r ON r.run_key = n.run_key AND r.completed_at IS NOT NULL
JOIN dataset d ON d.dataset_key = n.upstream_key
WHERE n.run_key IN (:keys) AND NOT EXISTS (
  SELECT 1 FROM run_io i WHERE i.run_key = n.run_key AND i.dataset_key = n.upstream_key)
"""
_IO = f"""
SELECT io.run_key, d.namespace AS dataset_namespace, d.name AS dataset, io.direction,
  {ROWS_AND_BYTES}, io.dataset_version AS version, io.checksum, io.partition, NULL AS origin
{_OF_RUNS} WHERE io.run_key IN (:keys) AND {{seen}}
UNION ALL SELECT n.run_key, d.namespace, d.name, 'read', NULL, NULL, NULL, NULL, NULL,
  MIN(n.origin)
{_INFERRED} AND {{seen}} GROUP BY n.run_key, d.namespace, d.name
ORDER BY 4, 2, 3 LIMIT :most
"""
_HIDDEN = f"""
SELECT run_key, COUNT(*) AS datasets FROM (
  SELECT io.run_key, io.dataset_key, io.direction {_OF_RUNS}
    WHERE io.run_key IN (:keys) AND NOT ({{seen}})
  UNION SELECT n.run_key, n.upstream_key, 'read' {_INFERRED} AND NOT ({{seen}})
) AS hidden GROUP BY run_key
"""  # noqa: S608 - constants only
_LAST = f"""
SELECT {_SUMMARY}, run_key FROM run WHERE run_key = (
  SELECT io.run_key FROM run_io io JOIN dataset d ON d.dataset_key = io.dataset_key
  WHERE d.canonical_key = :key AND io.direction = 'write'
  ORDER BY io.last_event_at DESC, io.run_key LIMIT 1)
"""  # noqa: S608 - constants only
_RECENT = f"""
SELECT {_RUN_SUMMARY}, newest.directions, r.landed_at,
  (SELECT COUNT(*) FROM run_io x WHERE x.run_key = r.run_key AND x.direction = 'read') AS inputs,
  (SELECT COUNT(*) FROM run_io x WHERE x.run_key = r.run_key AND x.direction = 'write') AS outputs,
  r.evidence, r.producer, r.adapter_version, newest.seen_at, r.run_key
FROM (
  SELECT io.run_key, CASE WHEN MIN(io.direction) = MAX(io.direction) THEN MIN(io.direction)
    ELSE 'both' END AS directions, MAX(io.last_event_at) AS seen_at
  FROM run_io io JOIN dataset d ON d.dataset_key = io.dataset_key WHERE d.canonical_key = :key
  GROUP BY io.run_key {{behind}} ORDER BY seen_at DESC, io.run_key LIMIT :most
) AS newest JOIN run r ON r.run_key = newest.run_key
ORDER BY newest.seen_at DESC, r.run_key
"""  # noqa: S608 - constants only
_BEHIND = "HAVING (-MAX(io.last_event_at), io.run_key) > (-CAST(:seen_at AS BIGINT), :run_key)"


def runs_of_id(
    reader: CatalogReader, run_id: str, visibility: Visibility = EVERYTHING
) -> RunAnswer:
    """Return the runs of this id: two jobs that share an id are two runs.

    A root that reported nothing itself is answered by its runs: pages link to it.

    Who may not see all sees the runs that touched what they may, under their application's name:
    Spark names a job after what it writes, and an error message may name anything. A run that
    touched what they may not see has no name at all: most jobs are called after what they make.

    Raises:
        UnknownRunError: none was ever seen.
    """
    rows = rows_by_id(reader, run_id)
    shown, reason = details_of(reader, rows, visibility, sql_filter(reader, visibility))
    if not shown:
        raise UnknownRunError(f"{unknown_run(run_id)}{older_runs_advice(reader, run_id)}")
    return RunAnswer(shown, reason is not None, reason)


def details_of(
    reader: CatalogReader,
    rows: list[Row],
    visibility: Visibility,
    is_seen: tuple[str, dict[str, str]],
) -> tuple[list[RunDetail], str | None]:
    """Return runs with what they read and wrote, and the reason if some of it is left out.

    Args:
        reader: of the catalog.
        rows: of `rows_by_id` or `rows_by_key`.
        visibility: permissions of the token.
        is_seen: its condition on a dataset, as `seen` gives it, with its values.
    """
    keys = [row.run_key for row in rows]
    condition, names = is_seen
    listed = rows_for(reader, _IO.format(seen=condition), keys, {"most": _MOST_IO + 1, **names})
    by_run: dict[int, list[RunIo]] = {}
    for io in listed[:_MOST_IO]:
        by_run.setdefault(io.run_key, []).append(convert_row(RunIo, io))
    shown = [row for row in rows if visibility.is_whole or row.run_key in by_run]
    hidden = hidden_of(reader, keys, visibility, is_seen)
    reason = f"only the first {_MOST_IO} datasets are listed" if len(listed) > _MOST_IO else None
    if len(rows) == _MOST_RUNS:
        reason = f"only the first {_MOST_RUNS} runs are listed"
    runs = [
        _detail(row, by_run.get(row.run_key, []), hidden.get(row.run_key, 0), visibility)
        for row in shown
    ]
    return runs, reason


def rows_by_id(reader: CatalogReader, run_id: str) -> list[Row]:
    """Return the runs of this id, or those whose root run has it, as `details_of` takes them."""
    values = {"run_id": run_id, "most": _MOST_RUNS}
    found = reader.rows(_DETAIL.format(column="run_id"), values)
    return found or reader.rows(_DETAIL.format(column="root_run_id"), values)


def rows_by_key(reader: CatalogReader, keys: list[int]) -> list[Row]:
    """Return the runs with these keys, in their order, as `details_of` takes them."""
    found = {row.run_key: row for row in rows_for(reader, _BY_KEYS, keys)}
    return [found[one] for one in keys if one in found]


def hidden_of(
    reader: CatalogReader,
    keys: list[int],
    visibility: Visibility,
    is_seen: tuple[str, dict[str, str]] | None = None,
) -> dict[int, int]:
    """Return how many datasets each of these runs touched that may not be seen; 0 is left out."""
    if visibility.is_whole:
        return {}
    condition, names = is_seen or sql_filter(reader, visibility)
    return pairs_of(rows_for(reader, _HIDDEN.format(seen=condition), keys, names))


def unknown_run(run_id: str) -> str:
    """Return the sentence about a run that no event is of."""
    return f"no event of a run {run_id[:80]!r} has been seen"


def last_run(
    reader: CatalogReader, dataset_key: int, visibility: Visibility = EVERYTHING
) -> RunSummary | None:
    """Return the newest run with this dataset as an output, successful or not."""
    rows = reader.rows(_LAST, {"key": dataset_key})
    if not rows:
        return None
    (row,) = rows
    is_cut = bool(hidden_of(reader, [row.run_key], visibility))
    return RunSummary(**_summary(row, visibility, is_cut=is_cut))


def recent_runs(
    reader: CatalogReader,
    named: KnownDataset,
    visibility: Visibility = EVERYTHING,
    *,
    limit: int = 50,
    cursor: str | None = None,
) -> RecentRuns:
    """Return the newest runs that read or wrote this dataset, by event time.

    Raises:
        InvalidRequestError: a cursor that is none of this question's.
    """
    key, namespace, name = named
    question = "runs", key
    behind = start_key(cursor, question, tuple[Whole, Whole])
    values = {"key": key, "most": limit + 1}
    if behind is not None:
        values |= dict(zip(("seen_at", "run_key"), behind, strict=True))
    rows = reader.rows(_RECENT.format(behind="" if behind is None else _BEHIND), values)
    is_cut = len(rows) > limit
    shown = rows[:limit]
    hidden = hidden_of(reader, [row.run_key for row in shown], visibility)
    return RecentRuns(
        dataset_namespace=namespace,
        dataset=name,
        runs=[_recent(row, visibility, is_cut=row.run_key in hidden) for row in shown],
        partial=is_cut,
        partial_reason=f"{limit:,} shown; older ones exist" if is_cut else None,
        next_cursor=cursor_of(question, (shown[-1].seen_at, shown[-1].run_key)) if is_cut else None,
        older=older_runs(reader),
    )


def _recent(row: Row, visibility: Visibility, *, is_cut: bool) -> RecentRun:
    return RecentRun(
        **_summary(row, visibility, is_cut=is_cut),
        direction=row.directions,
        first_event_at=iso_of(row.first_event_at),
        last_event_at=iso_of(row.last_event_at),
        landed_at=iso_of(row.landed_at),
        inputs=row.inputs,
        outputs=row.outputs,
        evidence=row.evidence,
        producer=row.producer,
        adapter_version=row.adapter_version,
    )


def _summary(row: Row, visibility: Visibility, *, is_cut: bool) -> dict[str, Any]:
    """Return fields of a summary; `is_cut`: the run touched what may not be seen."""
    started, completed, failed = row.started_at, row.completed_at, row.failed_at
    finished = completed if failed is None else max(failed, completed or failed)
    name = row.job_name if visibility.is_whole else row.known_job_name
    return {
        "run_id": row.run_id,
        "job_namespace": row.job_namespace,
        "job_name": None if is_cut else name,
        "status": run_state(started_at=started, completed_at=completed, failed_at=failed),
        "started_at": iso(started),
        "finished_at": iso(finished),
        "duration_seconds": seconds_between(started, finished),
    }


def _detail(row: Row, datasets: list[RunIo], hidden: int, visibility: Visibility) -> RunDetail:
    fields = {
        **_summary(row, visibility, is_cut=bool(hidden)),
        **{column: getattr(row, column) for column in _TEXTS},
    }
    spark_conf, parameters, tags = row.spark_conf, row.parameters, row.tags
    if not visibility.is_whole:
        # Texts that may name what is not to be seen.
        fields["error_message"] = spark_conf = parameters = tags = None
    if hidden:
        fields |= dict.fromkeys(_NAMING)
    return RunDetail(
        **fields,
        nominal_start_at=iso(row.nominal_start_at),
        spark_conf=settings_of(spark_conf),
        parameters=settings_of(parameters),
        datasets=datasets,
        hidden_datasets=hidden,
        tags=tags_of_text(tags),
        retries_left=row.retries_left,
    )

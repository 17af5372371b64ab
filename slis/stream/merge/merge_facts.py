"""Facts of a batch, from staging into the catalog: what events say, key by key."""

from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, case, text

from lineage.catalog import tables
from lineage.catalog.new_rows import insert_or_fold
from lineage.catalog.upsert import both, either, greatest, least, newest, upsert
from slis.stream.facets.assertions import merge_assertions
from slis.stream.facets.column_edges import merge_column_edges
from slis.stream.facets.descriptions import merge_texts_and_tags
from slis.stream.merge.batch_runs import STAGE_NEW_IO, STAGE_NEW_RUNS, stage_runs
from slis.stream.merge.repeats import query_for

_SEEN = {"first_seen_at": least, "last_seen_at": greatest}
_ROOT_TEXTS = (
    *("root_run_id", "root_job_namespace", "root_job_name"),
    *("leaf_job_namespace", "leaf_job_name"),
)
_RUN_TEXTS = (
    *("job_namespace", "job_name", "parent_run_id"),
    *("job_type", "processing_type", "integration", "engine", "engine_version", "adapter_version"),
    *("producer", "application_id", "error_message"),
    *("code_version", "code_url", "code_path", "code_tag", "code_branch", "job_version"),
    *("spark_conf", "parameters", "tags"),
)


def merge_datasets(connection: Connection) -> None:
    """Merge datasets and the spellings that were folded to them."""
    upsert(
        connection,
        tables.dataset,
        """
        SELECT dataset_key, min(first_seen_at) AS first_seen_at, max(last_seen_at) AS last_seen_at,
            max(namespace) AS namespace, max(name) AS name, dataset_key AS canonical_key,
            max(folder_key) AS folder_key
        FROM s_name WHERE is_dataset = 1 GROUP BY dataset_key
        """,
        {**_SEEN, "folder_key": newest},  # the folds of the policy may change
        keeps="namespace name canonical_key",
    )
    upsert(
        connection,
        tables.dataset_alias,
        """
        SELECT alias_key, dataset_key, rule, min(first_seen_at) AS first_seen_at,
            max(last_seen_at) AS last_seen_at, max(namespace) AS namespace, max(name) AS name
        FROM s_alias GROUP BY alias_key, dataset_key, rule
        """,
        _SEEN,
        keeps="namespace name",
    )


_IS_KNOWN = "IN (SELECT run_key FROM t_known)"
# Some clients name a run's parent in its START only. Other events look like those of a root run.
_OF_CHILD = "CASE WHEN parent_run_id IS NOT NULL THEN {} END"


def _by_parent(kept: Any, given: Any) -> ColumnElement[Any]:  # noqa: ANN401 - columns
    """Return the value of the row that has a parent; of two alike, the greater."""
    had, has = kept.table.c.parent_run_id.is_not(None), given.table.c.parent_run_id.is_not(None)
    return case((and_(has, ~had), given), (and_(had, ~has), kept), else_=greatest(kept, given))


_ROOTS_OF_RUN = (
    f"coalesce(max({_OF_CHILD.format(name)}), max({name})) AS {name}" for name in _ROOT_TEXTS
)
_TEXTS_OF_RUN = ", ".join([*(f"max({name}) AS {name}" for name in _RUN_TEXTS), *_ROOTS_OF_RUN])
RUN_QUERY = f"""
    SELECT run_key, max(day) AS day, min(first_event_at) AS first_event_at,
        max(last_event_at) AS last_event_at,
        min(started_at) AS started_at, max(last_start_at) AS last_start_at,
        max(completed_at) AS completed_at, max(last_fail_at) AS last_fail_at,
        max(nominal_start_at) AS nominal_start_at, min(spark_job_id) AS spark_job_id,
        max(retries_left) AS retries_left, {_TEXTS_OF_RUN},
        min(is_history) = 1 AS is_history,
        max(run_id) AS run_id, :landed_at AS landed_at
    FROM s_run WHERE {{chosen}} GROUP BY run_key
"""  # noqa: S608 - our own columns


def merge_runs(
    connection: Connection, landed_at: int, *, is_any_known: bool, has_repeats: bool
) -> None:
    """Merge runs from all of their events: earliest START, latest COMPLETE, and failures.

    A failure stays whatever event follows, except another START.

    Args:
        connection: inside the transaction of the batch.
        landed_at: of new runs.
        is_any_known: whether the catalog knows a run of the batch (`staging.known`).
        has_repeats: whether the batch has a run in several rows.
    """
    insert_or_fold(
        connection,
        tables.run,
        query_for(RUN_QUERY, has_repeats=has_repeats),
        {
            "first_event_at": least,
            "last_event_at": greatest,
            "started_at": least,
            "last_start_at": greatest,
            "completed_at": greatest,
            "last_fail_at": greatest,
            "nominal_start_at": greatest,
            "spark_job_id": least,
            "retries_left": greatest,
            **dict.fromkeys(_RUN_TEXTS, greatest),
            **dict.fromkeys(_ROOT_TEXTS, _by_parent),
            "is_history": both,
        },
        known=f"run_key {_IS_KNOWN}",
        is_any_known=is_any_known,
        keeps="run_id landed_at",
        given={"landed_at": landed_at},
        then=STAGE_NEW_RUNS,
        is_query_cheap=not has_repeats,
    )
    stage_runs(connection, is_any_known=is_any_known)
    failed, evidenced = connection.execute(_COUNT).one()
    for change in (
        *([_FAILED_AT] if failed else ()),
        *([_COMPLETED] if evidenced else ()),
    ):
        for runs in ("run", "t_run"):
            connection.execute(text(change.format(runs=runs)))


# Few batches have such runs.
_COUNT = text("SELECT count(last_fail_at), count(evidence) FROM t_run")
# A FAIL before the run's first START has a local time without a zone. A FAIL before the run's last
# START is over: the run was cleared and started again under the same id.
_FAILED_AT = """
    UPDATE {runs} SET failed_at = CASE
        WHEN last_fail_at < last_start_at AND last_start_at > started_at
            AND completed_at >= last_start_at THEN NULL
        WHEN last_fail_at < started_at THEN started_at
        WHEN last_fail_at < last_start_at THEN NULL
        ELSE last_fail_at END
    WHERE run_key IN (SELECT run_key FROM t_run WHERE last_fail_at IS NOT NULL)
"""
# A run that evidence completed is complete by its own COMPLETE, once that comes.
_COMPLETED = """
    UPDATE {runs} SET evidence = NULL WHERE evidence = 'completed'
    AND run_key IN (SELECT run_key FROM s_run WHERE completed_at IS NOT NULL)
"""


RUN_IO_QUERY = """
        SELECT io.run_key, max(io.day) AS day, n.dataset_key, io.direction,
            min(io.first_event_at) AS first_event_at, max(io.last_event_at) AS last_event_at,
            max(io.streamed_at) AS streamed_at,
            max(io.has_statistics) = 1 AS has_statistics, max(f.lifecycle) AS lifecycle,
            max(io.rows) AS rows, max(io.bytes) AS bytes, max(f.schema_key) AS schema_key,
            max(f.version) AS dataset_version, max(f.checksum) AS checksum,
            max(n.partition) AS partition,
            max(n.partition_at) AS partition_at, 1 = 1 AS is_reported, :landed_at AS landed_at
        FROM s_run_io io JOIN s_name n ON n.spelling_key = io.spelling_key
        LEFT JOIN s_facets f ON f.spelling_key = io.spelling_key AND f.facets_key = io.facets_key
        WHERE {chosen} GROUP BY io.run_key, n.dataset_key, io.direction
"""


def merge_run_io(
    connection: Connection, landed_at: int, *, is_any_known: bool, has_repeats: bool
) -> None:
    """Merge what runs read and wrote; parameters as `merge_runs` has them."""
    insert_or_fold(
        connection,
        tables.run_io,
        query_for(RUN_IO_QUERY, has_repeats=has_repeats),
        {
            "first_event_at": least,
            "has_statistics": either,
            "is_reported": either,
            **dict.fromkeys(
                (
                    *("last_event_at", "streamed_at", "lifecycle", "rows", "bytes", "schema_key"),
                    *("dataset_version", "checksum", "partition", "partition_at"),
                ),
                greatest,
            ),
        },
        known=f"io.run_key {_IS_KNOWN}",
        is_any_known=is_any_known,
        keeps="landed_at",
        given={"landed_at": landed_at},
        then=STAGE_NEW_IO,
    )


def merge_descriptions(connection: Connection) -> None:
    """Merge schemas, versions, checksums, column edges, owners, tags and descriptions."""
    for table, column, more in (
        (tables.schema_version, "schema_key", "max(s.fields) AS fields"),
        (tables.dataset_version, "version", ""),
        (tables.dataset_checksum, "checksum", ""),
    ):
        upsert(
            connection,
            table,
            f"""
            SELECT d.canonical_key AS dataset_key, s.{column},
                min(s.first_seen_at) AS first_seen_at,
                max(s.last_seen_at) AS last_seen_at{", " if more else ""}{more}
            FROM s_facets s JOIN dataset d ON d.dataset_key = s.dataset_key
            WHERE s.{column} IS NOT NULL GROUP BY d.canonical_key, s.{column}
            """,  # noqa: S608 - our own columns
            _SEEN,
            keeps="fields" if more else "",
        )
    merge_assertions(connection)
    merge_column_edges(connection)
    _merge_owners(connection)
    merge_texts_and_tags(connection)


def _merge_owners(connection: Connection) -> None:
    upsert(
        connection,
        tables.ownership,
        """
        SELECT s.subject, coalesce(d.canonical_key, s.subject_key) AS subject_key, s.owner,
            max(s.type) AS type, max(s.last_seen_at) AS last_seen_at
        FROM s_owner s LEFT JOIN dataset d ON s.subject = 'dataset'
            AND d.dataset_key = s.subject_key
        GROUP BY s.subject, coalesce(d.canonical_key, s.subject_key), s.owner
        """,
        {"type": greatest, "last_seen_at": greatest},
    )

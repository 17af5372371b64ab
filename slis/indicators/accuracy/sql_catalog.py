"""SQL texts of the catalog: parsed once each, and compared with the edges of the runs that ran."""

from datetime import datetime, timedelta

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from sqlalchemy import Engine, text

from lineage.catalog.engine import exclusive_transaction
from lineage.catalog.queries import NAMES_INPUTS
from lineage.names.names import FOLD
from lineage.process.clock import to_micros
from lineage.states import SQL_TEXT
from slis.evaluation import catalog_frames
from slis.evaluation.dataset_states import FrameRow
from slis.indicators.accuracy.check_storage import keep_checks
from slis.indicators.accuracy.checks import compare_edges
from slis.indicators.accuracy.reported import REPORTED, whole_writes
from slis.indicators.accuracy.schemas import (
    KNOWN_NAMES,
    LEADS,
    SOURCES,
    SQL_RUNS,
    TOUCHED,
    UNPARSED_SQL,
)
from slis.indicators.accuracy.sql_inputs import (
    select_runs_with_inputs,
    select_runs_without_inputs,
    store_inputs,
)
from slis.indicators.accuracy.sql_match import asked_names, mentioned_names, sql_evidence
from slis.indicators.accuracy.sql_parse import parsed_sql
from slis.spark.planning import computed_once
from slis.stream.names.canonical import LINKS

_MOST_TEXTS, _MOST_RUNS = 500, 5_000  # of a turn, the oldest first
_STATEMENTS = "array<struct<reads: array<string>, writes: array<string>>>"
_UNPARSED = f"""
    SELECT sql_key, dialect, text FROM sql_text WHERE names IS NULL AND problem IS NULL
    ORDER BY first_seen_at, sql_key LIMIT {_MOST_TEXTS}
"""  # noqa: S608 - a number of ours
_PARSED = """
    UPDATE sql_text SET names = :names, problem = :problem, text = NULL WHERE sql_key = :sql_key
"""
# Runs that ended a while ago, or never end.
_DUE = f"""
    SELECT s.run_key, s.sql_key, r.root_run_id FROM sql_run s
    JOIN run r ON r.run_key = s.run_key
    JOIN sql_text t ON t.sql_key = s.sql_key AND (t.names IS NOT NULL OR t.problem IS NOT NULL)
    WHERE s.seen_at <= {{settled}} AND r.last_event_at <= {{settled}}
        AND (r.completed_at IS NOT NULL OR r.failed_at IS NOT NULL
            OR coalesce(r.processing_type, '') = 'STREAMING')
    ORDER BY s.seen_at, s.run_key, s.sql_key LIMIT {_MOST_RUNS}
"""  # noqa: S608 - a number of ours
_NAMES = """
    SELECT due.run_key, due.root_run_id, due.sql_key, t.names FROM ({due}) AS due
    JOIN sql_text t ON t.sql_key = due.sql_key WHERE t.names IS NOT NULL
"""
_TOUCHED = """
    SELECT DISTINCT io.run_key, io.direction, c.dataset_key, c.namespace, c.name
    FROM ({due}) AS due JOIN run_io io ON io.run_key = due.run_key AND io.is_reported
    JOIN dataset d ON d.dataset_key = io.dataset_key
    JOIN dataset c ON c.dataset_key = d.canonical_key
"""
_KNOWN = f"""
    SELECT c.dataset_key, n.namespace, n.name,
        a.last_read_at IS NOT NULL OR a.last_written_at IS NOT NULL
            OR EXISTS (SELECT 1 FROM edge e WHERE e.upstream_key = c.dataset_key),
        c.namespace, c.name
    FROM (
        SELECT dataset_key, namespace, name FROM dataset
        UNION SELECT dataset_key, namespace, name FROM dataset_alias
            WHERE rule IN {LINKS} OR rule = '{FOLD}'
    ) AS n JOIN dataset d ON d.dataset_key = n.dataset_key
    JOIN dataset c ON c.dataset_key = d.canonical_key AND c.retired_at IS NULL
    LEFT JOIN dataset_activity a ON a.dataset_key = c.dataset_key
    WHERE n.name NOT LIKE '%/%'
"""  # noqa: S608 - words of ours
_RUNS = f"""
    SELECT DISTINCT due.run_key, {NAMES_INPUTS.format(run="due.run_key")}, r.is_history
    FROM ({{due}}) AS due JOIN run r ON r.run_key = due.run_key
"""  # noqa: S608 - our own tables
_LEADS = """
    SELECT DISTINCT e.upstream_key, e.downstream_key FROM edge e WHERE e.upstream_key IN (
        SELECT dataset_key FROM ({touched}) AS touched WHERE direction = 'read')
"""
_OF_TEXT = "run_key bigint, root_run_id string, sql_key bigint, names string"
_DONE = "DELETE FROM sql_run WHERE run_key = :run_key AND sql_key = :sql_key"


def check_sql(spark: SparkSession, engine: Engine, now: datetime, settle: timedelta) -> int:
    """Parse new texts, and compare those of runs that ended with the edges of these runs.

    Returns:
        The number of edges that were compared or inferred.
    """
    _parse(spark, engine)
    due = _DUE.format(settled=to_micros(now - settle))
    with engine.connect() as connection:
        ran = [dict(row) for row in connection.execute(text(due)).mappings()]
    if not ran:
        return 0
    checked, inferred = _found(spark, engine, due)
    with exclusive_transaction(engine) as connection:
        checks = [{**row, "oracle": SQL_TEXT} for row in checked]
        keep_checks(connection, checks, to_micros(now))
        if inferred:
            store_inputs(connection, inferred, to_micros(now))
        connection.execute(text(_DONE), ran)
    return len(checked) + len(inferred)


def _parse(spark: SparkSession, engine: Engine) -> None:
    texts = catalog_frames.read_frame(engine, _UNPARSED, UNPARSED_SQL)
    if texts.num_rows:
        parsed = catalog_frames.frame_rows(parsed_sql(spark.createDataFrame(texts, UNPARSED_SQL)))
        with exclusive_transaction(engine) as connection:
            connection.execute(text(_PARSED), parsed)


def _found(spark: SparkSession, engine: Engine, due: str) -> tuple[list[FrameRow], list[FrameRow]]:
    """Return the edges that were compared, and the inputs of runs that name none."""

    def read(query: str, columns: str) -> DataFrame:
        rows = catalog_frames.read_frame(engine, query, columns)
        return catalog_frames.small_frame(spark, rows, columns)

    touching = _TOUCHED.format(due=due)
    touched = read(touching, TOUCHED)
    ran = parsed_statements(read(_NAMES.format(due=due), _OF_TEXT))
    roots = f"SELECT root_run_id FROM ({due}) AS due"  # noqa: S608 - our own query
    leads = read(_LEADS.format(touched=touching), LEADS)
    # Each is used several times: as one plan, Spark would work them out as often.
    with (
        computed_once(mentioned_names(read(_KNOWN, KNOWN_NAMES), ran)) as known,
        computed_once(asked_names(ran, touched, known)) as asked,
        computed_once(sql_evidence(asked, touched, known, leads)) as shown,
    ):
        whole = whole_writes(spark, engine, roots)
        counted = shown.join(whole, ["root_run_id", "downstream_key"], "left_anti")
        runs = read(_RUNS.format(due=due), SQL_RUNS)
        reported = read(REPORTED.format(roots=roots), SOURCES)
        compared = compare_edges(select_runs_with_inputs(counted, runs), reported)
        return (
            catalog_frames.frame_rows(compared),
            catalog_frames.frame_rows(select_runs_without_inputs(counted, runs)),
        )


def parsed_statements(names: DataFrame) -> DataFrame:
    """Return `accuracy.schemas.STATEMENTS` of runs' texts, whose names are JSON."""
    keys = ("run_key", "root_run_id", "sql_key")
    return names.select(
        *keys, F.posexplode(F.from_json("names", _STATEMENTS)).alias("place", "statement")
    ).select(*keys, "place", "statement.reads", "statement.writes")

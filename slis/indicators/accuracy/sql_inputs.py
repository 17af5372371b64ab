"""Inferred inputs of runs that name no inputs, from their SQL."""

from collections.abc import Sequence

from pyspark.sql import DataFrame
from sqlalchemy import Connection

from lineage.states import SQL_TEXT
from slis.evaluation.dataset_states import FrameRow
from slis.stream.derived.derive_facts import derive_facts
from slis.stream.derived.inferred import store_sources
from slis.stream.merge.batch_runs import stage_missing
from slis.stream.staging import staging

_COLUMNS = ("run_key", "downstream_key", "upstream_key", "origin", "namespace", "name")


def select_runs_without_inputs(shown: DataFrame, runs: DataFrame) -> DataFrame:
    """Return what the SQL of runs reads, of the runs that name no inputs.

    Args:
        shown: `accuracy.schemas.SQL_SOURCES`.
        runs: `accuracy.schemas.SQL_RUNS`, of the same runs.

    Returns:
        `accuracy.schemas.SQL_SOURCES`.
    """
    return shown.join(runs.where("NOT names_inputs"), "run_key", "left_semi")


def select_runs_with_inputs(shown: DataFrame, runs: DataFrame) -> DataFrame:
    """Return what the SQL of runs reads, of the runs whose inputs it is compared with.

    A run without inputs takes its inputs from the SQL: the SQL cannot prove them right or wrong.
    A run of the past can no longer be corrected.

    Args:
        shown: `accuracy.schemas.SQL_SOURCES`.
        runs: `accuracy.schemas.SQL_RUNS`, of the same runs.

    Returns:
        `accuracy.schemas.SOURCES`.
    """
    compared = runs.where("names_inputs AND NOT is_history")
    return shown.join(compared, "run_key", "left_semi").drop("run_key")


def store_inputs(connection: Connection, sources: Sequence[FrameRow], landed_at: int) -> None:
    """Store the sources as inferred inputs, and derive the edges of their runs.

    Args:
        connection: inside a transaction of its own.
        sources: `accuracy.schemas.SQL_SOURCES`. A run that names inputs by now keeps these.
        landed_at: of what is new, in microseconds.
    """
    staged = {
        (
            *(row["run_key"], row["downstream_key"], row["upstream_key"], SQL_TEXT),
            *(row["upstream_namespace"], row["upstream_name"]),
        )
        for row in sources
    }
    runs = {(run_key,) for run_key, *_ in staged}
    staging.create(connection)
    staging.fill(
        connection,
        {"t_named_source": (_COLUMNS, list(staged)), "s_run": (("run_key",), list(runs))},
    )
    stage_missing(connection)
    store_sources(connection, landed_at)
    derive_facts(connection, landed_at)

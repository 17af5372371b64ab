"""M3b and M4: the edges judged, in a turn of their own, since they are many and change slowly."""

from datetime import datetime, timedelta

import msgspec
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from sqlalchemy import Connection, Engine, delete, text

from lineage.catalog import tables
from lineage.catalog.engine import exclusive_transaction
from lineage.catalog.meta_keys import EDGES_EVALUATED_AT
from lineage.policy import Policy
from lineage.process.clock import SECOND_MICROS, to_micros
from lineage.sli_limits import MAX_COUNTED_SECONDS
from lineage.states import ACCURACY, CRITICAL
from slis.evaluation import catalog_frames
from slis.evaluation.catalog_frames import frame_rows
from slis.evaluation.counters import (
    OF_EDGES,
    Amounts,
    add_amounts,
    add_to_counters,
    add_to_hours,
    amounts_of,
    counter_row,
    hour_of,
)
from slis.evaluation.dataset_states import (
    FrameRow,
    StateChanges,
    change_states,
    held_states,
    state_changes,
)
from slis.evaluation.ingestion_gaps import SILENCES, our_gaps
from slis.evaluation.sli_schemas import GAPS, INSTANTS
from slis.indicators.accuracy.catalog import latest_checks, standing_checks
from slis.indicators.accuracy.evaluate import accuracy_states, accuracy_tally, strata
from slis.indicators.completeness.edge_catalog import expected_edges, names
from slis.indicators.completeness.edges import edge_states, edge_tally, judge_edges
from slis.meta import put_meta, read_meta_number
from slis.settings import PipelineSettings
from slis.spark.planning import computed_once, local_rows

_SETTLE = timedelta(seconds=PipelineSettings().evidence_settle_seconds)  # the default


class EdgesFound(msgspec.Struct, frozen=True):
    """Rows of the frames that `sli_schemas` and `accuracy.schemas` declare."""

    edges: list[FrameRow]  # TALLIES of M3b
    standing: list[FrameRow]  # TALLIES of M4, of the checks of 30 days
    uncounted: list[FrameRow]  # of those that are in no counter yet
    strata: list[FrameRow]
    states: pa.Table


def evaluate_edges(  # noqa: PLR0913 - the last two by name
    spark: SparkSession,
    engine: Engine,
    policy: Policy,
    as_of: datetime,
    *,
    settle: timedelta = _SETTLE,
    backlog_since: datetime | None = None,
) -> None:
    """Judge all expected edges, and what was compared with the oracles; publish both.

    `settle`: how long after a write its evidence may still come.
    `backlog_since`: when the oldest event that has not landed was received; None: none waits.
    """
    latest = latest_checks(spark, engine, as_of, settle)
    gaps = our_gaps(catalog_frames.read_frame(engine, SILENCES, GAPS), backlog_since)
    frame = spark.createDataFrame(gaps, GAPS)
    found = _found(spark, engine, policy, as_of, latest=latest, gaps=frame)
    changes = state_changes(held_states(engine, OF_EDGES), as_of, found.states)
    with exclusive_transaction(engine) as connection:
        _publish(connection, as_of, found, changes)


def _found(  # noqa: PLR0913 - what is judged, and by what
    spark: SparkSession,
    engine: Engine,
    policy: Policy,
    as_of: datetime,
    *,
    latest: DataFrame,
    gaps: DataFrame,
) -> EdgesFound:
    instants = local_rows(spark, [(as_of,)], INSTANTS)
    objective = float(policy.objective(ACCURACY, CRITICAL) or 0)
    with (
        computed_once(judge_edges(expected_edges(spark, engine, policy), instants, gaps)) as judged,
        computed_once(standing_checks(spark, engine, as_of)) as checked,
    ):
        states = edge_states(judged, names(spark, engine)).unionByName(
            accuracy_states(latest, instants)
        )
        return EdgesFound(
            edges=frame_rows(edge_tally(judged)),
            standing=frame_rows(accuracy_tally(checked, instants)),
            uncounted=frame_rows(accuracy_tally(checked.where("NOT is_counted"), instants)),
            strata=frame_rows(strata(checked, objective=objective)),
            states=states.toArrow(),
        )


def _publish(
    connection: Connection, as_of: datetime, found: EdgesFound, changes: StateChanges
) -> None:
    at = to_micros(as_of)
    previous = read_meta_number(connection, EDGES_EVALUATED_AT)
    passed = (at - previous) / SECOND_MICROS if previous else 0.0
    seconds = min(MAX_COUNTED_SECONDS, max(0.0, passed))
    counts = [_count(row, seconds) for row in found.edges]
    counts += [_count(row, 1.0) for row in found.uncounted]
    add_to_counters(connection, counts)
    add_to_hours(connection, as_of, _hourly(as_of, counts))
    _replace_now(connection, [*found.edges, *found.standing])
    counted = "UPDATE edge_check SET counted_at = :at WHERE counted_at IS NULL"
    connection.execute(text(counted), {"at": at})
    connection.execute(delete(tables.accuracy_stratum))
    if found.strata:
        connection.execute(tables.accuracy_stratum.insert(), found.strata)
    change_states(connection, changes)
    put_meta(connection, {EDGES_EVALUATED_AT: at})


def _count(row: FrameRow, seconds: float) -> FrameRow:
    return counter_row(row["sli"], row["tier"], row["tier_origin"], amounts_of(row, seconds))


def _hourly(as_of: datetime, counts: list[FrameRow]) -> Amounts:
    amounts: Amounts = {}
    for row in counts:
        add_amounts(amounts, (row["sli"], row["tier"], hour_of(as_of)), amounts_of(row))
    return amounts


def _replace_now(connection: Connection, tallies: list[FrameRow]) -> None:
    now = tables.sli_now
    connection.execute(delete(now).where(now.c.sli.in_(OF_EDGES)))
    shown = [{name: row[name] for name in now.c.keys()} for row in tallies]  # noqa: SIM118
    if shown:
        connection.execute(now.insert(), shown)

"""States of M1 and M2: of all datasets, or of those that may have changed since the last time."""

from collections.abc import Collection
from datetime import datetime

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from sqlalchemy import Engine

from lineage.policy import Policy
from lineage.states import BAD, UNKNOWN
from slis.evaluation import datasets_to_judge
from slis.evaluation.catalog_frames import arrow_schema, frame_rows, small_frame
from slis.evaluation.dataset_states import FrameRow
from slis.evaluation.evaluation_memory import SharedInputs
from slis.evaluation.input import EvaluationInput, EvaluationRange, read_rows, stream_keys
from slis.evaluation.judge_datasets import count_datasets, datasets_judged, next_change
from slis.evaluation.reasons import add_notes, add_reasons, explain_not_good
from slis.evaluation.sli_schemas import GAPS, PAUSES, STATES
from slis.spark.planning import computed_once, local_rows

_NEXT = "next_change_at"
_ALSO = (_NEXT, "judgement.bad_since")
_COLUMNS = f"{STATES.strip()}, {_NEXT} timestamp, bad_since timestamp"
_NOT_GOOD = pa.array([BAD, UNKNOWN])


class JudgedDatasets(msgspec.Struct, frozen=True):
    """Datasets that were judged: their rows as they were read, and their states."""

    rows: pa.Table  # of `read_rows`
    states: pa.Table  # `sli_schemas.STATES`, `next_change_at` and `bad_since`


class Judging:
    """Evaluation of M1 and M2 over one range."""

    def __init__(
        self,
        spark: SparkSession,
        engine: Engine,
        at: EvaluationRange,
        policy: Policy,
        shared: SharedInputs,
    ) -> None:
        """Judge nothing yet."""
        self._spark = spark
        self.engine = engine
        self.at = at
        self.shared = shared
        self._policy = policy
        gaps = shared.gaps
        self._gaps = small_frame(spark, gaps, GAPS) if gaps.num_rows else None
        self._pauses = local_rows(spark, shared.pauses, PAUSES) if shared.pauses else None

    def judge_all(self) -> tuple[list[FrameRow], JudgedDatasets]:
        """Return TALLIES and states of all datasets."""
        given = EvaluationInput(self._spark, self.engine, self.at, self._policy)
        facts = given.known()
        with computed_once(self._judged(given)) as judged:
            states = add_reasons(judged, given.edges_out_of_overdue(), _ALSO).toArrow()
            tallies = frame_rows(count_datasets(judged, facts))
            return tallies, JudgedDatasets(given.rows, states.cast(arrow_schema(_COLUMNS)))

    def judge(self, keys: Collection[int]) -> JudgedDatasets:
        """Return the states of these datasets; no Spark job for none.

        Reasons look at other datasets. Most datasets are good, and need none: their states come
        from one job without a join.
        """
        rows = read_rows(self.engine, self.at.as_of, keys)
        if not rows.num_rows:
            return JudgedDatasets(rows, arrow_schema(_COLUMNS).empty_table())
        given = self._given(self._with_inputs(rows))
        states = _of(
            keys, add_notes(self._judged(given), _ALSO).toArrow().cast(arrow_schema(_COLUMNS))
        )
        is_well = pc.invert(pc.is_in(states["state"], _NOT_GOOD))
        not_good = set(states["dataset_key"].filter(pc.invert(is_well)).to_pylist())
        if not_good:
            explained = self._explained(_of(not_good, rows))
            states = pa.concat_tables([states.filter(is_well), _of(not_good, explained)])
        return JudgedDatasets(rows, states)

    def _explained(self, rows: pa.Table) -> pa.Table:
        """Return the states of datasets that are not good, with their reasons."""
        not_good = set(rows["dataset_key"].to_pylist())
        with self.engine.connect() as connection:
            others = datasets_to_judge.late_and_similar(
                connection, not_good, rows["name"].to_pylist()
            )
        beside = read_rows(self.engine, self.at.as_of, others - not_good)
        given = self._given(self._with_inputs(pa.concat_tables([rows, beside])))
        with computed_once(self._judged(given)) as judged:
            explained = explain_not_good(judged, given.edges_out_of_overdue(), _ALSO)
            return explained.toArrow().cast(arrow_schema(_COLUMNS))

    def _with_inputs(self, rows: pa.Table) -> pa.Table:
        """Return the rows and those of the datasets that streams among them read."""
        streams = stream_keys(rows)
        if not streams:
            return rows
        with self.engine.connect() as connection:
            inputs = datasets_to_judge.inputs_of(connection, streams) - set(
                rows["dataset_key"].to_pylist()
            )
        return pa.concat_tables([rows, read_rows(self.engine, self.at.as_of, inputs)])

    def _given(self, rows: pa.Table) -> EvaluationInput:
        keys = rows["dataset_key"].to_pylist()
        return EvaluationInput(
            self._spark, self.engine, self.at, self._policy, keys=keys, rows=rows
        )

    def _judged(self, given: EvaluationInput) -> DataFrame:
        edges = given.edges_into_streams() if stream_keys(given.rows) else None
        judged = datasets_judged(given.known(), edges, self._gaps, self._pauses)
        return judged.withColumn(_NEXT, next_change())


def _of(keys: Collection[int], table: pa.Table) -> pa.Table:
    """Return the rows of these datasets."""
    return table.filter(pc.is_in(table["dataset_key"], pa.array(list(keys), pa.int64())))


def first_seen_after(rows: pa.Table, as_of: datetime) -> frozenset[int]:
    """Return the datasets of a clock ahead, which are judged when their time has come."""
    is_ahead = pc.greater(rows["first_seen_at"], pa.scalar(as_of, rows["first_seen_at"].type))
    return frozenset(rows["dataset_key"].filter(is_ahead).to_pylist())

"""Judging of an estate: what changed since the last evaluation, or, once an hour, everything."""

from datetime import datetime

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import structlog
from sqlalchemy import Engine

from lineage.catalog.engine import exclusive_transaction
from lineage.catalog.meta_keys import CHANGES_MISSED
from slis.evaluation.dataset_states import OF_FACTS, FrameRow, StateChanges
from slis.evaluation.datasets_to_judge import DatasetKeys, find_datasets_to_judge, take_changes
from slis.evaluation.evaluation_memory import (
    AGES_EVERY,
    WHOLE_EVERY,
    EvaluationMemory,
    RememberedEstate,
)
from slis.evaluation.judgements import (
    JudgementChanges,
    held_judgements,
    judgement_rows,
    watched_rows,
)
from slis.evaluation.judging import JudgedDatasets, Judging, first_seen_after
from slis.evaluation.tallies import change_tallies, tallies_of, tally_rows
from slis.evaluation.watched_evidence import find_changed, keep_evidence, read_evidence
from slis.meta import put_meta, read_meta_number

# More than these are judged sooner with all others: their facts come in one piece.
_MOST_KEYS = 50_000
_MOST_SHOWN = 10
log = structlog.get_logger(__name__)


class EstateOutcome(msgspec.Struct, frozen=True):
    """Results of judging an estate, and the changes of the catalog that follow.

    Attributes:
        tallies: TALLIES of M1 and M2 of all datasets.
        judged: the datasets that were judged.
        keys: the datasets that were to be judged; None: all.
        maybe_changed: those that may have changed since the last evaluation; None: not known.
        aged: the datasets whose ages are to be written; None: all.
        judgements: changes of `dataset_judgement`; None: no evaluation follows this one.
        estate: for the next evaluation; None: likewise.
    """

    tallies: list[FrameRow]
    judged: JudgedDatasets
    keys: DatasetKeys | None
    maybe_changed: DatasetKeys | None
    aged: DatasetKeys | None
    judgements: JudgementChanges | None
    estate: RememberedEstate | None


def judge_estate(judging: Judging, memory: EvaluationMemory | None) -> EstateOutcome:
    """Judge what may have changed since the evaluation in `memory`, or everything.

    Args:
        judging: over the range of the evaluation.
        memory: of this process; None: everything is judged, and nothing is remembered.
    """
    if memory is None:
        tallies, judged = judging.judge_all()
        return EstateOutcome(tallies, judged, None, None, None, None, None)
    at = judging.at
    before = memory.take(at.previous_as_of, at.as_of)
    memory.changed |= take_changes(judging.engine)
    to_judge = None if before is None else _find_to_judge(judging, before, memory.changed)
    if before is None or to_judge is None or _is_whole_due(before, at.as_of, to_judge):
        return _judge_all(judging, to_judge)
    return _follow(judging, before, to_judge)


def _is_whole_due(before: RememberedEstate, as_of: datetime, to_judge: DatasetKeys) -> bool:
    return as_of - before.whole_at >= WHOLE_EVERY or len(to_judge) > _MOST_KEYS


def _find_to_judge(judging: Judging, before: RememberedEstate, changed: DatasetKeys) -> DatasetKeys:
    as_of, keys = judging.at.as_of, before.watched["dataset_key"].to_pylist()
    found = changed | find_changed(before.watched, read_evidence(judging.engine, keys))
    with judging.engine.connect() as connection:
        return find_datasets_to_judge(
            connection, as_of, before, changed=found, shared=judging.shared
        )


def _judge_all(judging: Judging, to_judge: DatasetKeys | None) -> EstateOutcome:
    tallies, judged = judging.judge_all()
    as_of = judging.at.as_of
    estate = RememberedEstate(
        as_of=as_of,
        whole_at=as_of,
        ages_at=as_of,
        shared=judging.shared,
        watched=_watched(judged),
        ahead=first_seen_after(judged.rows, as_of),
        tallies=tallies_of(tallies),
    )
    rows = judgement_rows(judged.rows, judged.states)
    changes = JudgementChanges(rows, is_whole=True)
    return EstateOutcome(tallies, judged, None, to_judge, None, changes, estate)


def _follow(judging: Judging, before: RememberedEstate, keys: DatasetKeys) -> EstateOutcome:
    """Judge these datasets, and take all others from the evaluation before."""
    with judging.engine.connect() as connection:
        held = held_judgements(connection, keys)
    judged = judging.judge(keys)
    rows = list(judgement_rows(judged.rows, judged.states))
    is_judged = pc.is_in(before.watched["dataset_key"], pa.array(list(keys), pa.int64()))
    still = before.watched.filter(pc.invert(is_judged))
    as_of = judging.at.as_of
    are_ages_due = as_of - before.ages_at >= AGES_EVERY
    estate = msgspec.structs.replace(
        before,
        as_of=as_of,
        ages_at=as_of if are_ages_due else before.ages_at,
        shared=judging.shared,
        watched=pa.concat_tables([still, _watched(judged)]),
        ahead=first_seen_after(judged.rows, as_of),
        tallies=change_tallies(before.tallies, held, rows),
    )
    gone = keys - {row["dataset_key"] for row in rows}
    changes = JudgementChanges(rows, sorted(gone))
    aged = None if are_ages_due else keys | set(estate.watched["dataset_key"].to_pylist())
    tallies = tally_rows(estate.tallies, as_of)
    return EstateOutcome(tallies, judged, keys, keys, aged, changes, estate)


def _watched(judged: JudgedDatasets) -> pa.Table:
    return keep_evidence(watched_rows(judged.rows, judged.states), judged.states)


def note_missed(engine: Engine, found: EstateOutcome, changes: StateChanges) -> None:
    """Log and count what evaluations before missed, where everything was judged.

    A state of another dataset changed: a deadline or an input was forgotten.
    """
    if found.keys is not None or found.maybe_changed is None:
        return
    own = changes.rows.filter(pc.is_in(changes.rows["sli"], pa.array(OF_FACTS)))
    changed = set(own["dataset_key"].to_pylist())
    changed |= {dataset for dataset, sli in changes.gone if sli in OF_FACTS}
    if not (missed := changed - found.maybe_changed):
        return
    shown = sorted(missed)[:_MOST_SHOWN]
    log.error("evaluation_missed_changes", datasets=len(missed), dataset_keys=shown)
    with exclusive_transaction(engine) as connection:
        before = read_meta_number(connection, CHANGES_MISSED) or 0
        put_meta(connection, {CHANGES_MISSED: before + len(missed)})

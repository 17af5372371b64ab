"""Alarms on labelled gaps: false ones by dataset-weeks, outages found and how soon."""

from collections.abc import Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from lab.histories import folder
from lab.histories.folder import SCHEDULED, WriteHistory
from lab.histories.history_baselines import usual_gaps
from lab.simulation.wall_clock import NEVER_DUE
from lineage.graph.adjacency import Flags
from lineage.process.clock import SECOND_MICROS
from slis.cadence.working_week import Floats, Micros

# An evaluation follows a deadline within half a minute: what came by then was never called late.
_GRACE = 30 * SECOND_MICROS
_WEEK = 604_800 * SECOND_MICROS
SCHEDULED_ALL, ALL = "scheduled", "all"


class JudgedWrites(msgspec.Struct, frozen=True):
    """Gaps of all histories in which limits were learned: arrays of one length."""

    repository: npt.NDArray[np.str_]
    cadence: npt.NDArray[np.str_]
    label: npt.NDArray[np.str_]
    started_at: Micros
    ended_at: Micros
    usual: Floats
    has_limit: Flags

    def of_classes(self, name: str) -> Flags:
        """Return the gaps of a class, of all schedules, or all."""
        if name == SCHEDULED_ALL:
            return np.isin(self.cadence, SCHEDULED)
        return np.ones(self.cadence.size, dtype=np.bool_) if name == ALL else self.cadence == name


class AlarmFigures(msgspec.Struct, frozen=True):
    """Alarms of a rule on the gaps of a class in which the product has a limit.

    `outages` and `outages_found` are of those gaps, `outages_without_limit` of the others. Delays
    count from the last write, in median gaps of the 60 days before it.
    """

    cadence: str
    rule: str
    dataset_weeks: float
    false_alarms: int
    false_alarms_per_1000_weeks: float
    outages: int
    outages_found: int
    outages_without_limit: int
    delay_median: float | None
    delay_longest_tenth: float | None
    holidays: str
    late: str
    missed_slots: str
    changes: str


def judge_gaps(histories: Sequence[WriteHistory], due: Sequence[Micros]) -> JudgedWrites:
    """Gather the gaps of all histories, in their order."""
    sizes = [history.written_at.size - 1 for history in histories]
    return JudgedWrites(
        repository=np.repeat([history.repository for history in histories], sizes),
        cadence=np.concatenate([history.classes for history in histories]),
        label=np.concatenate([history.labels for history in histories]),
        started_at=np.concatenate([history.written_at[:-1] for history in histories]),
        ended_at=np.concatenate([history.written_at[1:] for history in histories]),
        usual=np.concatenate([usual_gaps(history) for history in histories]),
        has_limit=np.concatenate(due) < NEVER_DUE,
    )


def is_alarmed(gaps: JudgedWrites, due: Micros) -> Flags:
    """Return which gaps with a limit lasted beyond when a rule calls them late."""
    return gaps.has_limit & (gaps.ended_at - _GRACE > due)


def false_alarm_rate(gaps: JudgedWrites, due: Micros, among: Flags) -> float:
    """Return false alarms in 1,000 dataset-weeks."""
    is_false = among & is_alarmed(gaps, due) & (gaps.label == folder.NORMAL)
    return 1_000 * float(is_false.sum()) / max(_weeks(gaps, among), 1e-9)


def outages_found(gaps: JudgedWrites, due: Micros, among: Flags) -> tuple[int, int]:
    """Return how many outages a rule found, and how many there were, where there is a limit."""
    outages = among & gaps.has_limit & (gaps.label == folder.OUTAGE)
    return int((outages & is_alarmed(gaps, due)).sum()), int(outages.sum())


def class_figures(name: str, rule: str, gaps: JudgedWrites, due: Micros) -> AlarmFigures:
    """Count what one rule did to one class."""
    among = gaps.of_classes(name)
    alarmed = is_alarmed(gaps, due)
    found, outages = outages_found(gaps, due, among)
    is_found = among & alarmed & (gaps.label == folder.OUTAGE)
    delays = (due[is_found] - gaps.started_at[is_found]) / gaps.usual[is_found]

    def share(label: str) -> str:
        labelled = among & gaps.has_limit & (gaps.label == label)
        return f"{int((labelled & alarmed).sum())} of {int(labelled.sum())}"

    is_without = among & ~gaps.has_limit & (gaps.label == folder.OUTAGE)
    return AlarmFigures(
        cadence=name,
        rule=rule,
        dataset_weeks=_weeks(gaps, among),
        false_alarms=int((among & alarmed & (gaps.label == folder.NORMAL)).sum()),
        false_alarms_per_1000_weeks=false_alarm_rate(gaps, due, among),
        outages=outages,
        outages_found=found,
        outages_without_limit=int(is_without.sum()),
        delay_median=_quantile(delays, 0.5),
        delay_longest_tenth=_quantile(delays, 0.9),
        holidays=share(folder.HOLIDAY),
        late=share(folder.LATE),
        missed_slots=share(folder.MISSED_SLOT),
        changes=share(folder.PLANNED_CHANGE),
    )


def _weeks(gaps: JudgedWrites, among: Flags) -> float:
    lasted = (gaps.ended_at - gaps.started_at)[among & gaps.has_limit]
    return float(lasted.sum()) / _WEEK


def _quantile(values: Floats, share: float) -> float | None:
    return float(np.quantile(values, share)) if values.size else None

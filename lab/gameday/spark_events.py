"""Events that the listener of a Spark job posts, and when they arrive, with its defects.

Shares are those of the recorded events: a run that failed ends FAIL and COMPLETE, a CTAS is two
runs and a third without datasets, an RDD's run has a START alone, the job's name is the plan's.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from lab.gameday.forms import Form, Forms
from lab.gameday.model import Estate, Full, SimulatedJob, other_name
from lab.gameday.posting import PostedEvent, RunStamp
from lab.gameday.runs import SimulatedRun
from lineage.process.clock import SECOND_MICROS

_INFERRED: Final = 0.3
_RDD_ONLY: Final = 0.12
_ADAPTIVE: Final = 0.35
_COMPLETE_AFTER_FAIL: Final = 13_000
_COLD_SECONDS: Final = (3.0, 9.0)
_SHORT: Final = frozenset({"hourly", "quarter", "streaming"})
_INSERT: Final = "execute_insert_into_hadoop_fs_relation_command"
_ADAPTIVE_PLAN: Final = "adaptive_spark_plan"
_SAVE: Final = "execute_save_as_v1_table_command"
_AS_SELECT: Final = "execute_create_data_source_table_as_select_command"


class _Content(NamedTuple):
    """Content of one run within an application; `place` keeps like runs apart."""

    step: str
    inputs: tuple[Full, ...] = ()
    outputs: tuple[Full, ...] = ()
    kind: str = "SQL_JOB"
    processing: str = "BATCH"
    change: str = "OVERWRITE"
    place: int = 0


_APPLICATION: Final = _Content("", kind="APPLICATION")


class SparkEvents:
    """Events of one run of a Spark job: an application, or a query of a long one."""

    def __init__(self, estate: Estate, forms: Forms, run: SimulatedRun) -> None:
        """Prepare the events of one run."""
        self._estate = estate
        self._run = run
        self._job: SimulatedJob = estate.jobs[run.job]
        self._stamp = RunStamp(estate, forms, run)
        self._chance = self._stamp.chance
        self._cold = round(self._chance.uniform(*_COLD_SECONDS) * SECOND_MICROS)
        self._inputs = tuple(estate.datasets[each].full_name for each in run.circumstances.inputs)

    def events(self) -> Iterator[PostedEvent]:
        """Yield the events in no order."""
        yield from self.queried(is_first=True)
        if self._run.circumstances.fate != "lost":
            yield self.end_application(self._run.ended_at)

    def queried(self, *, is_first: bool) -> Iterator[PostedEvent]:
        """Yield the events of its queries; of the first in an application, that it starts."""
        run = self._run
        if is_first:
            yield self._post(run.started_at, "START", _APPLICATION, late=self._cold)
        begun = min(run.started_at + self._cold, run.ended_at - 3 * SECOND_MICROS)
        yield from self._dropped() if run.drops else self._worked(begun)

    def end_application(self, at: int) -> PostedEvent:
        """Return the event that ends its application."""
        return self._post(at, "COMPLETE", _APPLICATION)

    def _worked(self, begun: int) -> Iterator[PostedEvent]:
        run, job = self._run, self._job
        if self._is_looked_into() and self._inputs:
            yield from self._inferred(begun)
        if self._chance.random() < _RDD_ONLY and self._inputs:
            rdd = _Content("map_partitions_parallel_collection", self._inputs[:1], kind="RDD_JOB")
            yield self._post(begun + SECOND_MICROS // 2, "START", rdd)
        is_broken = run.circumstances.fate != "complete"
        outputs = [self._name_of(each) for each in job.outputs]
        for place, output in enumerate(outputs[:1] if is_broken else outputs):
            yield from self._written(begun + (1 + place) * SECOND_MICROS, output, place)

    def _is_looked_into(self) -> bool:
        """Return whether it looks into its inputs: a notebook, or a job on files from outside."""
        if self._job.cadence == "adhoc":
            return True
        sources = (self._estate.datasets[each].is_source for each in self._job.inputs)
        is_long = self._job.cadence not in _SHORT
        return is_long and any(sources) and self._chance.random() < _INFERRED

    def _inferred(self, at: int) -> Iterator[PostedEvent]:
        content = _Content("collect_limit", self._inputs[:1])
        yield self._post(at, "START", content, late=self._cold // 2)
        yield self._post(at + SECOND_MICROS // 3, "COMPLETE", content)

    def _written(self, at: int, output: Full, place: int) -> Iterator[PostedEvent]:
        """Yield one write, as one run or as the three runs of a CTAS."""
        end = self._run.ended_at - 200_000
        tail = "_".join(output[1].split("/")[-2:])
        plan = _ADAPTIVE_PLAN if self._chance.random() < _ADAPTIVE else _INSERT
        inner = _Content(f"{plan}.{tail}", self._inputs, (output,), place=place)
        if self._job.cadence == "streaming":
            yield self._post(at, "START", _Content("project", processing="STREAMING", place=place))
        if not self._job.is_twofold:
            yield from self._one(at, end, inner)
            return
        save = _Content(_SAVE, place=place)
        whole = _Content(f"{_AS_SELECT}.{tail}", self._inputs, (output,), place=place)
        yield self._post(at - 100_000, "START", save)
        yield self._post(at - 50_000, "START", whole)
        yield from self._one(at, end - 50_000, inner)
        if self._run.circumstances.fate == "complete":
            yield self._post(end - 20_000, "COMPLETE", whole)
            yield self._post(end, "COMPLETE", save)

    def _one(self, at: int, end: int, content: _Content) -> Iterator[PostedEvent]:
        """Yield the events of a run that writes."""
        fate = self._run.circumstances.fate
        yield self._post(at, "START", content)
        if self._job.cadence not in _SHORT or fate != "complete":
            yield self._post((at + end) // 2, "RUNNING", content)
        if fate in {"fail", "retry"}:
            yield self._post(end - _COMPLETE_AFTER_FAIL, "FAIL", content)
        if fate != "lost":
            yield self._post(end, "COMPLETE", content)

    def _dropped(self) -> Iterator[PostedEvent]:
        """Yield the COMPLETE of a DROP, which has no START."""
        is_renamed = self._run.drops == "other"
        for place, each in enumerate(self._job.outputs):
            name = self._estate.datasets[each].full_name
            gone = other_name(name) if is_renamed else name
            content = _Content("drop_table", outputs=(gone,), change="DROP", place=place)
            yield self._post(self._run.ended_at - 100_000, "COMPLETE", content)

    def _name_of(self, dataset: int) -> Full:
        name = self._estate.datasets[dataset].full_name
        return other_name(name) if self._run.circumstances.is_renamed else name

    def _post(self, at: int, state: str, content: _Content, *, late: int = 0) -> PostedEvent:
        return self._stamp.post(
            at, self._form(state, content), f"{content.step} {content.place}", late=late
        )

    def _form(self, state: str, content: _Content) -> Form:
        run, job = self._run.circumstances, self._job
        return Form(
            namespace=self._estate.namespace_of(job),
            application=job.name,
            step=content.step,
            state=state,
            kind=content.kind,
            processing=content.processing,
            inputs=content.inputs,
            outputs=content.outputs,
            spark=run.spark,
            code=run.code,
            schema=run.schema,
            change=content.change,
            is_nominal=job.is_orchestrated and bool(content.outputs),
        )

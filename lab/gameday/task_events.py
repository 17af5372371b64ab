"""Events that Airflow and dbt post of a run, and when they arrive.

Airflow tries a task again within the same run of its DAG, and says how often it may. dbt stops at
the first model that fails, and begins with a new invocation.
"""

from collections.abc import Iterator
from typing import Final, Literal

from lab.gameday.forms import Forms
from lab.gameday.model import Estate, Full, SimulatedJob, other_name
from lab.gameday.posting import PostedEvent, RunStamp
from lab.gameday.runs import SimulatedRun
from lab.gameday.task_forms import TaskForm
from lineage.process.clock import SECOND_MICROS

_BEFORE: Final = "check"  # a task of each DAG that touches no dataset
_FIRST_TRY: Final = 0.4  # share of a run's time that its first try takes, where it fails


class TaskEvents:
    """Events of one run of a DAG or of dbt."""

    def __init__(self, estate: Estate, forms: Forms, run: SimulatedRun) -> None:
        """Prepare the events of one run."""
        self._estate = estate
        self._run = run
        self._job: SimulatedJob = estate.jobs[run.job]
        self._stamp = RunStamp(estate, forms, run)
        self._client: Literal["airflow", "dbt"] = "dbt" if self._job.client == "dbt" else "airflow"

    def events(self) -> Iterator[PostedEvent]:
        """Yield the events in no order."""
        run = self._run
        begun, ended = run.started_at + SECOND_MICROS, run.ended_at - SECOND_MICROS
        if run.attempt == 1 or self._client == "dbt":
            yield self._of_root(run.started_at, "START")
        yield from (
            self._airflow(begun, ended) if self._client == "airflow" else self._dbt(begun, ended)
        )
        fate = run.circumstances.fate
        is_open = fate == "lost" or (fate == "retry" and self._client == "airflow")
        if not is_open:
            yield self._of_root(run.ended_at, "COMPLETE" if fate == "complete" else "FAIL")

    def _airflow(self, begun: int, ended: int) -> Iterator[PostedEvent]:
        run = self._run
        check = f"{self._job.root_name}.{_BEFORE}"
        yield self._post(begun, "START", check, (), ())
        yield self._post(begun + SECOND_MICROS, "COMPLETE", check, (), ())
        begun += 2 * SECOND_MICROS
        first = run.attempt
        if run.circumstances.fate == "fail" and first == 1:
            failed = begun + round((ended - begun) * _FIRST_TRY)
            yield from self._task(begun, failed, try_number=1)
            begun, first = failed + SECOND_MICROS, 2
        yield from self._task(begun, ended, try_number=first)

    def _task(self, begun: int, ended: int, *, try_number: int) -> Iterator[PostedEvent]:
        [task] = self._estate.names_of(self._job)
        outputs = tuple(self._name_of(each) for each in self._job.outputs)
        yield from self._one(begun, ended, task, outputs, try_number)

    def _dbt(self, begun: int, ended: int) -> Iterator[PostedEvent]:
        """Yield one model after the other; none after one that fails."""
        models = list(zip(self._estate.names_of(self._job), self._job.outputs, strict=True))
        if self._run.circumstances.fate != "complete":
            models = models[:1]
        step = (ended - begun) // len(models)
        for place, (model, output) in enumerate(models):
            at = begun + place * step
            yield from self._one(at, at + step - SECOND_MICROS, model, (self._name_of(output),), 1)

    def _one(
        self, begun: int, ended: int, name: str, outputs: tuple[Full, ...], try_number: int
    ) -> Iterator[PostedEvent]:
        """Yield one run that writes; if it failed, the last event names no output."""
        datasets = self._estate.datasets
        inputs = tuple(datasets[each].full_name for each in self._run.circumstances.inputs)
        yield self._post(begun, "START", name, inputs, outputs, try_number)
        fate = self._run.circumstances.fate
        if fate == "complete":
            yield self._post(ended, "COMPLETE", name, inputs, outputs, try_number)
        elif fate != "lost":
            yield self._post(ended, "FAIL", name, inputs, (), try_number)

    def _name_of(self, dataset: int) -> Full:
        name = self._estate.datasets[dataset].full_name
        return other_name(name) if self._run.circumstances.is_renamed else name

    def _of_root(self, at: int, state: str) -> PostedEvent:
        return self._post(at, state, "", (), ())

    def _post(  # noqa: PLR0913, PLR0917 - what an event is
        self,
        at: int,
        state: str,
        task: str,
        inputs: tuple[Full, ...],
        outputs: tuple[Full, ...],
        try_number: int = 1,
    ) -> PostedEvent:
        run = self._run.circumstances
        form = TaskForm(
            client=self._client,
            namespace=self._estate.namespace_of(self._job),
            root=self._job.root_name,
            task=task,
            state=state,
            inputs=inputs,
            outputs=outputs,
            try_number=try_number,
            schema=run.schema,
            code=run.code,
        )
        return self._stamp.post(at, form, f"{task} {try_number}")

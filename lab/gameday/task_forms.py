"""Events as Airflow's provider and dbt's wrapper send them: DAGs with tasks, dbt with models.

The shapes are those of recorded events. Left out are the texts that say nothing of lineage, such as
links to logs.
"""

from collections.abc import Iterable
from typing import Final, Literal

import msgspec
from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunEvent, RunState
from openlineage.client.facet_v2 import (
    JobFacet,
    RunFacet,
    error_message_run,
    job_type_job,
    nominal_time_run,
    parent_run,
    processing_engine_run,
    source_code_location_job,
)

from lab.gameday.forms import (
    NOMINAL,
    ROOT_ID,
    RUN_ID,
    TIME,
    columns_of,
    dataset_facets,
    own_facet,
)
from lab.gameday.model import Full

RETRIES: Final = 1
_VERSIONS: Final = {"airflow": "2.10.5", "dbt": "1.9.4"}
_REPOSITORY: Final = "https://github.com/OpenLineage/OpenLineage/tree/1.53.0"
_PRODUCERS: Final = {
    "airflow": "https://github.com/apache/airflow/tree/providers-openlineage/2.8.0",
    "dbt": f"{_REPOSITORY}/integration/dbt",
}


class TaskForm(msgspec.Struct, frozen=True):
    """Event of a DAG or an invocation of dbt, without its ids and times.

    Attributes:
        namespace: of the jobs.
        root: name of the DAG or of the invocation.
        task: name of the task or model; empty: the root itself.
        state: of the run, as OpenLineage has it.
        try_number: of Airflow's task, from 1.
        schema: number of the schema of what is written.
        code: number of the version of the code.
    """

    client: Literal["airflow", "dbt"]
    namespace: str
    root: str
    task: str
    state: str
    inputs: tuple[Full, ...] = ()
    outputs: tuple[Full, ...] = ()
    try_number: int = 1
    schema: int = 0
    code: int = 0

    def event(self) -> RunEvent:
        """Return it as an event."""
        producer = _PRODUCERS[self.client]
        return RunEvent(
            eventTime=TIME,
            producer=producer,
            eventType=RunState(self.state),
            run=Run(RUN_ID if self.task else ROOT_ID, dict(self._run_facets(producer))),
            job=Job(self.namespace, self.task or self.root, dict(self._job_facets(producer))),
            inputs=[InputDataset(*each, facets=dataset_facets(each, 0)) for each in self.inputs],
            outputs=[self._output(each) for each in self.outputs],
        )

    def _run_facets(self, producer: str) -> Iterable[tuple[str, RunFacet]]:
        if self.task:
            run, job = parent_run.Run(ROOT_ID), parent_run.Job(self.namespace, self.root)
            root = parent_run.Root(parent_run.RootRun(ROOT_ID), _root_job(self))
            yield "parent", parent_run.ParentRunFacet(run, job, root, producer=producer)
        engine = processing_engine_run.ProcessingEngineRunFacet(
            _VERSIONS[self.client], self.client, producer=producer
        )
        yield "processing_engine", engine
        if self.client == "airflow":
            yield "nominalTime", nominal_time_run.NominalTimeRunFacet(NOMINAL, producer=producer)
            yield self._airflow()
        if self.state == "FAIL":
            message = f"{self.task or self.root}: column amount does not exist"
            failed = error_message_run.ErrorMessageRunFacet(message, "SQL", producer=producer)
            yield "errorMessage", failed

    def _airflow(self) -> tuple[str, RunFacet]:
        """Airflow's own facet, which knows the try and how many retries there are."""
        whole = {"dag": {"dag_id": self.root}, "dagRun": {"run_type": "scheduled"}}
        if not self.task:
            return "airflowDagRun", own_facet(**whole)
        task = {"task_id": self.task.rpartition(".")[2], "retries": RETRIES, "mapped": False}
        instance = {"try_number": self.try_number}
        return "airflow", own_facet(**whole, task=task, taskInstance=instance, taskUuid=RUN_ID)

    def _job_facets(self, producer: str) -> Iterable[tuple[str, JobFacet]]:
        kinds = {"airflow": ("DAG", "TASK"), "dbt": ("JOB", "MODEL")}[self.client]
        kind = kinds[bool(self.task)]
        integration = self.client.upper()
        yield (
            "jobType",
            job_type_job.JobTypeJobFacet("BATCH", integration, kind, producer=producer),
        )
        if self.outputs:
            url = f"https://git.example.org/{self.namespace}/{self.root}"
            version = f"v{self.code + 1}"
            yield (
                "sourceCodeLocation",
                source_code_location_job.SourceCodeLocationJobFacet(
                    "git", url, version=version, producer=producer
                ),
            )

    def _output(self, name: Full) -> OutputDataset:
        facets = dataset_facets(name, self.schema)
        if self.inputs:
            facets["columnLineage"] = columns_of(self.inputs)
        return OutputDataset(*name, facets=facets)


def _root_job(form: TaskForm) -> parent_run.RootJob:
    return parent_run.RootJob(form.namespace, form.root)

"""Events as the Spark listener 1.53 on Spark 4.3 sends them, by the classes of openlineage-python.

A job says the same each time but for ids and times: an event is made once for each form, and
stamped for each run. What is left out of the recorded ones: the empty `environment-properties`,
and statistics of inputs.
"""

from collections.abc import Iterable
from functools import cached_property
from typing import Final, Protocol

import msgspec
from openlineage.client.event_v2 import (
    InputDataset,
    Job,
    OutputDataset,
    Run,
    RunEvent,
    RunState,
)
from openlineage.client.facet_v2 import (
    DatasetFacet,
    JobFacet,
    OutputDatasetFacet,
    RunFacet,
    column_lineage_dataset,
    datasource_dataset,
    job_type_job,
    lifecycle_state_change_dataset,
    nominal_time_run,
    output_statistics_output_dataset,
    parent_run,
    processing_engine_run,
    schema_dataset,
    source_code_location_job,
)
from openlineage.client.serde import Serde

LISTENER: Final = "1.53.0"
PRODUCER: Final = f"https://github.com/OpenLineage/OpenLineage/tree/{LISTENER}/integration/spark"
RUN_ID: Final = "00000000-0000-4000-8000-000000000001"
ROOT_ID: Final = "00000000-0000-4000-8000-000000000002"
TIME: Final = "2000-01-01T00:00:00Z"
NOMINAL: Final = "1999-12-31T00:00:00Z"
_TRACE: Final = "org.apache.spark.SparkException: Job aborted due to stage failure\n" + "\n".join(
    f"\tat org.apache.spark.sql.execution.Made{number}.up(Made{number}.scala:{number})"
    for number in range(40)
)


class Form(msgspec.Struct, frozen=True):
    """Properties that events of a job differ in, whichever run they are of.

    Attributes:
        namespace: of the job.
        application: its name.
        step: what Spark planned, and for which output; empty: the application itself.
        state: of the run, as OpenLineage has it.
        kind: SQL_JOB, RDD_JOB or APPLICATION.
        inputs: (namespace, name) of each.
        outputs: see there.
        schema: number of the schema of what is written.
        change: how an output's life goes on.
        is_nominal: the run knows what time it is for.
    """

    namespace: str
    application: str
    step: str
    state: str
    kind: str = "SQL_JOB"
    processing: str = "BATCH"
    inputs: tuple[tuple[str, str], ...] = ()
    outputs: tuple[tuple[str, str], ...] = ()
    spark: str = "4.3.0"
    code: int = 0
    schema: int = 0
    change: str = "OVERWRITE"
    is_nominal: bool = False

    def event(self) -> RunEvent:
        """Return it as an event."""
        return _Making(self).event


class EventForm(Protocol):
    """Event without its ids and times; equal forms are equal events."""

    def __hash__(self) -> int:
        """Return the hash of its content."""

    def event(self) -> RunEvent:
        """Return it with the stand-ins `RUN_ID`, `ROOT_ID`, `TIME` and `NOMINAL`."""


class Forms:
    """Cache of forms: each is made once."""

    def __init__(self) -> None:
        self._made: dict[EventForm, bytes] = {}

    def of(self, form: EventForm) -> bytes:
        """Return the event with the placeholders `RUN_ID`, `ROOT_ID`, `TIME` and `NOMINAL`."""
        made = self._made.get(form)
        if made is None:
            made = self._made[form] = Serde.to_json(form.event()).encode()
        return made


class _Making:
    def __init__(self, form: Form) -> None:
        self._form = form

    @cached_property
    def event(self) -> RunEvent:
        form = self._form
        name = f"{form.application}.{form.step}" if form.step else form.application
        return RunEvent(
            eventTime=TIME,
            producer=PRODUCER,
            eventType=RunState(form.state),
            run=Run(RUN_ID if form.step else ROOT_ID, dict(self._run_facets())),
            job=Job(form.namespace, name, dict(self._job_facets())),
            inputs=[self._input(each) for each in form.inputs],
            outputs=[self._output(each) for each in form.outputs],
        )

    def _run_facets(self) -> Iterable[tuple[str, RunFacet]]:
        form = self._form
        if form.step:
            yield "parent", self._parent()
        properties = {"spark.master": "yarn", "spark.app.name": form.application}
        yield "spark_properties", own_facet(properties=properties)
        engine = processing_engine_run.ProcessingEngineRunFacet(
            form.spark, "spark", LISTENER, producer=PRODUCER
        )
        yield "processing_engine", engine
        if form.state == "START":
            details = {"master": "yarn", "appName": form.application, "deployMode": "cluster"}
            yield "spark_applicationDetails", own_facet(**details, applicationId=f"app-{ROOT_ID}")
        if form.state == "FAIL":
            yield "spark.exception", own_facet(message="Job aborted", stackTrace=_TRACE)
        if form.is_nominal:
            yield "nominalTime", nominal_time_run.NominalTimeRunFacet(NOMINAL, producer=PRODUCER)

    def _parent(self) -> RunFacet:
        form = self._form
        root = parent_run.Root(
            parent_run.RootRun(ROOT_ID), parent_run.RootJob(form.namespace, form.application)
        )
        run, job = parent_run.Run(ROOT_ID), parent_run.Job(form.namespace, form.application)
        return parent_run.ParentRunFacet(run, job, root, producer=PRODUCER)

    def _job_facets(self) -> Iterable[tuple[str, JobFacet]]:
        form = self._form
        processing = "NONE" if form.kind == "APPLICATION" else form.processing
        yield (
            "jobType",
            job_type_job.JobTypeJobFacet(processing, "SPARK", form.kind, producer=PRODUCER),
        )
        if form.outputs:
            url = f"https://git.example.org/{form.namespace}/{form.application}"
            yield (
                "sourceCodeLocation",
                source_code_location_job.SourceCodeLocationJobFacet(
                    "git", url, version=f"v{form.code + 1}", producer=PRODUCER
                ),
            )

    def _input(self, name: tuple[str, str]) -> InputDataset:
        return InputDataset(*name, facets=dataset_facets(name, 0))

    def _output(self, name: tuple[str, str]) -> OutputDataset:
        form = self._form
        facets = dataset_facets(name, form.schema)
        change = lifecycle_state_change_dataset.LifecycleStateChange(form.change)
        facets["lifecycleStateChange"] = (
            lifecycle_state_change_dataset.LifecycleStateChangeDatasetFacet(
                change, producer=PRODUCER
            )
        )
        if form.inputs:
            facets["columnLineage"] = columns_of(form.inputs)
        statistics: dict[str, OutputDatasetFacet] = {}
        if form.state == "COMPLETE" and form.change == "OVERWRITE":
            statistics["outputStatistics"] = (
                output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet(
                    rowCount=10_000, size=400_000, fileCount=1, producer=PRODUCER
                )
            )
        return OutputDataset(*name, facets=facets, outputFacets=statistics)


def own_facet(**fields: object) -> RunFacet:
    """Return a facet that the specification does not have."""
    return RunFacet(producer=PRODUCER).with_additional_properties(**fields)  # type: ignore[return-value]


def dataset_facets(name: tuple[str, str], schema: int) -> dict[str, DatasetFacet]:
    """Return where a dataset lies, and the columns of the schema of this number."""
    amount = ("amount", "amount_cents")[schema]
    columns = (
        ("id", "long"),
        (amount, "double"),
        ("day", "date"),
        (f"of_{name[1][-6:]}", "string"),
    )
    fields = [schema_dataset.SchemaDatasetFacetFields(*column) for column in columns]
    source = datasource_dataset.DatasourceDatasetFacet(name[0], name[0], producer=PRODUCER)
    return {
        "dataSource": source,
        "schema": schema_dataset.SchemaDatasetFacet(fields, producer=PRODUCER),
    }


def columns_of(inputs: Iterable[tuple[str, str]]) -> DatasetFacet:
    """Return column lineage in which each input gives two columns."""
    made = {
        f"{column}": column_lineage_dataset.Fields(
            [column_lineage_dataset.InputField(*name, column) for name in inputs]
        )
        for column in ("id", "day")
    }
    return column_lineage_dataset.ColumnLineageDatasetFacet(made, producer=PRODUCER)

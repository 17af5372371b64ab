"""Frames of Spark's event logs, as declared schemas. Instants are `timestamp` (UTC)."""

# `path` is of the file as it was given to read.
LINES = "path string, value string"

# What is read of the events of a log, as Spark names it.
EVENT = """
    Event string, `App ID` string, `App Attempt ID` string, `App Name` string,
    `Spark Version` string, Timestamp bigint,
    `Spark Properties` struct<`spark.app.id`: string, `spark.extraListeners`: string,
        `spark.openlineage.namespace`: string, `spark.sql.maxMetadataStringLength`: string>,
    executionId bigint, rootExecutionId bigint, time bigint, description string,
    physicalPlanDescription string, errorMessage string,
    progress struct<runId: string, batchId: bigint, sink: struct<description: string>,
        sources: array<struct<description: string, endOffset: string>>>,
    `Stage Info` struct<`Stage ID`: bigint, `Stage Attempt ID`: bigint, `Submission Time`: bigint,
        `Completion Time`: bigint, Accumulables: array<struct<Name: string, Value: string>>>,
    `Job ID` bigint, Properties struct<`spark.sql.execution.id`: string>
"""
LOGGED = f"path string, is_half boolean, {EVENT.strip()}"

# `attempt_of`: of a second attempt and those after it, the id that all attempts share.
APPLICATIONS = """
    path string, application_id string, attempt_of string, app_name string,
    started_at timestamp, ended_at timestamp, spark_version string, has_listener boolean,
    namespace string, cut_after bigint
"""

# One row per SQL execution and file that names it: start and end may be in two files.
# `reads_unnamed`: its plan has a source that it does not name; null where the start is not here.
EXECUTIONS = """
    path string, execution_id bigint, root_execution_id bigint, stream_run_id string,
    stream_batch bigint, started_at timestamp, ended_at timestamp, error_message string,
    reads_unnamed boolean
"""

# What plans and micro-batches name. `location`: a path or URI (`kind` file), or a name whose
# namespace Spark hides (`kind` table or topic). `is_whole`: nothing can be missing from the list
# that the plan gives; null where it is a sink that a stream's progress names.
TOUCHED = """
    path string, execution_id bigint, stream_run_id string, stream_batch bigint, direction string,
    kind string, location string, is_whole boolean
"""

# Spark's jobs and the executions that they ran for.
JOBS = "path string, execution_id bigint, spark_job_id bigint"

# One attempt of a stage, as one file has it: that wrote rows out, or has not ended in that file.
# Null `execution_id`: it was submitted in a file before.
STAGES = """
    path string, stage_id bigint, attempt bigint, execution_id bigint, at timestamp, rows bigint,
    bytes bigint
"""

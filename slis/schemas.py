"""Frames of the pipeline, as declared schemas: what each function of `slis` takes and gives.

Instants are `timestamp` (UTC) in frames and whole microseconds in the catalog.
"""

# --- what the stream reads ------------------------------------------------------------------------

# One row per event, parsed. A field is null where the event does not say; `problem` is null where
# the core could be read.
# `datasets` holds the inputs, then the outputs, then the dataset of a DatasetEvent; facets stay
# raw JSON until grouped.
PARSED = """
    seq bigint, received_at timestamp, origin string, kind string, body binary, after_seq bigint,
        last_seq bigint,
    problem string, detail string, event_time timestamp, is_skewed boolean, event_type string,
    event_key bigint,
    run_key bigint, run_id string, job_namespace string, job_name string,
    nominal_start_at timestamp, job_type string, processing_type string, integration string,
    engine string, engine_version string, adapter_version string, producer string,
    application_id string, spark_job_id bigint, error_message string,
    code_version string, code_url string, code_path string, code_tag string, code_branch string,
    job_tags string, run_tags string, spark_properties string, environment_properties string,
    execution_parameters string, retries_left bigint, has_checkpoint boolean,
    is_connector boolean,
    is_streaming boolean, is_history boolean,
    job_ownership string, job_lineage string, job_sql string, job_description string,
    model_tags string,
    root_run_id string, root_job_namespace string, root_job_name string,
    leaf_job_namespace string, leaf_job_name string, parent_run_id string,
    inputs int, outputs int,
    datasets array<struct<namespace: string, name: string, facets: string,
        inputFacets: struct<dataQualityAssertions: struct<assertions: string>>,
        outputFacets: struct<outputStatistics: struct<rowCount: bigint, size: bigint>>>>
"""

# --- facts: folded in the batch, keyed by hash; repeats of a key are folded by the merge
# --------------

EVENTS = """
    seq bigint, kind string, event_time timestamp, event_key bigint,
    is_streaming boolean, is_history boolean, is_skewed boolean, problem string, detail string,
    after_seq bigint, last_seq bigint, describes_job boolean, tells_lineage boolean,
    has_sql boolean, is_bare_checkpoint boolean
"""

# One row per run and what its events say of it: a run whose events differ in an attribute has
# several rows.
RUNS = """
    run_key bigint, run_id string, job_namespace string, job_name string,
    root_run_id string, root_job_namespace string, root_job_name string,
    leaf_job_namespace string, leaf_job_name string, parent_run_id string,
    nominal_start_at timestamp, job_type string, processing_type string, integration string,
    engine string, engine_version string, adapter_version string, producer string,
    application_id string, error_message string,
    code_version string, code_url string, code_path string, code_tag string, code_branch string,
    job_tags string, run_tags string, spark_properties string, environment_properties string,
    execution_parameters string, first_event_at timestamp, last_event_at timestamp,
    started_at timestamp, last_start_at timestamp, completed_at timestamp, last_fail_at timestamp,
    spark_job_id bigint, retries_left bigint, is_history boolean
"""

# One row per (event, dataset that it names). `direction`: read | write | declared.
MENTIONS = """
    event_time timestamp, event_type string, kind string, run_key bigint, is_streaming boolean,
        is_history boolean,
    has_checkpoint boolean, is_connector boolean, root_job_namespace string,
    root_job_name string, event_key bigint, job_lineage string,
    direction string, spelling_key bigint, namespace string, name string,
    facets_key bigint, facets string, model_tags string, assertions string,
    rows bigint, bytes bigint, has_statistics boolean
"""

# What runs touched. `hour` is null but for streaming events, where it is the start of the event's
# hour.
RUN_IO = """
    run_key bigint, spelling_key bigint, direction string, facets_key bigint, hour timestamp,
    first_event_at timestamp, last_event_at timestamp, streamed_at timestamp,
    is_measured boolean, has_statistics boolean, rows bigint, bytes bigint
"""

# Checkpoints of streams whose events name no dataset, by run and hour.
CHECKPOINTS = """
    run_key bigint, hour timestamp, first_at timestamp, last_at timestamp
"""

# Distinct facets of each dataset, parsed: a job repeats the same facets in each event, so few are.
DESCRIBED = """
    spelling_key bigint, namespace string, name string, facets_key bigint,
        first_seen_at timestamp, last_seen_at timestamp, is_declared boolean,
    lifecycle string, previous struct<namespace: string, name: string>, version string,
    checksum string, assertions string,
    schema_key bigint, fields string,
    identifiers array<struct<namespace: string, name: string>>,
    owners array<struct<name: string, type: string>>,
    tags array<struct<key: string, value: string, source: string, field: string>>,
    model_tags string, description string,
    field_descriptions array<struct<name: string, description: string>>,
    columns map<string, struct<inputFields: array<struct<namespace: string, name: string,
    field: string, transformations: string>>,
    transformationType: string, transformationDescription: string>>,
    lineage string
"""

# `leaf_key`: of the job that people know, which owns; `job_key`: of the job by its own name.
# `tags`: raw JSON.
DESCRIBED_JOBS = """
    leaf_key bigint, job_key bigint, owners array<struct<name: string, type: string>>,
    tags string, description string, last_seen_at timestamp
"""

# What JobEvents list as read and written: one row for each output that has no input, too.
# `job_lineage`: the job's `lineage` facet, which may say it otherwise, as that of the output may.
DECLARED_EDGES = """
    upstream_spelling_key bigint, downstream_spelling_key bigint, downstream_facets_key bigint,
    job_namespace string, job_name string, job_lineage string, first_seen_at timestamp,
    last_seen_at timestamp
"""

# `lineage` facets of jobs, raw; `run_key` is null in a JobEvent, which declares.
JOB_LINEAGES = """
    run_key bigint, job_namespace string, job_name string, job_lineage string,
    first_seen_at timestamp, last_seen_at timestamp
"""

# Distinct texts; `text` is null where it is too long. `dialect`: as `sqlglot` calls it, or empty.
SQL_TEXTS = "sql_key bigint, dialect string, text string, run_keys array<bigint>"

"""Declared schemas of frames about datasets' content."""

# Assertions that failed when they were tested last, within the days that a failure stands.
ASSERTIONS = """
    dataset_key bigint, assertion string, column_name string, name string, severity string,
    expected string, actual string, last_failed_at timestamp, last_passed_at timestamp
"""

# Batch writes of datasets that have had several schemas, each with the schema and the version of
# its code that the run named. `fields`: JSON, [{"name": …, "type": …}].
VERSIONED_WRITES = """
    dataset_key bigint, job_namespace string, job_name string, root_run_id string,
    written_at timestamp, schema_key bigint, fields string, code_version string
"""

# Edges into regulated and critical datasets that were first seen within the days that this stands,
# and that nobody declared. `writes_before`: of the dataset, before that.
NEW_SOURCES = """
    dataset_key bigint, namespace string, name string, job_name string, first_seen_at timestamp,
    writes_before bigint
"""

# Claims about a dataset that have no effect: `namespace` and `name` are of the other dataset. Of
# the rules `tier` and `owner`, `name` is what is claimed and `namespace` what is in force.
REJECTED_CLAIMS = """
    dataset_key bigint, rule string, job_namespace string, job_name string, namespace string,
    name string, landed_at timestamp
"""

# What is wrong with a dataset's content: one row per reason.
DEFECTS = "as_of timestamp, dataset_key bigint, reason string, evidence string"

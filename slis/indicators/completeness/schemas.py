"""Frames of node completeness, as declared schemas."""

# The datasets that something is required of: which fields are there. Those of the run that wrote it
# last are null where nothing is known of that run. `is_reported`: its own events report it.
# `datasets` that are alike in all of this make one row; `dataset_key` is null but for a regulated
# one that lacks something, which stands alone.
NODES = """
    datasets bigint, dataset_key bigint, tier string, tier_origin string, is_regulated boolean,
    is_written boolean, is_reported boolean, owner boolean, schema boolean, version boolean,
    checksum boolean, job_id boolean, job_version boolean, code_version boolean,
    engine_version boolean, parameters boolean, nominal_time boolean
"""

# The same, judged: how many of the required fields are there, of how many, and how many cannot be
# known. `tier`: regulated where it is.
NODES_JUDGED = """
    as_of timestamp, dataset_key bigint, tier string, tier_origin string, good bigint, total bigint,
    unknown bigint, required array<string>, missing array<string>
"""

# An edge of what a job reads and writes, with what is known of the dataset that it writes.
# `written_at`: its newest write; `limit_seconds`, `cadence_seconds`: of its writes, null while they
# are learned; `writes`: how many are known. `last_reported_at`: null where no event reports it.
EXPECTED_EDGES = """
    upstream_key bigint, downstream_key bigint, job_name string, first_seen_at timestamp,
    last_seen_at timestamp, last_reported_at timestamp, runs bigint, is_declared boolean,
    tier string, tier_origin string, is_regulated boolean, limit_seconds double,
    cadence_seconds double, writes bigint, written_at timestamp
"""
NAMES = "dataset_key bigint, namespace string, name string"

# An edge that is expected at an instant. `missed`: why it is bad, in a word of `edges`.
EDGES_JUDGED = """
    as_of timestamp, upstream_key bigint, downstream_key bigint, job_name string, tier string,
    tier_origin string, missed string, is_unknown boolean, last_reported_at timestamp,
    last_seen_at timestamp, runs bigint, limit_seconds double
"""

"""Frames of node completeness, as declared schemas."""

# The datasets that something is required of: which fields are there. Those of the run that wrote it
# last are null where nothing is known of that run. `is_reported`: its own events told of the write.
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

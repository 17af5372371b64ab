"""Frames of accuracy, as declared schemas."""

# What a root run read for a dataset that it wrote, as evidence or as events have it. An edge whose
# upstream is null says only that the dataset was written. `is_whole`: what is not named was not
# read.
TOLD = """
    root_run_id string, downstream_key bigint, upstream_key bigint, upstream_namespace string,
    upstream_name string, is_whole boolean
"""

# `outcome`: good | edge_missing (evidence has it, the events do not) | edge_wrong.
CHECKED = """
    root_run_id string, downstream_key bigint, upstream_key bigint, outcome string
"""

# Edges that were checked, with the tier of the dataset written; `is_counted`: in M4's counters.
CHECKS = """
    producer string, adapter_version string, tier string, tier_origin string, outcome string,
    is_counted boolean
"""

# Checks by who reported the edge. Bounds of the Wilson interval at 95 %; `state` against the
# objective.
STRATA = """
    producer string, adapter_version string, good bigint, total bigint, ratio double,
    lower double, upper double, state string
"""

# Of each dataset the checks of the last run that was compared; the names are the upstream's.
LATEST = """
    downstream_key bigint, root_run_id string, namespace string, name string, outcome string
"""

"""Frames of accuracy, as declared schemas."""

# Oracles that are a run's own words, which prove no edge right. `lineage.states` has the others.
LINEAGE_FACET = "lineage_facet"
COLUMN_LINEAGE = "column_lineage"
OWN_WORDS = (LINEAGE_FACET, COLUMN_LINEAGE)

# What a root run read for a dataset that it wrote, as evidence or as events have it. An edge whose
# upstream is null says only that the dataset was written. `is_whole`: what is not named was not
# read.
SOURCES = """
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
    oracle string, is_counted boolean
"""

# Checks by who reported the edge. Bounds of the Wilson interval at 95 %; `state` against the
# objective.
STRATA = """
    producer string, adapter_version string, good bigint, total bigint, ratio double,
    lower double, upper double, state string
"""

# Of each dataset and oracle the checks of the last run that was compared; the names are the
# upstream's. `oracle`: event_log | sql | lineage_facet | column_lineage.
LATEST_CHECKS = """
    downstream_key bigint, root_run_id string, namespace string, name string, outcome string,
    oracle string
"""

# What a run's own facets name and its inputs do not. `oracle`: lineage_facet | column_lineage.
FACET_SOURCES = """
    root_run_id string, downstream_key bigint, upstream_key bigint, upstream_namespace string,
    upstream_name string, oracle string
"""

# Writes of which the event log has all that was read: nothing else is asked about them.
WHOLE = "root_run_id string, downstream_key bigint"

# `CHECKED`, with the oracle that says so.
FINDINGS = """
    root_run_id string, downstream_key bigint, upstream_key bigint, outcome string, oracle string
"""

# SQL texts that nobody has parsed yet, and what they name (JSON: a list of statements).
UNPARSED_SQL = "sql_key bigint, dialect string, text string"
SQL_NAMES = "sql_key bigint, names string, problem string"

# A statement of a text that a run ran; names in lower case, parts joined by dots.
STATEMENTS = """
    run_key bigint, root_run_id string, sql_key bigint, place int, reads array<string>,
    writes array<string>
"""

# What events say that runs read and wrote; `direction`: read | write.
TOUCHED = "run_key bigint, direction string, dataset_key bigint, namespace string, name string"

# Every name of every dataset that is no path. `holds_data`: some run read it or wrote it, or an
# edge leads from it.
KNOWN_NAMES = """
    dataset_key bigint, namespace string, spelled string, holds_data boolean,
    shown_namespace string, shown_name string
"""

# Of each pair, that the one was made of the other.
LEADS = "upstream_key bigint, downstream_key bigint"

# What the text of a run reads for what the run writes; and what is known of such runs.
SQL_SOURCES = f"run_key bigint, {SOURCES}"
SQL_RUNS = "run_key bigint, names_inputs boolean, is_history boolean"

# A name that the text of a run reads for an output of that run.
ASKED = "run_key bigint, root_run_id string, downstream_key bigint, name string"

"""Names that roles share in the catalog: of rows of `meta`, and of what is watched in Kubernetes.

Alone in a module: commands that ask load no database toolkit for a name. A row of `meta` has one
writer: the leader of the service for `LAST_POLICY`, the role that it names for `POLICY_IN_FORCE`,
and the pipeline for all others.
"""

from enum import IntEnum
from typing import Final

CATALOG_EPOCH: Final = "catalog_epoch"  # of the counters
LAKE_OWNER: Final = "lake_owner"  # in the names of the folders that this catalog wrote
LAKE_ID: Final = "lake_id"  # in the file at the root of the lake, too
LOG: Final = "log"  # that feeds the catalog: spool or kafka
LOG_LAST_GOODBYE: Final = "log_last_goodbye"  # the collector that ended last, while none runs
LOG_TOPIC_ID: Final = "log_topic_id."  # and a topic: the id that Kafka gave the topic
LOG_LANDED: Final = "log_landed."  # and a topic: behind the last event, by partition, as JSON
LOG_RESTORING: Final = "log_restoring."  # and a topic: the folder of the lake that is landing
INSTALLED: Final = "installed_at"  # the first batch, in microseconds of 16 digits
HISTORY_FROM: Final = "history_from"  # the first event of a loaded history, likewise
EDGES_EVALUATED_AT: Final = "edges_evaluated_at"  # when edges were judged last, in microseconds
POLICY_IN_FORCE: Final = "policy_in_force."  # and a role: `lineage.policy.file.PolicyState` as JSON
LAST_POLICY: Final = "last_policy"  # the last valid one, as `encode_policy` writes it
POLICY_FINGERPRINT: Final = "policy_fingerprint"  # what `dataset_policy` was worked out from
# Scores of another kind than those of an older version are no use to this one.
POOLS: Final = "cadence_pool.3."  # and a class: a list of `estate_pools.DatasetScores` as JSON
EVIDENCE_LISTED_AT: Final = "evidence_listed_at"  # the last pass that could list all its folders
EVIDENCE_READ_AT: Final = "evidence_read_at"  # the last that moreover read all that they held
EVIDENCE_UNLISTED: Final = "evidence_unlisted_folders"  # how many the last pass could not list
EVIDENCE_JOINED_TO: Final = "evidence_joined_to"  # the last event when all was joined last
RETAINED_TO: Final = "retained_to"  # the time that retention went by last, in microseconds
RUNS_KEPT_SINCE: Final = "runs_kept_since"  # older runs were deleted, in µs of 16 digits
# When the oldest event that the newest evaluation lacks was received, in microseconds; 0: none.
EVENTS_WAIT_SINCE: Final = "events_wait_since"
# The first of the evaluations that lack old events, without a break until the newest; 0: none.
BEHIND_SINCE: Final = "behind_since"
# Changes that evaluations missed and an evaluation of everything found: errors of ours.
CHANGES_MISSED: Final = "changes_missed"
APPLICATIONS: Final = "sparkapplications.sparkoperator.k8s.io"
PODS: Final = "pods"
# A pause of the watch up to this long hides nothing: the operator deletes no application at once.
LONGEST_PAUSE_MICROS: Final = 300_000_000


class ListenerState(IntEnum):
    """Values of `spark_application.has_listener`; null: an older release stored the row."""

    ABSENT = 0
    IN_SETTINGS = 1
    BY_EVENTS = 2  # the settings do not show it, but events of the job have arrived

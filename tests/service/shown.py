"""Place where each column of the catalog is shown, or the reason why it is not.

A new column fails `test_nothing_invisible` until one of the two lists has it. Columns that end with
`_key` need no entry: they are hashes of names that are shown.
"""

from typing import Final

_STATE: Final = "telling"  # column with the notification state

# Table: the answer, page or command that shows it, and the columns that it shows.
SHOWN: Final[dict[str, dict[str, str]]] = {
    "access_audit": {
        "/api/v1/access-audit": "id at request_id who fingerprint action subject namespaces"
        " decision reason status version"
    },
    "accuracy_stratum": {
        "/metrics": "producer adapter_version total ratio lower upper",
    },
    "attribute_claim": {"lineward lint": "kind value job_namespace"},
    "audit": {"/api/v1/audit": "id at who action detail via answer"},
    "batch": {"/api/v1/status": "landed_at"},
    "column_edge": {
        "/api/v1/columns": "upstream_field downstream_field first_seen_at last_seen_at"
        " transformations",
        "/api/v1/column-lineage": "upstream_field downstream_field transformations",
    },
    "dataset": {
        "/api/v1/dataset": "namespace name first_seen_at last_seen_at retired_at",
        "/api/v1/datasets": "state_rank tier_rank",
    },
    "dataset_activity": {
        "/api/v1/dataset": "last_written_at last_read_at",
        "/api/v1/lineage": "last_job_namespace last_job_name",
        "/dataset": "last_write_is_streaming",
    },
    "dataset_alias": {"/api/v1/dataset": "rule namespace name"},
    "dataset_checksum": {"/api/v1/history": "checksum first_seen_at last_seen_at"},
    "dataset_claim": {
        "lineward lint": "rule job_namespace namespace name last_landed_at is_refused"
    },
    "dataset_limit": {"/api/v1/dataset": "explanation", "/dataset": "limit_seconds"},
    "dataset_policy": {
        "/api/v1/dataset": "tier tier_origin tier_reason owner owner_origin is_source",
        "/dataset": "is_streaming declared_limit_seconds",
        "lineward lint": "is_declared",
    },
    "dataset_producer": {"lineward lint": "job_namespace"},
    "dataset_read": {"/api/v1/unsourced-reads": "job_namespace job_name read_at outcome"},
    "dataset_state": {
        "/api/v1/dataset": "sli state reason evidence since age_seconds limit_seconds"
        " limit_origin is_worst"
    },
    "dataset_version": {"/api/v1/history": "version first_seen_at last_seen_at"},
    "dataset_write": {
        "/api/v1/history": "root_run_id job_namespace job_name written_at partition rows"
        " code_version"
    },
    "description": {"/api/v1/dataset": "subject text"},
    "edge": {
        "/api/v1/lineage": "job_namespace job_name event_job_name first_seen_at last_seen_at runs"
        " origin"
    },
    "edge_check": {
        "/dataset": "outcome oracle root_run_id producer adapter_version written_at",
    },
    "edge_run": {"/api/v1/lineage": "root_run_id"},
    "error_count": {"/metrics": "stage cause origin events"},
    "evaluation": {"/api/v1/status": "as_of seconds"},
    "event_requeue": {"/api/v1/set-aside-events": "spool_seq requested_at"},
    "event_set_aside": {
        "/api/v1/set-aside-events": "spool_seq received_at origin kind bytes error failed_at"
        " producer job_namespace job_name run_id"
    },
    "evidence_file": {"/metrics": "problem"},
    "field_tag": {"/api/v1/columns": "field tag value source"},
    "incident": {
        "/api/v1/impact": "fault_at accepted_at",
        "/api/v1/incidents": "is_remembered seen_at",
        "/api/v1/incidents/{incident_id:str}": "incident_id state severity opened_at what root_kind"
        " root_namespace root_name unknown score hit_at owner evidence is_flapping is_frozen onset"
        " acknowledged_at acknowledged_by resolved_at impact_count",
        "/incidents/{incident_id:str}": "diagnosis",
        "/metrics": "root_entity is_false_alarm merged_into",
    },
    "incident_event": {
        "/api/v1/incidents/{incident_id:str}": "incident_id revision at what reason by"
    },
    "incident_impact": {"/api/v1/incidents/{incident_id:str}": "incident_id hops"},
    "incident_member": {
        "/api/v1/incidents/{incident_id:str}": "incident_id kind onset steps explained_by run_id"
        " joined_at left_at"
    },
    "incident_telling": {"/incidents/{incident_id:str}": f"incident_id {_STATE} addressee"},
    "kubernetes_watch": {
        "/api/v1/status": "resource kube_namespace complete_since complete_until problem"
    },
    "lag_bucket": {"/metrics": "processing le value"},
    "lease": {"/api/v1/status": "name holder since expires_at"},
    "lake_folder": {"/metrics": "bytes files"},
    "marquez_comparison": {
        "lineward marquez status": "at sampled_ours missing_there sampled_theirs missing_here"
    },
    "marquez_counter": {"lineward marquez status": "name value"},
    "marquez_missing_run": {"lineward marquez status": "side run_id job_namespace job_name"},
    "marquez_probe": {"lineward marquez status": "at is_answered seconds status detail"},
    "marquez_pull": {"lineward marquez status": "url started_at through"},
    "marquez_set_aside": {
        "lineward marquez status": "spool_seq run reason detail set_aside_at",
        "lineward marquez resend": "body body_bytes",
    },
    "meta": {"/api/v1/status": "name value"},
    "name_pattern": {
        "lineward lint": "namespace name new_datasets example_namespace example_name is_explosion"
    },
    "notification": {
        "/incidents/{incident_id:str}": "incident_id channel kind state attempts created_at"
        " finished_at reason fallback_for",
        "/metrics": "undelivered_since",
    },
    "notification_count": {"/metrics": "metric channel label value"},
    "inferred_input": {"/api/v1/runs/{run_id:str}": "origin"},
    "ownership": {"lineward lint": "subject owner"},
    "pipeline_error": {"/api/v1/pipeline-errors": "spool_seq reason detail is_history landed_at"},
    "reader_cursor": {"/api/v1/status": "reader seq"},
    "run": {
        "/api/v1/runs/{run_id:str}": "run_id job_namespace job_name root_run_id root_job_namespace"
        " root_job_name leaf_job_namespace leaf_job_name parent_run_id nominal_start_at"
        " started_at completed_at failed_at"
        " processing_type integration engine engine_version adapter_version producer"
        " application_id error_message code_version code_url code_path code_tag code_branch"
        " job_version spark_conf parameters tags retries_left",
        "/api/v1/runs": "first_event_at last_event_at evidence landed_at",
        "/api/v1/last-runs": "job_type job_name first_event_at error_message",
    },
    "run_io": {
        "/api/v1/runs": "direction last_event_at",
        "/api/v1/runs/{run_id:str}": "rows bytes evidence_rows evidence_bytes dataset_version"
        " checksum partition",
    },
    "schema_version": {"/api/v1/history": "fields first_seen_at last_seen_at"},
    "served_bucket": {"/metrics": "metric backend query le value"},
    "served_count": {"/metrics": "metric label value"},
    "served_counter": {"/metrics": "sli tier tier_origin good total unknown"},
    "served_hour": {"/api/v1/slis": "sli tier hour good total unknown"},
    "sli_counter": {"/metrics": "sli tier tier_origin epoch good total unknown"},
    "sli_explained": {"/metrics": "sli tier value"},
    "sli_hour": {"/api/v1/slis": "sli tier hour total unknown", "/": "good"},
    "sli_now": {
        "/api/v1/slis": "sli tier good total",
        "/metrics": "learning excepted unknown",
    },
    "sql_text": {"/metrics": "problem"},
    "spark_application": {
        "lineward applications": "kube_namespace name job_namespace job_name state has_listener"
        " owner submitted_at ended_at problem is_newest deleted_at"
    },
    "suppression": {
        "/api/v1/suppressions": "id name pattern from_at until_at by via reason ended_at"
    },
    "tag": {
        "/api/v1/dataset": "tag value source",
        "/api/v1/lineage": "tag",
        "lineward lint": "value",
    },
}

_CURSOR = "position of a reader: what waits behind it is in /metrics"
_COUNTED = "says which evaluation counted a row: the counts are shown"
_RETENTION = "for retention: nobody is interested in when such a row was seen"
_INPUT = "input of an SLI: the state that follows is shown with its evidence by `lineward why`"
_EVIDENCE = "from event logs: what follows is shown as runs, edges and their checks"
_PARTITION = "says in which partition PostgreSQL keeps a run: a part of its id, which is shown"
_STAGES = "/metrics shows the seconds between the stages of the newest batches"
_DELIVERY = "working data of delivery: its results are shown with the incident and in /metrics"
_INCIDENT = "working data of incidents: the incident shows the result"
_POLICY = "derived from the policy, which its owner has"

# Table: columns that nothing shows, and the reason.
NOT_SHOWN: Final[dict[str, dict[str, str]]] = {
    "access_version": {
        "in_force_from hash content": "for the judge of accesses (M10): the policy file is shown"
    },
    "accuracy_stratum": {"good state": "`total` and `ratio` say the same"},
    "application": {
        "application_id attempt_of name namespace started_at ended_at spark_version has_listener"
        " cut_after root_run_id openlineage_run_id": _EVIDENCE
    },
    "attribute_claim": {"job_name last_landed_at": "`lineward lint` names the job's namespace"},
    "batch": {
        "query_id batch_id": "name of a batch",
        "after_seq last_seq events history": _STAGES,
        "duplicates": "the collector counts duplicates in /metrics",
    },
    "collector_removal": {
        "collector heartbeat_at requested_at": "`lineward audit` lists the request"
    },
    "dataset": {"is_declared": _POLICY},
    "dataset_activity": {
        "last_write_landed_at last_write_root_run_id last_write_names_input"
        " last_write_is_reported first_read_at last_failed_at last_failed_run_id last_failure"
        " last_dropped_at last_started_at": _INPUT,
        "writes learned_writes": "says when a limit is learned again",
    },
    "dataset_alias": {"first_seen_at last_seen_at": _RETENTION},
    "dataset_assertion": {
        "assertion column_name name last_passed_at last_failed_at severity expected actual": _INPUT
    },
    "dataset_claim": {"first_seen_at last_seen_at landed_at": _RETENTION},
    "dataset_judgement": {
        "next_change_at tier tier_origin is_source coverage freshness is_watched": "for the next"
        " evaluation: `dataset_state` has the states"
    },
    "dataset_limit": {
        "cadence_class cadence_seconds duration_seconds gaps learned_at": "`explanation` says it in"
        " words"
    },
    "dataset_policy": {"is_generated is_regulated is_expected plan": _POLICY},
    "dataset_producer": {"landed_at": _RETENTION},
    "dataset_read": {
        "root_run_id bucket": "/api/v1/runs lists the runs that read a dataset",
        "landed_at is_reported is_streaming is_history": _INPUT,
        "counted_at": _COUNTED,
    },
    "dataset_state": {"was_good": "says whether a state is news"},
    "dataset_write": {
        "bucket": "the hour of `written_at`, which /api/v1/history shows",
        "landed_at nominal_start_at names_input is_reported is_streaming is_history": _INPUT,
    },
    "digest": {"owner day told_at": _DELIVERY},
    "edge": {"last_reported_at declared_at": _INPUT},
    "edge_check": {
        "job_version first_checked_at checked_at": "says what needs no further check",
        "counted_at": _COUNTED,
    },
    "edge_run": {
        "is_reported": _INPUT,
        "origin": "/api/v1/lineage shows the origin of the edge",
        "seen_at": _RETENTION,
    },
    "edge_told": {
        "root_run_id oracle upstream_namespace upstream_name seen_at": "kept until it is compared"
        " with the run's inputs: the check is shown on /dataset"
    },
    "evaluation": {
        "previous_as_of last_seq policy_hash": _CURSOR,
        "datasets": "/api/v1/status counts datasets by state",
    },
    "event": {
        "event_time last_seq": _STAGES,
        "landed_at is_streaming is_history is_skewed": _INPUT,
    },
    "evidence_file": {
        "path log application_id bytes modified_at read_at is_complete": "says what of a log is"
        " read: files and problems are counted in /metrics"
    },
    "evidence_stage": {"at rows bytes": _EVIDENCE},
    "execution": {
        "application_id execution_id root_execution_id started_at ended_at error_message"
        " spark_job_id outputs is_whole is_settled is_checked": _EVIDENCE
    },
    "execution_io": {"direction": _EVIDENCE},
    "incident": {
        "revision life because correlation_id is_bridged released_at impact_outcome": _INCIDENT
    },
    "incident_command": {
        "id asked_at by via incident_id action until note request_id done_at answer": "a queue:"
        " `lineward audit` lists the commands and their results"
    },
    "incident_escalation": {"incident_id step owner told_at channel": _DELIVERY},
    "incident_event": {"detail": "`what` and `reason` say it in words"},
    "incident_member": {"relays": _INCIDENT},
    "incident_telling": {
        "fault severity is_bad is_told due_at policy hidden_by hidden_until ended_at": _DELIVERY
    },
    "inferred_input": {
        "upstream_namespace upstream_name": "/api/v1/runs shows the dataset of this name",
        "seen_at": _RETENTION,
    },
    "ingestion_gap": {"started_at ended_at": _INPUT},
    "kubernetes_watch": {"problem_since": "`complete_until` says since when a watch fails"},
    "lake_folder": {
        "path batch event_date first_seq last_seq epoch is_compacted names events"
        " deleted_at": "the lake's manifest, by which raw events are found"
    },
    "log_collector": {
        "collector heartbeat_at": "an incident names the silent ones, and so does the error of"
        " `lineward act remove-collector`"
    },
    "log_position": {"topic partition next_offset end_offset windows": _CURSOR},
    "notification": {
        "revision target message next_attempt_at doubt_since handle error fell_back_at": _DELIVERY
    },
    "notification_channel": {"channel held_until failures alert_id": _DELIVERY},
    "notification_secret": {"channel mark": "a hash that says whether a secret was replaced"},
    "ownership": {"type last_seen_at": _RETENTION},
    "received_alert": {
        "fingerprint starts_at ends_at received_at name labels annotations incident_id revision"
        " channels": "Alertmanager shows its alerts: an incident's messages name those attached"
    },
    "received_cursor": {"source position": _CURSOR},
    "retirement": {"requested_at note": "`lineward audit` lists it with its note"},
    "run": {
        "last_start_at last_fail_at": "`started_at` and `failed_at` follow from them",
        "spark_job_id": "joins a run with its Spark execution",
        "is_history": _INPUT,
        "day": _PARTITION,
    },
    "role_epoch": {"role epoch began_at": "keeps a pipeline that was replaced from writing"},
    "run_io": {
        "first_event_at streamed_at has_statistics lifecycle partition_at is_reported"
        " landed_at": _INPUT,
        "day": _PARTITION,
    },
    "lease": {"epoch": "grows with each leader: its transactions are compared with it"},
    "service_cursor": {"name position": _CURSOR},
    "sli_now": {"tier_origin": "rows of one tier are added up"},
    "spark_application": {
        "uid spark_id": "joins an application with its datasets, its run and its pods",
        "is_ended summary": _INPUT,
        "seen_at": _RETENTION,
    },
    "spark_output": {"uid": "joins an application with the datasets that it is to write"},
    "spark_pod_failure": {
        "uid spark_id kube_namespace pod role cause detail failed_at": "the diagnosis of an"
        " incident shows which pods of its run were lost"
    },
    "sql_run": {"seen_at": _RETENTION},
    "sql_text": {
        "dialect text names first_seen_at last_seen_at": "parsed, and compared with edges: the"
        " check is shown on /dataset"
    },
    "suppression": {
        "created_at": "`from_at` is shown",
        "told_at": _DELIVERY,
    },
    "tag": {"last_seen_at": _RETENTION},
    "field_tag": {"last_seen_at": _RETENTION},
    "description": {"last_seen_at": "says which event is the newest"},
}

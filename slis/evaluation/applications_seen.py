"""SQL of the last SparkApplication of the job that writes a dataset, for an evaluation's rows."""

from collections.abc import Collection
from typing import Final

from lineage.catalog.meta_keys import APPLICATIONS, ListenerState
from lineage.catalog.queries import key_list

# One text a dataset, of which the greatest is the newest application: 16 digits of its time, then
# whether it has the listener (0: it completed without) and whether it has ended, then its summary.
_PACKED: Final = f"""
    CAST(s.submitted_at AS TEXT)
    || CASE WHEN s.has_listener = {ListenerState.ABSENT} AND s.state = 'COMPLETED'
        THEN '0' ELSE '1' END
    || CASE WHEN s.is_ended THEN '1' ELSE '0' END || s.summary
"""
# By the job that wrote the dataset last, or by the annotation that names the dataset. A job without
# a listener has no namespace, and is known by its name. EXISTS is asked once: without it, 100,000
# datasets are read for no SparkApplication.
_NEWEST: Final = f"""
    SELECT f.dataset_key, max(f.packed) AS packed FROM (
        SELECT w.dataset_key, {_PACKED} AS packed
        FROM spark_application s JOIN dataset_activity w ON w.last_job_name = s.job_name
            AND (s.job_namespace IS NULL OR s.job_namespace = w.last_job_namespace)
        WHERE s.is_newest AND EXISTS (SELECT 1 FROM spark_application) {{of_writers}}
        UNION ALL
        SELECT n.canonical_key, {_PACKED}
        FROM spark_output o JOIN spark_application s ON s.uid = o.uid AND s.is_newest
        JOIN dataset n ON n.dataset_key = o.dataset_key {{of_outputs}}
    ) AS f GROUP BY f.dataset_key
"""  # noqa: S608 - our own tables
SEEN_AT: Final = "CAST(substr(k.packed, 1, 16) AS BIGINT)"
LACKS_LISTENER: Final = "substr(k.packed, 17, 1) = '0'"
SUMMARY: Final = "substr(k.packed, 19)"
_WATCHES: Final = f"FROM kubernetes_watch WHERE resource = '{APPLICATIONS}'"
_SINCE: Final = f"""
    SELECT CASE WHEN count(*) = count(complete_since) THEN max(complete_since) END {_WATCHES}
"""
# Whether the last write came from an object that has another job's name, as with a random suffix in
# place of the name that the code gives the job: the next one will not be found by the job's name.
_IS_RENAMED: Final = """
    EXISTS (
        SELECT 1 FROM run r CROSS JOIN spark_application o
        WHERE r.root_run_id = a.last_write_root_run_id AND r.completed_at = a.last_written_at
            AND o.spark_id = r.application_id AND o.job_name <> a.last_job_name)
"""
# Null where an application could have come and gone unseen since the write, or is still running.
CHECKED_AT: Final = f"""
    CASE WHEN substr(k.packed, 18, 1) = '1' AND a.last_written_at >= ({_SINCE})
        AND NOT {_IS_RENAMED}
    THEN (SELECT min(complete_until) {_WATCHES}) END
"""
COLUMNS: Final = f"{SEEN_AT}, {SUMMARY}, {LACKS_LISTENER}, {CHECKED_AT}"


def newest(keys: Collection[int] | None) -> str:
    """Return the query of (dataset_key, packed).

    Args:
        keys: of the datasets; None: all.
    """
    if keys is None:
        return _NEWEST.format(of_writers="", of_outputs="")
    chosen = f"IN ({key_list(keys)})"
    return _NEWEST.format(
        of_writers=f"AND w.dataset_key {chosen}", of_outputs=f"AND n.canonical_key {chosen}"
    )

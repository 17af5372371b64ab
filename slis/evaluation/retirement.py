"""Datasets that nobody wrote, read or declared for 90 days leave every total."""

from datetime import datetime, timedelta

from sqlalchemy import Engine, text

from lineage.catalog import tables
from lineage.catalog.engine import exclusive_transaction
from lineage.policy import Policy
from lineage.process.clock import to_micros

UNUSED = timedelta(days=90)

# By the table, as it lies: through the index of what is listed, each of 100,000 rows is looked up.
_UNUSED = """
    SELECT d.dataset_key, d.namespace, d.name FROM dataset d
    WHERE d.canonical_key = d.dataset_key AND d.retired_at + 0 IS NULL AND d.last_seen_at < :before
    AND NOT EXISTS (
        SELECT 1 FROM dataset m WHERE m.canonical_key = d.dataset_key AND m.last_seen_at >= :before)
"""
_SEEN_AGAIN = """
    UPDATE dataset SET retired_at = NULL WHERE retired_at < last_seen_at AND NOT EXISTS (
        SELECT 1 FROM dataset_activity a WHERE a.dataset_key = dataset.canonical_key
        AND a.last_dropped_at = dataset.retired_at)
"""
_ANY_SEEN_AGAIN = "SELECT 1 FROM dataset WHERE retired_at < last_seen_at LIMIT 1"
_RETIRE = "UPDATE dataset SET retired_at = :at WHERE dataset_key = :dataset_key"


def retire_unused(engine: Engine, policy: Policy, as_of: datetime) -> int:
    """Retire what is unused, with a note in the audit log; take back what was seen again.

    Returns:
        How many were retired.
    """
    before = to_micros(as_of - UNUSED)
    declared = set(policy.declared())
    with engine.connect() as connection:
        unused = [
            row
            for row in connection.execute(text(_UNUSED), {"before": before}).mappings()
            if (row["namespace"], row["name"]) not in declared
        ]
        is_back = connection.execute(text(_ANY_SEEN_AGAIN)).first() is not None
    if not unused and not is_back:
        return 0
    at = to_micros(as_of)
    with exclusive_transaction(engine) as connection:
        connection.execute(text(_SEEN_AGAIN))
        for row in unused:
            connection.execute(text(_RETIRE), {"at": at, "dataset_key": row["dataset_key"]})
            note = f"{row['namespace']} {row['name']}: not written, read or declared for 90 days"
            connection.execute(
                tables.audit.insert(),
                {"at": at, "who": "pipeline", "action": "retire", "detail": note},
            )
    return len(unused)

"""Reads why a pod of Spark was lost: killed for its memory, evicted, preempted, or failed."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from service.ingest.kubernetes.applications import as_stored, cut_text, time_of

Pod = Mapping[str, Any]
SELECTOR: Final = "spark-role in (driver, executor)"  # Spark itself sets the labels
_SPARK_ID: Final = "spark-app-selector"
_ROLE: Final = "spark-role"
_OUT_OF_MEMORY: Final = "OOMKilled"
_DISRUPTED: Final = "DisruptionTarget"


def row_of(pod: Pod, seen_at: int) -> dict[str, Any] | None:
    """Return the row of `spark_pod_failure`; None for a pod that did not fail."""
    metadata = pod.get("metadata") or {}
    labels = metadata.get("labels") or {}
    # Spark deletes executors that it does not need any more: those are not lost.
    is_deleted = bool(metadata.get("deletionTimestamp"))
    found = next(_causes(pod.get("status") or {}, is_deleted=is_deleted), None)
    if found is None or not labels.get(_SPARK_ID):
        return None
    cause, detail, at = found
    row = {
        "uid": str(metadata["uid"]),
        "kube_namespace": str(metadata["namespace"]),
        "pod": str(metadata["name"]),
        "spark_id": str(labels[_SPARK_ID]),
        "role": str(labels.get(_ROLE)),
        "cause": cause[:100],
        "detail": cut_text(detail) if detail else None,
        "failed_at": time_of(at) or seen_at,
    }
    return as_stored(row)


def _causes(status: Pod, *, is_deleted: bool) -> Iterator[tuple[str, str | None, object]]:
    """Yield cause, message and time, the one that explains most first."""
    ended = list(_terminations(status))
    for one in ended:
        if one.get("reason") == _OUT_OF_MEMORY:
            yield _OUT_OF_MEMORY, one.get("message"), one.get("finishedAt")
    if status.get("reason"):  # Evicted, NodeLost, Shutdown: the kubelet's word for the whole pod
        yield str(status["reason"]), status.get("message"), None
    for one in status.get("conditions") or ():
        if one.get("type") == _DISRUPTED and one.get("status") == "True":
            yield str(one.get("reason")), one.get("message"), one.get("lastTransitionTime")
    for one in ended:
        if one.get("exitCode") and status.get("phase") == "Failed" and not is_deleted:
            yield f"exit code {one['exitCode']}", one.get("message"), one.get("finishedAt")


def _terminations(status: Pod) -> Iterator[Mapping[str, Any]]:
    for container in status.get("containerStatuses") or ():
        for part in ("state", "lastState"):
            if ended := (container.get(part) or {}).get("terminated"):
                yield ended

"""Rows of a SparkApplication (`sparkoperator.k8s.io/v1beta2`), and of why a pod was lost."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

import msgspec

from lineage.catalog.meta_keys import ListenerState
from lineage.names.keys import NAME_BYTES, REPLACEMENT, key, shorten
from lineage.names.names import job_of
from lineage.process.clock import instant_text, to_micros
from lineage.process.health import one_line
from lineage.redaction import redact_message
from runbooks.actions.kubernetes_settings import KubernetesSettings, split_list
from runbooks.actions.resubmit import ENDED, RERUN_OF, SCHEDULED_BY

Manifest = Mapping[str, Any]
LISTENER: Final = "OpenLineageSparkListener"
_LISTENERS: Final = "spark.extraListeners"
_NAMESPACE: Final = "spark.openlineage.namespace"
_APP_NAMES: Final = ("spark.openlineage.appName", "spark.app.name")
WITHOUT_LISTENER: Final = " without the OpenLineage listener"
STATE_NOW: Final = ", which is "  # in a summary, before the state
_MOST_OUTPUTS: Final = 100
_MOST_TEXT: Final = 253

Pod = Mapping[str, Any]
SELECTOR: Final = "spark-role in (driver, executor)"  # Spark itself sets the labels
_SPARK_ID: Final = "spark-app-selector"
_ROLE: Final = "spark-role"
_OUT_OF_MEMORY: Final = "OOMKilled"
_DISRUPTED: Final = "DisruptionTarget"


class Reading(msgspec.Struct, frozen=True):
    """Settings about reading a manifest."""

    owner_keys: tuple[str, ...]
    outputs_key: str

    @classmethod
    def of(cls, settings: KubernetesSettings) -> "Reading":
        """Return what these settings say."""
        return cls(split_list(settings.owner_keys), settings.outputs_key)


def application_row(manifest: Manifest, reading: Reading, seen_at: int) -> dict[str, Any]:
    """Return the row of `spark_application`; `is_newest` is for the store to decide."""
    metadata, status = _part(manifest, "metadata"), _part(manifest, "status")
    state = str(_part(status, "applicationState").get("state") or "NEW")[:_MOST_TEXT]
    times = (status.get("lastSubmissionAttemptTime"), metadata.get("creationTimestamp"))
    row = {
        "uid": str(metadata["uid"]),
        "kube_namespace": str(metadata["namespace"]),
        "name": str(metadata["name"]),
        "job_namespace": _conf(manifest).get(_NAMESPACE),
        "job_name": job_name_of(manifest),
        "spark_id": status.get("sparkApplicationId") or None,
        "has_listener": _listener_state(manifest),
        "state": state,
        "is_ended": state in ENDED,
        "is_newest": False,
        "problem": _problem(status),
        "owner": _owner(metadata, reading.owner_keys),
        "submitted_at": next(filter(None, map(time_of, times)), seen_at),
        "ended_at": time_of(status.get("terminationTime")),
        "seen_at": seen_at,
        "deleted_at": None,
    }
    return as_stored(row | {"summary": _summary(row)})


def as_stored(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the row with texts that any database holds: no NUL, none too long for an index."""
    return {
        name: _as_text(value) if isinstance(value, str) else value for name, value in row.items()
    }


def _as_text(value: str) -> str:
    sound = value.encode(errors="replace").decode().replace("\0", REPLACEMENT)
    return shorten(sound, NAME_BYTES)


def job_name_of(manifest: Manifest) -> str:
    """Return the job that the listener would name: by its settings, else by the object.

    A schedule and a rerun make objects with names of their own; the job is what they run.
    """
    metadata, conf = _part(manifest, "metadata"), _conf(manifest)
    given = next((conf[name] for name in _APP_NAMES if conf.get(name)), None)
    rerun = _part(metadata, "annotations").get(RERUN_OF)
    scheduled = _part(metadata, "labels").get(SCHEDULED_BY)
    return job_of(str(given or scheduled or rerun or metadata["name"]))


def has_listener(manifest: Manifest) -> bool:
    """Return whether the settings name the listener."""
    # `sparkConfigMap` does not count: spark-submit gives the driver `--properties-file`, so that
    # it never reads a `spark-defaults.conf` (https://github.com/kubeflow/spark-operator/issues/216).
    return LISTENER in _conf(manifest).get(_LISTENERS, "")


def _listener_state(manifest: Manifest) -> ListenerState:
    return ListenerState.IN_SETTINGS if has_listener(manifest) else ListenerState.ABSENT


def outputs_of(manifest: Manifest, reading: Reading) -> Iterator[int]:
    """Yield the keys of the datasets that the annotation names: `NAMESPACE NAME`, one a line."""
    notes = _part(_part(manifest, "metadata"), "annotations")
    lines = str(notes.get(reading.outputs_key) or "").splitlines()[:_MOST_OUTPUTS]
    names = (line.strip().partition(" ") for line in lines)
    yield from {key(namespace, name.strip()) for namespace, _, name in names if name.strip()}


def _summary(row: Mapping[str, Any]) -> str:
    """Return one sentence. It begins with the time, so that the greatest one is the newest."""
    named = f"SparkApplication {row['kube_namespace']}/{row['name']}"
    listener = WITHOUT_LISTENER if row["has_listener"] == ListenerState.ABSENT else ""
    problem = f", {row['problem']}" if row["problem"] else ""
    at = instant_text(row["submitted_at"])
    return f"{at} as {named}{listener}{STATE_NOW}{row['state']}{problem}"


def state_at_deletion(at: int) -> str:
    """Return what stands in place of `STATE_NOW` in the summary of a deleted application."""
    return f", deleted at {instant_text(at)}, which was "


def _problem(status: Manifest) -> str | None:
    message = _part(status, "applicationState").get("errorMessage")
    return cut_text(message) if message else None


def cut_text(message: object) -> str:
    """Return a message in one line, without secrets."""
    return one_line(redact_message(str(message)))[:_MOST_TEXT]


def _owner(metadata: Manifest, keys: tuple[str, ...]) -> str | None:
    notes, labels = _part(metadata, "annotations"), _part(metadata, "labels")
    found = (notes.get(name) or labels.get(name) for name in keys)
    return next((str(owner)[:_MOST_TEXT] for owner in found if owner), None)


def _conf(manifest: Manifest) -> dict[str, str]:
    conf = _part(_part(manifest, "spec"), "sparkConf")
    return {str(name): str(value) for name, value in conf.items()}


def _part(manifest: Manifest, name: str) -> Manifest:
    found = manifest.get(name)
    return found if isinstance(found, dict) else {}


def time_of(text: object) -> int | None:
    """Return a time of Kubernetes in µs; None for no time."""
    if not isinstance(text, str):
        return None
    try:
        return to_micros(datetime.fromisoformat(text))
    except ValueError:
        return None


def pod_row(pod: Pod, seen_at: int) -> dict[str, Any] | None:
    """Return the row of `spark_pod_failure`; None for a pod that did not fail."""
    metadata = pod.get("metadata") or {}
    labels = metadata.get("labels") or {}
    # Spark deletes executors that it does not need any more: those are not lost.
    is_deleted = bool(metadata.get("deletionTimestamp"))
    found = next(_loss_causes(pod.get("status") or {}, is_deleted=is_deleted), None)
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


def _loss_causes(status: Pod, *, is_deleted: bool) -> Iterator[tuple[str, str | None, object]]:
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

"""Settings of a Spark job on Kubernetes by which it reports to the collector in the cluster.

Everything is a setting of Spark or a field that each operator hands to spark-submit: volumes and
environment that only an operator's webhook applies are lost where the webhook is off.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Literal

import msgspec
import yaml

from lineage.errors import InvalidRequestError
from service.ingest.spark.listener_jar import LISTENER_PATH, jar_name
from service.ingest.spark.spark_conf import FILE_SETTING, Destinations, Setting, lossless_settings

Operator = Literal["kubeflow", "apache"]
# The Services of the chart, for a release `lineward` in a namespace of that name.
COLLECTOR_URL: Final = "http://lineward-collector.lineward.svc:8700"
API_URL: Final = "http://lineward.lineward.svc:8701"
_TRANSPORT: Final = "spark.openlineage.transport"
_NAME: Final = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")
_URL: Final = re.compile(r"[a-z0-9]+:/[!-+\--\[\]-~]+")  # a comma would begin another one
_CONFIG_FOLDER: Final = "/etc/openlineage"
PLACEHOLDER: Final = "TOKEN"
_VOLUME: Final = "spark.kubernetes.driver.volumes.persistentVolumeClaim.lineward-events"


class Cluster(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of a job that belong to Kubernetes.

    Attributes:
        jar_url: of the listener's jar.
        event_logs: folder of Spark's event logs; none: as the job has it.
        config_secret: Secret with `openlineage.yml`, which has the collector's address and token.
        events_claim: PersistentVolumeClaim for the events' file, which `lineward ship` follows.
    """

    jar_url: str
    event_logs: str | None = None
    config_secret: str | None = None
    events_claim: str | None = None


def jar_url(scala: str, api_url: str = API_URL) -> str:
    """Return the address at which the service serves the listener's jar."""
    return f"{api_url}{LISTENER_PATH}/{jar_name(scala)}"


def cluster_settings(place: Destinations, cluster: Cluster) -> list[Setting]:
    """Return the settings of a job in the cluster.

    Raises:
        InvalidRequestError: a part of the place cannot be what it says.
    """
    _require_names(cluster)
    kept = [one for one in lossless_settings(place) if not _is_replaced(one.name, cluster)]
    return [*kept, *_volume(place.folder, cluster), *_config(cluster)]


def _require_names(cluster: Cluster) -> None:
    for name in (cluster.config_secret, cluster.events_claim):
        if name is not None and not _NAME.fullmatch(name):
            raise InvalidRequestError(f"expected a name of an object, got {name[:80]!r}")
    if not _URL.fullmatch(cluster.jar_url):
        raise InvalidRequestError(
            f"--jar-url: expected the URL of a jar, got {cluster.jar_url[:80]!r}"
        )


def _is_replaced(name: str, cluster: Cluster) -> bool:
    if name == "spark.jars.packages":
        return True
    if name.startswith("spark.eventLog."):
        return cluster.event_logs is None
    if name.startswith(_TRANSPORT) and cluster.config_secret:
        return True
    return _is_unused_file(name, cluster)


def _is_unused_file(name: str, cluster: Cluster) -> bool:
    is_of_file = name.startswith(FILE_SETTING.rpartition(".")[0])
    return is_of_file and cluster.events_claim is None


def openlineage_yml(place: Destinations, cluster: Cluster) -> str:
    """Return the file of the Secret: the transports, with a mark in place of the token.

    The listener takes all transports from one source: those of `sparkConf` would replace these.
    """
    tree: dict[str, Any] = {}
    for one in lossless_settings(place):
        if one.name.startswith(_TRANSPORT) and not _is_unused_file(one.name, cluster):
            *path, leaf = one.name.removeprefix("spark.openlineage.").split(".")
            branch = tree
            for part in path:
                branch = branch.setdefault(part, {})
            branch[leaf] = yaml.safe_load(one.value)
    tree["transport"]["transports"]["http"]["auth"] = {"type": "api_key", "apiKey": PLACEHOLDER}
    return yaml.safe_dump(tree, sort_keys=False, width=1_000)


def _volume(folder: Path, cluster: Cluster) -> Iterator[Setting]:
    if cluster.events_claim:
        why = "`lineward ship` follows the files of this volume"
        yield Setting(f"{_VOLUME}.options.claimName", cluster.events_claim, why)
        yield Setting(f"{_VOLUME}.mount.path", str(folder), "")


def _config(cluster: Cluster) -> Iterator[Setting]:
    if cluster.config_secret:
        why = "the Secret's key openlineage.yml has the transport, with the collector's token"
        secret = f"spark.kubernetes.driver.secrets.{cluster.config_secret}"
        yield Setting(secret, _CONFIG_FOLDER, why)
        variable = "spark.kubernetes.driverEnv.OPENLINEAGE_CONFIG"
        yield Setting(variable, f"{_CONFIG_FOLDER}/openlineage.yml", "")


def with_jar(settings: list[Setting], cluster: Cluster) -> list[Setting]:
    """Return the settings with the jar among them, for what has no field for jars."""
    return [Setting("spark.jars", cluster.jar_url, "the listener"), *settings]


def as_manifest(settings: list[Setting], cluster: Cluster, operator: Operator) -> str:
    """Return the part of a SparkApplication's manifest that has these settings."""
    if operator == "kubeflow":
        head, beside = "sparkoperator.k8s.io/v1beta2", {"deps": {"jars": [cluster.jar_url]}}
    else:
        head, beside, settings = "spark.apache.org/v1", {}, with_jar(settings, cluster)
    conf = {one.name: one.value for one in settings}
    body: dict[str, Any] = {"apiVersion": head, "kind": "SparkApplication"}
    return yaml.safe_dump(
        {**body, "spec": {**beside, "sparkConf": conf}}, sort_keys=False, width=1_000
    )

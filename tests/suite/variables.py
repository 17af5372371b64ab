"""Environment variables, by the structs into which the roles read them."""

from typing import Any, Final

import msgspec

from alerts.notify.settings import DeliverySettings, Variables
from collector.settings import CollectorLocation, Limits
from lineage.input_log.settings import Log, LogSettings
from lineage.lake.settings import LakeSettings
from lineage.process.health_port import HealthPort
from runbooks.actions.kubernetes_settings import KubernetesSettings
from service.cli.commands.operator_name import OperatorSettings
from service.ingest.kafka.settings import KafkaSettings
from service.ingest.marquez.settings import MarquezSettings
from service.runtime.settings import Settings
from slis.settings import PipelineSettings, SharedPaths

_SECTIONS: Final[list[tuple[str, Any]]] = [
    ("", Settings),
    ("", CollectorLocation),
    ("", SharedPaths),
    ("", HealthPort),
    ("", Log),
    ("LOG_", LogSettings),
    ("LAKE_", LakeSettings),
    ("KAFKA_", KafkaSettings),
    ("", OperatorSettings),
    ("ALERTS_", Variables),
    ("COLLECTOR_", Limits),
    ("PIPELINE_", PipelineSettings),
    ("DELIVERY_", DeliverySettings),
    ("MARQUEZ_", MarquezSettings),
    ("KUBERNETES_", KubernetesSettings),
]
_NESTED: Final = {"lake_settings"}  # a struct that is read by itself


def setting_variables() -> set[str]:
    """Return the variables of all sections."""
    fields = [(s, one.name) for s, struct in _SECTIONS for one in msgspec.structs.fields(struct)]
    return {f"LINEWARD_{s}{name.upper()}" for s, name in fields if name not in _NESTED}

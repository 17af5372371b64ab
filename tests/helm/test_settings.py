"""Check that containers of the chart set what Lineward reads."""

from typing import Any

import pytest

from alerts.notify.settings import DeliverySettings, Variables
from collector.settings import Limits
from lineage.input_log.settings import LogSettings, read_log
from lineage.lake.settings import LakeSettings
from lineage.process import environment
from lineage.process.health_port import HealthPort
from runbooks.actions.kubernetes_settings import KubernetesSettings
from service.ingest.kafka import settings as kafka_settings
from service.ingest.marquez.settings import MarquezSettings
from service.runtime import settings as service_settings
from slis import settings as pipeline_settings
from tests.helm.charts import each_values_file, env_of, list_containers, list_pods

pytestmark = pytest.mark.xdist_group("helm")
_STRUCTS: dict[str, Any] = {
    "": service_settings.Settings,
    "DELIVERY_": DeliverySettings,
    "ALERTS_": Variables,
    "PIPELINE_": pipeline_settings.PipelineSettings,
    "COLLECTOR_": Limits,
    "KUBERNETES_": KubernetesSettings,
    "LAKE_": LakeSettings,
    "LOG_": LogSettings,
    "KAFKA_": kafka_settings.KafkaSettings,
    "MARQUEZ_": MarquezSettings,
}


@each_values_file
def test_containers_set_what_lineward_reads(name):
    """Read each container's variables as Lineward does: each is a setting, with a valid value."""
    known = {
        f"LINEWARD_{section}{field.upper()}"
        for section, struct in _STRUCTS.items()
        for field in struct.__struct_fields__
    } | {"LINEWARD_HEALTH_PORT"}
    for _, pod in list_pods(name):
        for container in list_containers(pod):
            env = env_of(container)
            assert len(env) == len(container.get("env", []))
            assert {one for one in env if one.startswith("LINEWARD_")} <= known
            shared = {"LINEWARD_COLLECTOR_URL"}
            for section, struct in _STRUCTS.items():
                ours = {
                    key: value for key, value in env.items() if not section or key not in shared
                }
                environment.read(struct, section=section, environ=ours)
            assert environment.read(HealthPort, environ=env)
            read_log(env)

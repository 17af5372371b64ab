"""Settings of all roles of `lineward up`, read before any role starts."""

from alerts.notify.settings import read_routing
from collector.settings import read_collector_settings, read_sender_token
from lineage.input_log.settings import read_log
from lineage.process.health_port import read_health_port
from runbooks.actions.kubernetes_settings import read_for_watch
from service.ingest.kafka.settings import client_settings, read_kafka_settings
from service.ingest.marquez.settings import read_marquez
from service.runtime.settings import Settings
from slis.settings import read_pipeline_settings


def require_role_settings(settings: Settings) -> None:
    """See that each role accepts its settings: otherwise it would be restarted without end.

    Raises:
        InvalidSettingError: an unknown variable, a value out of range, an unreadable file.
    """
    read_sender_token(read_collector_settings().limits)
    if (log := read_log()) is not None:
        log.producer_settings()
    read_pipeline_settings()
    read_health_port()
    read_routing()
    read_marquez()
    if settings.kafka_bootstrap:
        client_settings(read_kafka_settings())
    if settings.kubernetes_namespaces:
        read_for_watch()

"""`python -m service.ingest.kubernetes`: the kubernetes role, a process of its own."""

import sys
from functools import partial
from threading import Event

import structlog

from lineage.catalog.engine import migrate, open_catalog
from lineage.catalog.revision import require_usable
from lineage.process.environment import InvalidSettingError
from lineage.process.health import HEALTH
from lineage.process.health_port import serve_health
from lineage.process.role import await_catalog, begin_role, stop_on_signals
from runbooks.actions.kubernetes_settings import KubernetesSettings, read_for_watch
from service.ingest.kubernetes.watcher import Watcher
from service.runtime.settings import Settings, read_settings

_MOST_CONNECTIONS = 4
_log = structlog.get_logger()


def main() -> int:
    """Run the role; return 2 for a setting that cannot be used."""
    begin_role()
    HEALTH.beat_beside()
    try:
        settings, cluster = read_settings(), read_for_watch()
        serve_health()
    except (InvalidSettingError, OSError) as error:
        _log.error("kubernetes_cannot_start", reason=str(error))
        return 2
    stopping = stop_on_signals()
    _run(settings, cluster, stopping)
    return 0


def _run(settings: Settings, cluster: KubernetesSettings, stopping: Event) -> None:
    await_catalog(partial(require_usable, settings.catalog), stopping)
    if stopping.is_set():
        return
    engine = open_catalog(settings.catalog, most=_MOST_CONNECTIONS)
    try:
        migrate(engine)
        namespaces = cluster.watched_namespaces
        _log.info("kubernetes_watching", url=cluster.url, namespaces=namespaces)
        Watcher(cluster, engine).run(stopping)
    finally:
        engine.dispose()


if __name__ == "__main__":
    sys.exit(main())

"""Watcher of SparkApplications and Spark's pods: a thread for each resource and namespace.

`Watcher.run` is the whole work: the role calls it, and of several services only the leader may.
"""

from threading import Event, Thread

from sqlalchemy import Engine

from lineage.catalog.meta_keys import APPLICATIONS, PODS
from lineage.process.clock import Clock, system_clock, to_micros
from runbooks.actions.kubernetes_settings import KubernetesSettings
from service.ingest.kubernetes.connection import (
    Resource,
    application_list_call,
    open_client,
    pod_list_call,
)
from service.ingest.kubernetes.follow import Follower, Options
from service.ingest.kubernetes.manifests import Reading
from service.ingest.kubernetes.store import ApplicationStore, PodStore, forget_others

_STOP_SECONDS = 4.0  # a watch may wait for a minute: its thread ends with the process


class Watcher:
    """Watches of one process on one catalog."""

    def __init__(
        self, settings: KubernetesSettings, engine: Engine, clock: Clock = system_clock
    ) -> None:
        self._settings, self._engine, self._clock = settings, engine, clock

    def run(self, stopping: Event) -> None:
        """Watch until `stopping` is set. A request that is under way then stores nothing."""
        followers = self._followers()
        watched = (each.resource for each in followers)
        forget_others(self._engine, watched, to_micros(self._clock()))
        threads = [
            Thread(target=each.run, args=(stopping,), name=str(each.resource), daemon=True)
            for each in followers
        ]
        for thread in threads:
            thread.start()
        stopping.wait()
        for thread in threads:
            thread.join(_STOP_SECONDS / len(threads))

    def _followers(self) -> list[Follower]:
        api, settings = open_client(self._settings), self._settings
        options = Options(settings.page_objects, settings.watch_seconds, settings.timeout_seconds)
        reading = Reading.of(settings)
        found = []
        for namespace in settings.watched_namespaces:
            ours, theirs = Resource(APPLICATIONS, namespace), Resource(PODS, namespace)
            stored = ApplicationStore(self._engine, ours, reading)
            found += [
                Follower(ours, application_list_call(api, namespace), stored, options, self._clock),
                Follower(
                    theirs,
                    pod_list_call(api, namespace),
                    PodStore(self._engine, theirs),
                    options,
                    self._clock,
                ),
            ]
        return found

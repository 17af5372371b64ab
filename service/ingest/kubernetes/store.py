"""Store of what the kubernetes role sees; each call is one small transaction."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import structlog
from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    bindparam,
    delete,
    func,
    insert,
    select,
    text,
    update,
)
from sqlalchemy.exc import SQLAlchemyError

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.catalog.meta_keys import APPLICATIONS, LONGEST_PAUSE_MICROS, ListenerState
from lineage.catalog.trouble import CatalogError
from lineage.catalog.upsert import fold_rows, newest
from lineage.process.health import HEALTH
from service.ingest.kubernetes import manifests
from service.ingest.kubernetes.connection import Resource
from service.ingest.kubernetes.manifests import Manifest, Reading

_log = structlog.get_logger()
_NOTED_EACH_MICROS: Final = 10_000_000  # how often a watch that sees nothing new writes its time
_application = tables.spark_application
_watch = tables.kubernetes_watch
_KEPT: Final = frozenset({"uid", "is_newest"})
# Of a job's rows only the newest one before, and the new ones, can change their flag.
_NEWEST: Final = text("""
    UPDATE spark_application SET is_newest = (submitted_at = (
        SELECT max(o.submitted_at) FROM spark_application o
        WHERE o.job_name = spark_application.job_name
        AND coalesce(o.job_namespace, '') = coalesce(spark_application.job_namespace, '')))
    WHERE job_name IN :jobs AND (is_newest OR uid IN :uids)
""").bindparams(bindparam("jobs", expanding=True), bindparam("uids", expanding=True))
# The listener may be configured where Lineward does not look (the image, `spark-defaults.conf`). Of
# a job whose settings had none before either, the events of one of the last runs show that it has.
_REPORTED: Final = text(f"""
    UPDATE spark_application SET has_listener = {ListenerState.BY_EVENTS},
        summary = replace(summary, '{manifests.WITHOUT_LISTENER}', '')
    WHERE uid IN :uids AND has_listener = {ListenerState.ABSENT} AND EXISTS (
        SELECT 1 FROM (
            SELECT o.spark_id FROM spark_application o
            WHERE o.job_name = spark_application.job_name
                AND coalesce(o.job_namespace, '') = coalesce(spark_application.job_namespace, '')
            AND o.has_listener IN ({ListenerState.ABSENT}, {ListenerState.BY_EVENTS})
            ORDER BY o.submitted_at DESC LIMIT 10
        ) AS e CROSS JOIN run r
        WHERE r.application_id = e.spark_id AND coalesce(r.evidence, '') <> 'alone')
""").bindparams(bindparam("uids", expanding=True))  # noqa: S608 - our own words


class WatchState:
    """Row of `kubernetes_watch` of one resource: since when and until when it is complete."""

    def __init__(self, engine: Engine, resource: Resource) -> None:
        self.engine = engine
        self.resource = resource
        self._part = f"kubernetes: {resource}"
        self._noted_at = 0
        self._problem: str | None = ""  # not known yet: a process before may have stored one

    def begin_list(self, at: int) -> int:
        """Return the time of a list that begins."""
        return at

    def end_list(self, began_at: int) -> None:
        """Note that a list is complete. What a long pause before it hid is lost."""
        with write_transaction(self.engine) as connection:
            known = connection.execute(select(_watch).where(*self._mine())).one_or_none()
            until = known.complete_until if known else None
            is_whole = until is not None and began_at - until <= LONGEST_PAUSE_MICROS
            since = known.complete_since if known and is_whole else began_at
            self._write(connection, complete_since=since, complete_until=began_at)

    def note_works(self, at: int) -> None:
        """Note that every change up to now is stored, at most each 10 s."""
        HEALTH.succeed(self._part)
        if self._problem is None and at - self._noted_at < _NOTED_EACH_MICROS:
            return
        with write_transaction(self.engine) as connection:
            self._write(connection, complete_until=at, problem=None, problem_since=None)
        self._noted_at, self._problem = at, None

    def note_problem(self, problem: str, at: int) -> None:
        """Report a problem to the supervisor, and store it for `lineward status` when it is new."""
        HEALTH.fail(self._part, problem)
        if problem == self._problem:
            return
        try:
            with write_transaction(self.engine) as connection:
                self._write(connection, problem=problem, problem_since=at)
        except (SQLAlchemyError, CatalogError) as error:
            # The catalog may be the problem; the supervisor knows it by now.
            _log.warning("catalog_unavailable", error=str(error)[:200])
        else:
            self._problem = problem

    def _write(self, connection: Connection, **values: object) -> None:
        named = {"resource": self.resource.name, "kube_namespace": self.resource.namespace}
        fold_rows(connection, _watch, [{**named, **values}])

    def _mine(self) -> tuple[Any, ...]:
        return (
            _watch.c.resource == self.resource.name,
            _watch.c.kube_namespace == self.resource.namespace,
        )


class ApplicationStore(WatchState):
    """SparkApplications of one namespace."""

    def __init__(self, engine: Engine, resource: Resource, reading: Reading) -> None:
        super().__init__(engine, resource)
        self._reading = reading
        self._existing = (
            _application.c.kube_namespace == resource.namespace,
            _application.c.deleted_at.is_(None),
        )

    def begin_list(self, at: int) -> int:
        """Return the time of a list that begins: a clock that was set back makes it no earlier."""
        last = select(func.max(_application.c.seen_at)).where(*self._existing)
        with self.engine.connect() as connection:
            return max(at, (connection.scalar(last) or 0) + 1)

    def store(self, objects: Sequence[Manifest], at: int) -> None:
        """Store objects as they are at this time."""
        self._store(objects, at)

    def delete(self, objects: Sequence[Manifest], at: int) -> None:
        """Store the last state of objects that were deleted."""
        self._store(objects, at, is_deleted=True)

    def end_list(self, began_at: int) -> None:
        """Mark what the list did not have as deleted."""
        with write_transaction(self.engine) as connection:
            gone = (*self._existing, _application.c.seen_at < began_at)
            self._mark_deleted(connection, began_at, *gone)
        super().end_list(began_at)

    def _mark_deleted(self, connection: Connection, at: int, *gone: ColumnElement[bool]) -> None:
        """Mark as deleted, and as ended: with its object an application loses its pods."""
        words = (manifests.STATE_NOW, manifests.state_at_deletion(at))
        summary = func.replace(_application.c.summary, *words)
        ended = {"deleted_at": at, "is_ended": True, "summary": summary}
        connection.execute(update(_application).where(*gone).values(ended))

    def _store(self, objects: Sequence[Manifest], at: int, *, is_deleted: bool = False) -> None:
        if not objects:
            return
        rows = [manifests.application_row(each, self._reading, at) for each in objects]
        uids = [row["uid"] for row in rows]
        folds = dict.fromkeys(rows[0].keys() - _KEPT, newest)
        with write_transaction(self.engine) as connection:
            fold_rows(connection, _application, rows, folds)
            if is_deleted:
                self._mark_deleted(connection, at, _application.c.uid.in_(uids))
            jobs = sorted({row["job_name"] for row in rows})
            connection.execute(_NEWEST, {"jobs": jobs, "uids": uids})
            connection.execute(_REPORTED, {"uids": uids})
            self._replace_outputs(connection, objects, uids)

    def _replace_outputs(
        self, connection: Connection, objects: Sequence[Manifest], uids: Sequence[str]
    ) -> None:
        table = tables.spark_output
        connection.execute(delete(table).where(table.c.uid.in_(uids)))
        named = [
            {"uid": uid, "dataset_key": key}
            for uid, each in zip(uids, objects, strict=True)
            for key in manifests.outputs_of(each, self._reading)
        ]
        if named:
            connection.execute(insert(table), named)


class PodStore(WatchState):
    """Pods of Spark that failed in one namespace. Pods that work are not stored."""

    def store(self, objects: Sequence[Manifest], at: int) -> None:
        """Store those that failed."""
        found = (manifests.pod_row(each, at) for each in objects)
        rows = [row for row in found if row is not None]
        if rows:
            with write_transaction(self.engine) as connection:
                fold_rows(connection, tables.spark_pod_failure, rows)

    def delete(self, objects: Sequence[Manifest], at: int) -> None:
        """Store the last state of a pod: its failure may be known only with its end."""
        self.store(objects, at)


def forget_others(engine: Engine, watched: Iterable[Resource], at: int) -> None:
    """Delete the rows of watches that are not configured any more: nothing renews them.

    What the jobs of other namespaces do is unknown: none of their applications is the newest one.
    """
    kept = {(each.name, each.namespace) for each in watched}
    namespaces = [namespace for name, namespace in kept if name == APPLICATIONS]
    with write_transaction(engine) as connection:
        for row in connection.execute(select(_watch.c.resource, _watch.c.kube_namespace)).all():
            if tuple(row) not in kept:
                mine = (_watch.c.resource == row[0], _watch.c.kube_namespace == row[1])
                connection.execute(delete(_watch).where(*mine))
        others = (_application.c.is_newest, _application.c.kube_namespace.not_in(namespaces))
        forgotten = {
            "is_newest": False,
            "deleted_at": func.coalesce(_application.c.deleted_at, at),
        }
        connection.execute(update(_application).where(*others).values(forgotten))

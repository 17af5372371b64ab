"""Random changes of a small estate: facts, policies, edges, gaps and time."""

from datetime import timedelta

from hypothesis import strategies as st
from sqlalchemy import delete, insert, text

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.catalog.meta_keys import APPLICATIONS, EVIDENCE_READ_AT
from lineage.catalog.upsert import fold_rows
from lineage.names.keys import key
from lineage.policy import Policy
from lineage.policy.model import Calendar, DatasetRule
from lineage.process.clock import to_micros
from slis.meta import put_meta

# Pairs of similar names, a stream with its inputs, a source, a declared one, one with a calendar.
ORDERS, ORDERS_IN_HIVE, CHURN, STREAM, RAW, COUNTRIES, WEEKLY, LATE = range(8)
_NAMES = (
    ("s3://lake", "core/orders"),
    ("hive", "core.orders"),
    ("s3://lake", "mart/churn"),
    ("s3://lake", "live/clicks"),
    ("s3://lake", "raw/clicks"),
    ("s3://lake", "ref/countries"),
    ("s3://lake", "plan/weekly"),
    ("s3://lake", "late/comer"),
)
_WEEK = Calendar("office", days_off=("sat", "sun"))
_COMMON = (
    DatasetRule("s3://*/live/*", streaming=True),
    DatasetRule("s3://*/plan/*", calendar="office", limit="26h"),
)
POLICIES = (
    Policy(calendars=(_WEEK,), datasets=_COMMON),
    Policy(
        calendars=(_WEEK,),
        datasets=(
            *_COMMON,
            DatasetRule("s3://*/mart/churn*", tier="critical", limit="2h"),
            DatasetRule("s3://*/ref/*", source=True),
        ),
    ),
    Policy(datasets=(DatasetRule("s3://*/core/*", tier="important", generated=True),)),
)
_HOUR = 3_600
_AGO = st.sampled_from([-120, 0, 1, 60, _HOUR, 2 * _HOUR, 26 * _HOUR, 8 * 24 * _HOUR])
_WHICH = st.integers(0, len(_NAMES) - 1)
_YES = st.booleans()
_LIMIT = st.sampled_from([None, 60.0, 3_600.0, 93_600.0])
CHANGES = st.one_of(
    st.tuples(st.just("write"), _WHICH, _AGO, _YES, _YES, _YES),
    st.tuples(st.just("read"), _WHICH, _AGO),
    st.tuples(st.just("fail"), _WHICH, _AGO),
    st.tuples(st.just("start"), _WHICH, _AGO),
    st.tuples(st.just("create"), _WHICH, _AGO),
    st.tuples(st.just("limit"), _WHICH, _LIMIT, st.sampled_from([None, 600.0, 86_400.0]), _YES),
    st.tuples(st.just("edge"), _WHICH, _WHICH, st.integers(1, 4)),
    st.tuples(st.just("no_edge"), _WHICH, _WHICH),
    st.tuples(st.just("gap"), _AGO, st.none() | st.sampled_from([30, 600, 2 * _HOUR])),
    st.tuples(st.just("no_gap")),
    st.tuples(st.just("sql"), _WHICH, _YES),
    st.tuples(st.just("logs"), _WHICH, _AGO),
    st.tuples(st.just("look")),
    st.tuples(st.just("submit"), _WHICH, _AGO, _YES),
    st.tuples(st.just("watch")),
    st.tuples(st.just("retire"), _WHICH, _YES),
    st.tuples(st.just("drop"), _WHICH, _YES),
)
# None: to the next time at which something changes by itself, and there or a moment later.
_LATER = st.sampled_from([1, 40, 10 * 60, 2 * _HOUR, 30 * _HOUR, 8 * 24 * _HOUR])
STEPS = st.tuples(
    st.lists(CHANGES, max_size=4),
    _LATER | st.tuples(st.none(), st.sampled_from([0, 1])),
    st.integers(0, len(POLICIES) - 1),
    st.none() | st.sampled_from([0, 30, 3 * _HOUR]),
)


_NOW = 1  # a second later
_SOON, _DAY = 2 * _HOUR, 30 * _HOUR


def written(which, ago=0, *, names_input=True, is_streaming=False):
    """Return a reported write of a dataset, so many seconds ago."""
    return ("write", which, ago, names_input, True, is_streaming)


def limit(which, seconds=3_600.0):
    """Return a learned limit of a dataset."""
    return ("limit", which, seconds, 600.0, False)


def _late(which):
    return [written(which, 2 * _HOUR), limit(which)]


def _steps(*steps):  # noqa: ANN002
    """Return steps of changes and seconds, without a backlog and by the first policy."""
    return [(changes, later, 0, None) for changes, later in steps]


_JOINED = ("edge", ORDERS, CHURN, 3)
_FED = [("edge", RAW, STREAM, 3), written(RAW, 3 * _HOUR)]
_STREAMED = written(STREAM, 2 * _HOUR, is_streaming=True)
# One way each in which a state can change, and only that way.
KINDS = {
    "a limit passes": _steps(([written(ORDERS), limit(ORDERS)], _NOW), ([], _SOON)),
    "nobody uses it any more": _steps(
        ([("read", ORDERS, 0)], _NOW), ([], _DAY), ([], 7 * 24 * _HOUR)
    ),
    "it is read and not written": _steps(
        ([written(ORDERS)], _NOW),
        ([], _DAY),
        ([("read", ORDERS, 0)], _NOW),
        ([], 6 * 24 * _HOUR),
    ),
    "its first day ends": _steps(([("create", ORDERS, 0)], _NOW), ([], _DAY)),
    "its run is lost": _steps(([*_late(ORDERS), ("start", ORDERS, 60)], _NOW), ([], 10 * 60)),
    "a gap excuses it no more": _steps(
        ([*_late(ORDERS), ("gap", 2 * _HOUR, 7_000)], _NOW), ([], _SOON)
    ),
    "its clock is ahead": _steps(([written(ORDERS, -120), limit(ORDERS)], _NOW), ([], 40)),
    "it was first seen ahead": _steps(([("seen", LATE, -30)], _NOW), ([], 40)),
    "the policy": [([written(CHURN)], _NOW, 0, None), ([], _NOW, 1, None)],
    "an edge": _steps(([*_late(ORDERS), *_late(CHURN)], _NOW), ([_JOINED], _NOW)),
    "an edge that goes": _steps(
        ([*_late(ORDERS), *_late(CHURN), _JOINED], _NOW), ([("no_edge", ORDERS, CHURN)], _NOW)
    ),
    "a write": _steps(([written(ORDERS, 60), limit(ORDERS)], _NOW), ([written(ORDERS)], _NOW)),
    "a learned limit": _steps(([written(ORDERS, 60)], _NOW), ([limit(ORDERS, 30.0)], _NOW)),
    "it is retired": _steps(([written(ORDERS)], _NOW), ([("drop", ORDERS, True)], _NOW)),
    "its retirement is requested": _steps(
        ([written(ORDERS)], _NOW), ([("retire", ORDERS, True)], _NOW)
    ),
    "a gap": _steps((_late(ORDERS), _NOW), ([("gap", 2 * _HOUR, None)], _NOW)),
    "a backlog": [(_late(ORDERS), _NOW, 0, None), ([], _NOW, 0, 3 * _HOUR)],
    "its SQL is read": _steps(
        ([written(ORDERS, names_input=False), ("sql", ORDERS, True)], _NOW),
        ([("sql", ORDERS, False)], _NOW),
    ),
    "event logs": _steps((_late(ORDERS), _NOW), ([("logs", ORDERS, 0)], _NOW)),
    "event logs are read after its deadline": _steps(
        ([*_late(ORDERS), ("logs", ORDERS, 3 * _HOUR)], _NOW), ([("look",)], _NOW)
    ),
    "its job is submitted": _steps((_late(ORDERS), _NOW), ([("submit", ORDERS, 0, False)], _NOW)),
    "Kubernetes is watched after its deadline": _steps(
        ([*_late(ORDERS), ("submit", ORDERS, 3 * _HOUR, True)], _NOW), ([("watch",)], _NOW)
    ),
    "an input of a stream": _steps(([*_FED, _STREAMED], _NOW), ([written(RAW)], _NOW)),
    "a stream with inputs as before": _steps((_FED, _NOW), ([_STREAMED], _NOW)),
    "a late upstream": _steps(
        ([*_late(ORDERS), *_late(CHURN), _JOINED], _NOW), ([written(ORDERS)], _NOW)
    ),
    "it is late with a late upstream": _steps(
        ([*_late(ORDERS), written(CHURN, 2 * _HOUR), _JOINED], _NOW), ([limit(CHURN)], _NOW)
    ),
    "a similar name": _steps(([("read", ORDERS, 0)], _NOW), ([written(ORDERS_IN_HIVE)], _NOW)),
    "it has a similar name": _steps(
        ([written(ORDERS_IN_HIVE)], _NOW), ([("read", ORDERS, 0)], _NOW)
    ),
}


class History:
    """Estate in a catalog, to which changes come."""

    def __init__(self, engine, start, place="") -> None:
        """Begin with the first six datasets; another place has datasets and names of its own."""
        self.engine = engine
        self.now = start
        # Names are similar within their place alone.
        self.names = [(namespace + place, name + place) for namespace, name in _NAMES]
        self.keys = [key(*name) for name in self.names]
        self.place = place
        for which in range(6):
            self._dataset(which)

    def _at(self, ago):
        return to_micros(self.now) - ago * 1_000_000

    def _fold(self, table, **row):  # noqa: ANN003
        with write_transaction(self.engine) as connection:
            fold_rows(connection, table, [row])

    def _dataset(self, which, ago=0):
        namespace, name = self.names[which]
        at = {"first_seen_at": self._at(ago), "last_seen_at": self._at(ago)}
        row = {"dataset_key": self.keys[which], "canonical_key": self.keys[which]}
        with write_transaction(self.engine) as connection:
            named = insert(tables.dataset).prefix_with("OR IGNORE")
            connection.execute(named, {**row, **at, "namespace": namespace, "name": name})

    def _activity(self, which, **fields):  # noqa: ANN003
        self._dataset(which, max(0, fields.pop("ago")))
        with write_transaction(self.engine) as connection:
            seen = {"dataset_key": self.keys[which], "writes": 1, "learned_writes": 1}
            connection.execute(insert(tables.dataset_activity).prefix_with("OR IGNORE"), seen)
            activity = tables.dataset_activity
            own = activity.c.dataset_key == self.keys[which]
            connection.execute(activity.update().where(own).values(**fields))

    def apply(self, change):
        """Make a change."""
        kind, *given = change
        getattr(self, f"_do_{kind}")(*given)

    def _do_write(self, which, ago, names_input, is_reported, is_streaming):
        self._activity(
            which,
            ago=ago,
            last_written_at=self._at(ago),
            last_write_landed_at=self._at(ago),
            last_write_root_run_id=f"run-{which}{self.place}",
            last_write_names_input=names_input,
            last_write_is_reported=is_reported,
            last_write_is_streaming=is_streaming,
            last_job_namespace="jobs",
            last_job_name=f"job_{which}{self.place}",
        )

    def _do_seen(self, which, ago):
        self._dataset(which, ago)

    def _do_read(self, which, ago):
        self._activity(which, ago=ago, last_read_at=self._at(ago))

    def _do_fail(self, which, ago):
        failed = {"last_failed_run_id": "r", "last_failure": "ValueError: 7"}
        self._activity(which, ago=ago, last_failed_at=self._at(ago), **failed)

    def _do_start(self, which, ago):
        self._activity(which, ago=ago, last_started_at=self._at(ago))

    def _do_create(self, which, ago):
        """Have a run create the dataset: known by the run alone, and not by the activity."""
        self._activity(which, ago=ago, writes=0)
        seen = {"first_event_at": self._at(ago), "last_event_at": self._at(ago)}
        io = {"run_key": self.keys[which], "dataset_key": self.keys[which], "direction": "write"}
        flags = {"has_statistics": False, "is_reported": True, "lifecycle": "CREATE"}
        self._fold(tables.run_io, **io, **seen, **flags, landed_at=self._at(0))

    def _do_limit(self, which, limit, cadence, is_few):
        self._dataset(which)
        kind = {"cadence_class": "few" if is_few else "periodic", "gaps": 3, "explanation": ""}
        times = {"limit_seconds": limit, "cadence_seconds": cadence, "duration_seconds": 60.0}
        self._fold(
            tables.dataset_limit,
            dataset_key=self.keys[which],
            **times,
            **kind,
            learned_at=self._at(0),
        )

    def _do_edge(self, up, down, runs):
        job = {"job_key": 1, "job_namespace": "jobs", "job_name": "job", "runs": runs}
        seen = {"first_seen_at": self._at(0), "last_seen_at": self._at(0)}
        keys = {"upstream_key": self.keys[up], "downstream_key": self.keys[down]}
        self._fold(tables.edge, **keys, **job, **seen, last_reported_at=self._at(0))

    def _do_no_edge(self, up, down):
        edge = tables.edge.c
        with write_transaction(self.engine) as connection:
            one = (edge.upstream_key == self.keys[up]) & (edge.downstream_key == self.keys[down])
            connection.execute(delete(tables.edge).where(one))

    def _do_gap(self, ago, lasts):
        ended = None if lasts is None else self._at(ago - lasts)
        self._fold(tables.ingestion_gap, started_at=self._at(max(0, ago)), ended_at=ended)

    def _do_no_gap(self):
        with write_transaction(self.engine) as connection:
            ended = "UPDATE ingestion_gap SET ended_at = coalesce(ended_at, :now)"
            connection.execute(text(ended), {"now": self._at(0)})

    def _do_sql(self, which, is_waiting):
        """Have SQL of the run that wrote the dataset wait, or be read."""
        names = ("job_namespace", "job_name", "root_job_namespace", "root_job_name")
        seen = dict.fromkeys(("first_event_at", "last_event_at", "landed_at"), self._at(0))
        run = {
            "run_key": self.keys[which],
            "run_id": f"run-{which}{self.place}",
            "root_run_id": f"run-{which}{self.place}",
        }
        job = dict.fromkeys(names, "job")
        self._fold(tables.run, **run, **job, **seen, completed_at=self._at(0), is_history=False)
        with write_transaction(self.engine) as connection:
            sql = tables.sql_run
            connection.execute(delete(sql).where(sql.c.run_key == self.keys[which]))
            if is_waiting:
                row = {"run_key": self.keys[which], "sql_key": 1, "seen_at": self._at(0)}
                connection.execute(insert(sql), row)

    def _do_logs(self, which, ago):
        """Have event logs been read, with an application of the job that writes the dataset."""
        ran = {"name": f"job_{which}{self.place}", "namespace": "jobs", "started_at": self._at(ago)}
        self._fold(tables.application, application_id=f"app-{which}{self.place}", **ran)
        with write_transaction(self.engine) as connection:
            put_meta(connection, {EVIDENCE_READ_AT: self._at(max(0, ago))})

    def _do_look(self):
        """Have event logs been read again, without anything new in them."""
        with write_transaction(self.engine) as connection:
            put_meta(connection, {EVIDENCE_READ_AT: self._at(0)})

    def _do_submit(self, which, ago, has_listener):
        """Have the job that writes the dataset been submitted as a SparkApplication."""
        name = f"app-{which}{self.place}"
        object_ = {"uid": name, "kube_namespace": "spark", "name": name, "summary": f"as {name}"}
        flags = {"is_ended": True, "is_newest": True, "has_listener": int(has_listener)}
        job = {"job_namespace": "jobs", "job_name": f"job_{which}{self.place}"}
        times = {"submitted_at": self._at(ago), "seen_at": self._at(0)}
        row = {**object_, **flags, **job, **times, "state": "COMPLETED"}
        self._fold(tables.spark_application, **row)

    def _do_watch(self):
        """Have Kubernetes been watched without a gap since the beginning."""
        watch = {"resource": APPLICATIONS, "kube_namespace": "spark"}
        times = {"complete_since": 1, "complete_until": self._at(0)}
        self._fold(tables.kubernetes_watch, **watch, **times)

    def _do_retire(self, which, is_retired):
        with write_transaction(self.engine) as connection:
            table = tables.retirement
            connection.execute(delete(table).where(table.c.dataset_key == self.keys[which]))
            if is_retired:
                row = {"dataset_key": self.keys[which], "requested_at": self._at(0), "note": ""}
                connection.execute(insert(table), row)

    def _do_drop(self, which, is_dropped):
        dataset = tables.dataset
        own = dataset.c.dataset_key == self.keys[which]
        with write_transaction(self.engine) as connection:
            at = self._at(0) if is_dropped else None
            connection.execute(dataset.update().where(own).values(retired_at=at))

    def wait(self, later):
        """Let time pass: so many seconds, or until something changes by itself."""
        if isinstance(later, int):
            self.now += timedelta(seconds=later)
            return
        query = "SELECT min(next_change_at) FROM dataset_judgement WHERE next_change_at > :now"
        with self.engine.connect() as connection:
            found = connection.scalar(text(query), {"now": self._at(0)})
        if found is not None:
            self.now += timedelta(microseconds=found - self._at(0) + later[1])
        else:
            self.now += timedelta(seconds=1)

"""Jobs of a batch: owners, tags, lineage that they declare, and SQL."""

from typing import NamedTuple

import msgspec

from lineage.names.keys import hash_parts
from lineage.states import READ, WRITE
from slis.stream.facts.dataset_facets import ReportedOwner, owners_of
from slis.stream.facts.mentions import Mention
from slis.stream.facts.spans import SeenTimes
from slis.stream.reading.event import ReadEvent
from slis.stream.reading.jobs import SPARK
from slis.stream.reading.lenient import read_lenient

LONGEST_TEXT = 65_536  # characters: a longer one is a program, and half of it would be another


class DescribedJob(NamedTuple):
    """Description of a job.

    Attributes:
        leaf_key: of the job that people know, which owns.
        job_key: of the job by its own name.
        tags: raw JSON.
        last_seen_at: microseconds since 1970.
    """

    leaf_key: int
    job_key: int
    owners: list[ReportedOwner | None]
    tags: str | None
    description: str | None
    last_seen_at: int


class DeclaringJob(NamedTuple):
    """Job of JobEvents.

    Attributes:
        job_lineage: facet of the job, raw JSON, which may name other inputs than its lists.
    """

    job_namespace: str | None
    job_name: str | None
    job_lineage: str | None


class DeclaredEdge(NamedTuple):
    """Edge between two datasets that a JobEvent lists; an output without an input has a row, too.

    The facets of the output may name other inputs.
    """

    upstream_spelling_key: int | None
    downstream_spelling_key: int
    downstream_facets_key: int


class JobLineage(NamedTuple):
    """Facet `lineage` of a job, raw JSON; `run_key` is None in a JobEvent, which declares."""

    run_key: int | None
    job_namespace: str | None
    job_name: str | None
    job_lineage: str


class SqlText(NamedTuple):
    """Distinct SQL, and the runs that ran it.

    Attributes:
        dialect: as sqlglot calls it, or empty.
        text: None where it is too long.
    """

    sql_key: int
    dialect: str
    text: str | None
    run_keys: list[int]


class _Sql(msgspec.Struct, frozen=True):
    query: str | None = None
    dialect: str | None = None


class JobFacts:
    """Jobs of a batch."""

    def __init__(self) -> None:
        """Hold nothing."""
        self._described: dict[tuple[str | None, ...], int] = {}
        self._declared: dict[DeclaringJob, dict[DeclaredEdge, SeenTimes]] = {}
        self._lineages: dict[JobLineage, SeenTimes] = {}
        self._sql: dict[tuple[str, str | None], set[int]] = {}

    def add(self, event: ReadEvent, time: int, mentions: list[Mention]) -> None:
        """Add an event of that time, with the datasets that it names."""
        jobs, reported, seen = event.jobs, event.job, SeenTimes(time, time)
        root = jobs.root_job_namespace, jobs.root_job_name
        run_key = event.run.run_key if event.run else None
        if (reported.ownership, reported.tags, reported.description) != (None, None, None):
            self._describe(event, time)
        if reported.lineage is not None:
            lineage = JobLineage(run_key, *root, reported.lineage)
            self._lineages[lineage] = self._lineages.get(lineage, seen) | seen
        if event.kind == "job":
            self._declare(DeclaringJob(*root, reported.lineage), seen, mentions)
        # Of history loads only the texts of runs without inputs: these have their inputs from it.
        has_no_inputs = event.inputs == 0 and event.outputs > 0
        if run_key is not None and reported.sql and (not event.is_history or has_no_inputs):
            self._sql.setdefault((reported.sql, event.integration), set()).add(run_key)

    def _describe(self, event: ReadEvent, time: int) -> None:
        jobs, reported = event.jobs, event.job
        leaf = (
            jobs.root_job_namespace if jobs.leaf_job_namespace is None else jobs.leaf_job_namespace,
            jobs.root_job_name if jobs.leaf_job_name is None else jobs.leaf_job_name,
        )
        own = event.job_namespace, event.job_name
        key = (*leaf, *own, reported.ownership, reported.tags, reported.description)
        self._described[key] = max(self._described.get(key, time), time)

    def _declare(self, job: DeclaringJob, seen: SeenTimes, mentions: list[Mention]) -> None:
        inputs: list[int | None] = [one.spelling_key for one in mentions if one.direction == READ]
        for output in (one for one in mentions if one.direction == WRITE):
            for upstream in inputs or [None]:
                edge = DeclaredEdge(upstream, output.spelling_key, output.facets_key)
                edges = self._declared.setdefault(job, {})
                edges[edge] = edges.get(edge, seen) | seen

    def list_described(self) -> list[DescribedJob]:
        """Return each job, once for each of its distinct facets."""
        return [_described_job(key, at) for key, at in self._described.items()]

    def list_declared_edges(
        self,
    ) -> list[tuple[DeclaringJob, list[tuple[DeclaredEdge, SeenTimes]]]]:
        """Return the edges that each job declares, and when it did."""
        return [(job, list(edges.items())) for job, edges in self._declared.items()]

    def list_lineages(self) -> list[tuple[JobLineage, SeenTimes]]:
        """Return the `lineage` facets of jobs, and when they were seen."""
        return list(self._lineages.items())

    def list_sql_texts(self) -> list[SqlText]:
        """Return the distinct SQL."""
        found = (_sql_text(*reported, run_keys) for reported, run_keys in self._sql.items())
        return [one for one in found if one is not None]


def _described_job(key: tuple[str | None, ...], at: int) -> DescribedJob:
    leaf, own, (ownership, tags, description) = key[:2], key[2:4], key[4:]
    # The event of a query does not describe its parent job: anybody may name any job as a parent.
    name, prefix = own[1] or "", f"{leaf[1]}."
    is_own = own[0] == leaf[0] and (own[1] == leaf[1] or name.startswith(prefix))
    owners = owners_of(ownership) if is_own else []
    return DescribedJob(hash_parts(leaf), hash_parts(own), owners, tags, description, at)


def _sql_text(facet: str, integration: str | None, run_keys: set[int]) -> SqlText | None:
    given = read_lenient(facet.encode(), _Sql)[0] or _Sql()
    query = (given.query or "").strip(" ")
    if not query:
        return None
    of_engine = "spark" if integration == SPARK else ""
    dialect = (given.dialect or "").strip(" ").lower() or of_engine
    text = query if len(query) <= LONGEST_TEXT else None
    return SqlText(hash_parts((dialect, query)), dialect, text, sorted(run_keys))

"""Edges of facets: of jobs, declared ones; of runs, to be compared with their inputs.

This runs in the driver, over the distinct facets of a batch.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from lineage.names.keys import key
from lineage.names.names import Name
from slis.indicators.accuracy.schemas import COLUMN_LINEAGE, LINEAGE_FACET
from slis.stream.facets.lineage_facets import sources_by_target, sources_of
from slis.stream.facts.dataset_facets import ColumnLineageFacet, DatasetDescription
from slis.stream.facts.jobs import DeclaredEdge, DeclaringJob, JobLineage
from slis.stream.facts.spans import SeenTimes
from slis.stream.names.spellings import Spelling, Spellings, spelling_key

_Row = tuple[Any, ...]
_JobName = tuple[str | None, str | None]
_DECLARED = "upstream_spelling_key downstream_spelling_key job_namespace job_name"
_SEEN = "first_seen_at last_seen_at"


class FacetEdges:
    """Rows of facet edges by staging table."""

    def __init__(self, spellings: Spellings) -> None:
        """Note spellings in those of the batch."""
        self._spellings = spellings
        self._sources: dict[tuple[int, int], tuple[Name, ...]] = {}
        self._of_facets: set[_Row] = set()
        self._of_runs: set[_Row] = set()
        self._declared: dict[_Row, SeenTimes] = {}

    def rows(self) -> dict[str, tuple[Sequence[str], list[_Row]]]:
        """Return rows of `staging`'s tables, by name, each with its columns."""
        given: dict[str, tuple[str, list[_Row]]] = {
            "s_facet_source": (
                "spelling_key facets_key upstream_spelling_key oracle",
                list(self._of_facets),
            ),
            "s_job_source": (
                "run_key downstream_spelling_key upstream_spelling_key",
                list(self._of_runs),
            ),
            "s_declared_edge": (
                f"{_DECLARED} {_SEEN}",
                [(*edge, *seen) for edge, seen in self._declared.items()],
            ),
        }
        return {table: (columns.split(), rows) for table, (columns, rows) in given.items()}

    def note_facets(self, one: DatasetDescription, dataset: Spelling, seen: SeenTimes) -> None:
        """Add what a dataset's facets name as its sources."""
        keys = one.spelling_key, one.facets_key
        self._add(keys, dataset, set(_sources_of_columns(one.columns)), COLUMN_LINEAGE)
        sources = sources_of(one.lineage) if one.lineage else None
        if sources is None:
            return
        self._sources[keys] = sources
        for name in sources:
            self._spellings.note(*name, seen, is_dataset=False)
        self._add(keys, dataset, sources, LINEAGE_FACET)
        if one.is_declared:
            # It says what feeds it, and no job.
            self._declare(keys[0], sources, (dataset.dataset_namespace, ""), seen)

    def _add(
        self, keys: tuple[int, int], dataset: Spelling, sources: Iterable[Name], oracle: str
    ) -> None:
        spelled = self._spellings.spelled
        others = (n for n in sources if spelled(*n).dataset_key != dataset.dataset_key)
        self._of_facets.update((*keys, spelling_key(*name), oracle) for name in others)

    def note_jobs(self, lineages: Iterable[tuple[JobLineage, SeenTimes]]) -> None:
        """Add the `lineage` facets of jobs."""
        for of_job, seen in lineages:
            job = of_job.job_namespace, of_job.job_name
            for target, sources in sources_by_target(of_job.job_lineage).items():
                if of_job.run_key is None:
                    self._spellings.note(*target, seen, is_dataset=True)
                    self._declare(spelling_key(*target), sources, job, seen)
                else:
                    self._observe(of_job.run_key, target, sources, seen)

    def _observe(
        self, run_key: int, target: Name, sources: Iterable[Name], seen: SeenTimes
    ) -> None:
        for name in (target, *sources):
            self._spellings.note(*name, seen, is_dataset=False)
        self._of_runs.update(
            (run_key, spelling_key(*target), spelling_key(*name)) for name in sources
        )

    def note_declared(
        self, declared: Iterable[tuple[DeclaringJob, list[tuple[DeclaredEdge, SeenTimes]]]]
    ) -> None:
        """Add what JobEvents list; after all facets were noted.

        A facet that names the inputs of an output stands for the product of all inputs with it.
        """
        by_key = {key(s.namespace, s.name): s.dataset_key for s in self._spellings}
        for job, edges in declared:
            targets, named = self._targets(job.job_lineage), (job.job_namespace, job.job_name)
            for edge, seen in edges:
                output = edge.downstream_spelling_key
                sources = self._sources.get((output, edge.downstream_facets_key))
                if sources is not None:
                    self._declare(output, sources, named, seen)
                elif edge.upstream_spelling_key is not None and by_key.get(output) not in targets:
                    self._note((edge.upstream_spelling_key, output, *named), seen)

    def _declare(
        self, output: int, sources: Iterable[Name], job: _JobName, seen: SeenTimes
    ) -> None:
        for name in sources:
            self._spellings.note(*name, seen, is_dataset=True)
            self._note((spelling_key(*name), output, *job), seen)

    def _note(self, edge: _Row, seen: SeenTimes) -> None:
        self._declared[edge] = seen | self._declared.get(edge, seen)

    def _targets(self, job_lineage: str | None) -> set[int]:
        """Return the keys of the datasets that a job's facet has entries for."""
        named = sources_by_target(job_lineage) if job_lineage else {}
        return {self._spellings.spelled(*target).dataset_key for target in named}


def _sources_of_columns(columns: Mapping[str, ColumnLineageFacet | None]) -> Iterator[Name]:
    for lineage in columns.values():
        for source in (lineage and lineage.input_fields) or ():
            if source and source.namespace and source.name:
                yield source.namespace, source.name

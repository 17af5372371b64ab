"""Distinct facets of a batch, as rows of the staging tables."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from lineage.names.keys import key
from lineage.names.names import is_of_session
from lineage.policy import NO_FOLDS, CompiledFolds
from slis.stream.facets.assertions import RESULT, assertions_of
from slis.stream.facets.column_edges import COLUMN_EDGE, of_whole_field, transformations_of
from slis.stream.facets.descriptions import Descriptions
from slis.stream.facets.facet_edges import FacetEdges
from slis.stream.facts.dataset_facets import DatasetDescription
from slis.stream.facts.jobs import DescribedJob
from slis.stream.facts.spans import SeenTimes
from slis.stream.names.spellings import Spelling, Spellings
from slis.stream.reading.lenient import text_of
from slis.stream.staging.arrow import clean_text, key_text

_Row = tuple[Any, ...]
_OF_NAMES = "spelling_key dataset_key namespace name partition partition_at is_dataset"
_OF_FACETS = "spelling_key facets_key dataset_key lifecycle version checksum schema_key fields"


class FacetRows:
    """Rows by staging table, from what facets say."""

    def __init__(
        self, described: Iterable[DatasetDescription], folds: CompiledFolds = NO_FOLDS
    ) -> None:
        """Unfold them; `folds`: the policy's, in force for the batch."""
        self.spellings = Spellings(folds)
        self.edges = FacetEdges(self.spellings)
        self.facets: dict[tuple[int, int], tuple[_Row, SeenTimes]] = {}
        self.assertions: set[_Row] = set()
        self.links: list[_Row] = []
        self.owners: list[_Row] = []
        self.descriptions = Descriptions()
        self.columns: set[_Row] = set()
        for one in described:
            self._unfold(one)

    def describe_jobs(self, jobs: Sequence[DescribedJob]) -> None:
        """Add what facets say of jobs."""
        self.descriptions.note_jobs(jobs)
        self.owners += [
            (
                *("job", job.leaf_key, key_text(owner.name), clean_text(owner.type)),
                *(job.last_seen_at, None, None),
            )
            for job in jobs
            for owner in job.owners
            if owner and owner.name
        ]

    def rows(self) -> dict[str, tuple[Sequence[str], list[_Row]]]:
        """Return rows of `staging`'s tables, by name, each with its columns."""
        span = "first_seen_at last_seen_at"
        given: dict[str, tuple[str, list[_Row]]] = {
            "s_name": (
                f"{_OF_NAMES} {span} folder_key",
                list(self.spellings.names()),
            ),
            "s_alias": (
                f"alias_key dataset_key rule namespace name {span}",
                list(self.spellings.aliases()),
            ),
            "s_facets": (
                f"{_OF_FACETS} {span}",
                [(*facet, *seen) for facet, seen in self.facets.values()],
            ),
            "s_link": (
                f"alias_key dataset_key rule namespace name {span} spelling_key facets_key",
                self.links,
            ),
            "s_owner": (
                "subject subject_key owner type last_seen_at spelling_key facets_key",
                self.owners,
            ),
            "s_assertion": (
                f"dataset_key tested_at {' '.join(RESULT)}",
                list(self.assertions),
            ),
            **self.descriptions.rows(),
            "s_column_edge": (
                f"{COLUMN_EDGE} {span}",
                list(self.columns),
            ),
        }
        own = {table: (columns.split(), rows) for table, (columns, rows) in given.items()}
        return {**own, **self.edges.rows()}

    def _unfold(self, one: DatasetDescription) -> None:
        seen = SeenTimes(one.first_seen_at, one.last_seen_at)
        dataset = self.spellings.note(one.namespace, one.name, seen, is_dataset=True)
        self._keep_facets(one, dataset, seen)
        results = assertions_of(one.assertions) if one.assertions else ()
        self.assertions.update((dataset.dataset_key, seen.last, *result) for result in results)
        self.links += self._links(one, dataset, seen)
        keys = one.spelling_key, one.facets_key
        self.owners += [
            (
                "dataset",
                dataset.dataset_key,
                key_text(owner.name),
                clean_text(owner.type),
                seen.last,
                *keys,
            )
            for owner in one.owners
            if owner and owner.name
        ]
        self.descriptions.note_dataset(one, dataset.dataset_key, seen.last)
        self.columns.update(self._columns(one, dataset, seen))
        self.edges.note_facets(one, dataset, seen)

    def _keep_facets(self, one: DatasetDescription, dataset: Spelling, seen: SeenTimes) -> None:
        """Keep one row for the same facets, whatever was tested beside them."""
        keys = one.spelling_key, one.facets_key
        row = (
            *(*keys, dataset.dataset_key, one.lifecycle, one.version),
            *(clean_text(one.checksum), one.schema_key, one.fields),
        )
        _, before = self.facets.get(keys, (row, seen))
        self.facets[keys] = (row, before | seen)

    def _links(self, one: DatasetDescription, dataset: Spelling, seen: SeenTimes) -> Iterator[_Row]:
        named = [("symlink", identifier) for identifier in one.identifiers]
        for rule, other in (*named, ("rename", one.previous)):
            if not other or not other.namespace or not other.name:
                continue
            if is_of_session(other.namespace, other.name):
                continue
            alias = self.spellings.note(other.namespace, other.name, seen, is_dataset=False)
            if alias.dataset_key != dataset.dataset_key:
                yield (
                    *(alias.dataset_key, dataset.dataset_key, rule),
                    *(alias.dataset_namespace, alias.dataset_name, *seen),
                    *(one.spelling_key, one.facets_key),
                )

    def _columns(
        self, one: DatasetDescription, dataset: Spelling, seen: SeenTimes
    ) -> Iterator[_Row]:
        for field, lineage in one.columns.items():
            if lineage is None:
                continue
            for source in lineage.input_fields or ():
                if source and source.namespace and source.name and source.field:
                    named = source.namespace, source.name
                    upstream = self.spellings.note(*named, seen, is_dataset=False)
                    changes = transformations_of(text_of(source.transformations))
                    yield (
                        *(upstream.dataset_key, key_text(source.field)),
                        *(dataset.dataset_key, key_text(field)),
                        *(changes or of_whole_field(lineage), *seen),
                    )


def job_key(namespace: str, name: str, dataset: tuple[str, str]) -> int:
    """Return the key of a job: a hash of namespace, name and the dataset that the job writes."""
    return key(namespace, name, *dataset)

"""Contents of the facets of datasets: each distinct text of a dataset is read once."""

from typing import Any

import msgspec
from msgspec import Raw

from lineage.names.keys import hash_parts, shorten_or_none
from slis.stream.facts.mentions import Mention
from slis.stream.facts.spans import SeenTimes
from slis.stream.reading.event import ReadEvent
from slis.stream.reading.lenient import read_lenient, text_of
from slis.stream.reading.openlineage import JSON_NULL, AssertionList, Documentation, EventPart, Job
from slis.stream.reading.reported import read_start


class Field(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """Column of a schema."""

    name: str | None = None
    type: str | None = None


class DatasetTag(EventPart):
    """Tag of a dataset, or of one of its columns."""

    key: str | None = None
    value: str | None = None
    source: str | None = None
    field: str | None = None


class ReportedOwner(EventPart):
    """Owner of a dataset or a job."""

    name: str | None = None
    type: str | None = None


class InputField(Job):
    """Column that another is made of; `transformations` are raw JSON."""

    field: str | None = None
    transformations: Raw = JSON_NULL


class ColumnLineageFacet(EventPart, rename="camel"):
    """Lineage of a column."""

    input_fields: list[InputField | None] | None = None
    transformation_type: str | None = None
    transformation_description: str | None = None


class DatasetDescription(msgspec.Struct, frozen=True, omit_defaults=True):
    """Description of a dataset, by events of a batch that have the same facets.

    Attributes:
        first_seen_at: microseconds since 1970, as is ...
        last_seen_at: ... this.
        is_declared: by a DatasetEvent, which belongs to no run.
        previous: the name that it had before a rename.
        assertions: results of tests, raw JSON.
        fields: of its schema, JSON to store.
        model_tags: as `ReadEvent` has them.
        columns: by name.
        lineage: raw JSON.
    """

    spelling_key: int
    namespace: str
    name: str
    facets_key: int
    first_seen_at: int
    last_seen_at: int
    is_declared: bool
    lifecycle: str | None = None
    previous: Job | None = None
    version: str | None = None
    checksum: str | None = None
    assertions: str | None = None
    schema_key: int | None = None
    fields: str | None = None
    identifiers: list[Job | None] = []
    owners: list[ReportedOwner | None] = []
    tags: list[DatasetTag | None] = []
    model_tags: str | None = None
    description: str | None = None
    field_descriptions: dict[str, str] = {}
    columns: dict[str, ColumnLineageFacet | None] = {}
    lineage: str | None = None


class DescribedFacts:
    """Distinct facets of a batch's datasets."""

    def __init__(self) -> None:
        """Hold nothing."""
        self._seen: dict[tuple[int, int, str | None], tuple[Mention, SeenTimes, bool]] = {}

    def add(self, event: ReadEvent, time: int, mentions: list[Mention]) -> None:
        """Add an event of that time, with the datasets that it names."""
        seen, is_declared = SeenTimes(time, time), event.kind == "dataset"
        for one in mentions:
            key = one.spelling_key, one.facets_key, one.assertions
            first, before, was_declared = self._seen.get(key, (one, seen, False))
            self._seen[key] = first, before | seen, was_declared or is_declared

    def list_described(self) -> list[DatasetDescription]:
        """Return the contents of all facets, each read once."""
        return [_describe(*seen) for seen in self._seen.values()]


class _Lifecycle(EventPart):
    change: str | None = msgspec.field(name="lifecycleStateChange", default=None)
    previous: Job | None = msgspec.field(name="previousIdentifier", default=None)


class _Version(EventPart):
    version: str | None = msgspec.field(name="datasetVersion", default=None)
    checksum: str | None = None


class _Checksum(EventPart):
    checksum: str | None = None
    value: str | None = None
    algorithm: str | None = None


class _FieldOfSchema(EventPart):
    name: str | None = None
    type: str | None = None
    description: str | None = None


class _Schema(EventPart):
    fields: list[_FieldOfSchema | None] | None = None


class _Symlinks(EventPart):
    identifiers: list[Job | None] | None = None


class _Ownership(EventPart):
    owners: list[ReportedOwner | None] | None = None


class _Tags(EventPart):
    tags: list[DatasetTag | None] | None = None


class _Columns(EventPart):
    fields: dict[str, ColumnLineageFacet | None] | None = None


class _Facets(EventPart):
    lifecycle: _Lifecycle | None = msgspec.field(name="lifecycleStateChange", default=None)
    version: _Version | None = None
    checksum: _Checksum | None = None
    storage: _Checksum | None = None
    assertions: AssertionList | None = msgspec.field(name="dataQualityAssertions", default=None)
    schema: _Schema | None = None
    documentation: Documentation | None = None
    symlinks: _Symlinks | None = None
    ownership: _Ownership | None = None
    tags: _Tags | None = None
    columns: _Columns | None = msgspec.field(name="columnLineage", default=None)
    lineage: Raw = JSON_NULL


_NONE = _Facets()


def owners_of(ownership: str | None) -> list[ReportedOwner | None]:
    """Return the owners that an ownership facet lists, which is raw JSON."""
    found = read_lenient(ownership.encode(), _Ownership)[0] if ownership else None
    return (found.owners if found else None) or []


def _describe(one: Mention, span: SeenTimes, is_declared: bool) -> DatasetDescription:  # noqa: FBT001 - of a row
    given = read_lenient(one.facets, _Facets)[0] or _NONE
    lifecycle = given.lifecycle or _Lifecycle()
    version = given.version or _Version()
    tested = text_of(given.assertions.assertions) if given.assertions else None
    return DatasetDescription(
        *(one.spelling_key, one.namespace, one.name, one.facets_key, *span, is_declared),
        lifecycle=None if lifecycle.change is None else lifecycle.change.upper(),
        previous=lifecycle.previous,
        version=shorten_or_none(version.version),
        checksum=shorten_or_none(_checksum(given, version)),
        assertions=tested if one.assertions is None else one.assertions,
        **_of_schema(given.schema),
        identifiers=(given.symlinks.identifiers if given.symlinks else None) or [],
        owners=(given.ownership.owners if given.ownership else None) or [],
        tags=(given.tags.tags if given.tags else None) or [],
        model_tags=one.model_tags,
        description=read_start(given.documentation.description) if given.documentation else None,
        columns=(given.columns.fields if given.columns else None) or {},
        lineage=text_of(given.lineage),
    )


def _of_schema(schema: _Schema | None) -> dict[str, Any]:
    """Return the key of a schema, its fields as JSON, and their descriptions.

    A schema is its fields' names and types: the texts of facets differ in more than these.
    """
    listed = [
        one for one in (schema.fields if schema else None) or () if one and one.name is not None
    ]
    if not listed:
        return {}
    parts = [part for one in listed for part in (one.name, one.type)]
    fields = [Field(one.name, one.type) for one in listed]
    return {
        "schema_key": hash_parts(parts),
        "fields": msgspec.json.encode(fields).decode(),
        "field_descriptions": {str(one.name): one.description for one in listed if one.description},
    }


def _checksum(given: _Facets, version: _Version) -> str | None:
    """Return `algorithm:value`; the value alone where nobody names the algorithm."""
    facet = given.checksum or _Checksum()
    own = facet.value if facet.checksum is None else facet.checksum
    if own is not None:
        found: str | None = f"{facet.algorithm.lower()}:{own}" if facet.algorithm else own
    else:
        stored = (given.storage or _Checksum()).checksum
        found = stored if version.checksum is None else version.checksum
    return (found or "").strip(" ") or None

"""Facets as OpenLineage's integrations send them, with invented names."""

from typing import Any

SPEC = "https://openlineage.io/spec"
BENCH_RUN_ID = "00000000-0000-7000-8000-000000000000"  # each event has another in its place
_REPOSITORY = "https://github.com/OpenLineage/OpenLineage/tree"
_TYPES = ("string", "bigint", "decimal(18,2)", "timestamp", "date", "array<struct<sku:string>>")
_STEMS = ("order", "customer", "warehouse_location", "net_amount", "placed_at", "is_returned")
_EACH = 6
_IDENTITY = {"type": "DIRECT", "subtype": "IDENTITY", "description": "", "masking": False}


def producer(integration: str) -> str:
    """Return the `_producer` of an integration."""
    return f"{_REPOSITORY}/1.53.0/integration/{integration}"


def facet(sender: str, kind: str, **fields: object) -> dict[str, Any]:
    """Return a facet of this kind, as `sender` declares it."""
    schema = f"{SPEC}/facets/1-2-0/{kind}.json#/$defs/{kind}"
    return {"_producer": sender, "_schemaURL": schema, **fields}


def columns(count: int) -> list[str]:
    """Return names of columns."""
    return [f"{_STEMS[number % len(_STEMS)]}_{number}" for number in range(count)]


def schema(sender: str, count: int) -> dict[str, Any]:
    """Return the schema of a table of so many columns."""
    fields = [
        {"name": name, "type": _TYPES[number % len(_TYPES)]}
        for number, name in enumerate(columns(count))
    ]
    return facet(sender, "SchemaDatasetFacet", fields=fields)


def column_lineage(
    sender: str, count: int, upstream: tuple[str, str], *, is_old: bool = False
) -> dict[str, Any]:
    """Return column lineage of so many columns; each sixth is made of two.

    Old integrations do not send how a column was made.
    """
    names = columns(count)
    how = {} if is_old else {"transformations": [_IDENTITY]}
    origin = {"namespace": upstream[0], "name": upstream[1]}
    fields = {
        name: {"inputFields": [origin | {"field": each} | how for each in _used(names, number)]}
        for number, name in enumerate(names)
    }
    return facet(sender, "ColumnLineageDatasetFacet", fields=fields)


def _used(names: list[str], number: int) -> list[str]:
    return [names[number]] if number % _EACH else [names[number], names[-1]]


def dataset(namespace: str, name: str, **facets: dict[str, Any]) -> dict[str, Any]:
    """Return an input or an output."""
    return {"namespace": namespace, "name": name, "facets": facets}


def parent(sender: str, namespace: str, name: str) -> dict[str, Any]:
    """Return the facet of a run that belongs to a run of this job."""
    run = {"runId": "019a0000-0000-7000-8000-000000000007"}
    job = {"namespace": namespace, "name": name}
    return facet(sender, "ParentRunFacet", run=run, job=job, root={"run": run, "job": job})


def engine(sender: str, name: str, version: str) -> dict[str, Any]:
    """Return the facet of the engine that ran."""
    adapter = {"openlineageAdapterVersion": "1.53.0"}
    return facet(sender, "ProcessingEngineRunFacet", name=name, version=version, **adapter)


def job_type(sender: str, integration: str, kind: str, processing: str = "BATCH") -> dict[str, Any]:
    """Return the facet of the type of a job."""
    fields = {"integration": integration, "jobType": kind, "processingType": processing}
    return facet(sender, "JobTypeJobFacet", **fields)


def sql(sender: str, count: int, table: str) -> dict[str, Any]:
    """Return a query over so many columns, with the brackets and quotes that queries have."""
    each = "  o.\"{0}\"[1] AS {0} -- '{{{{ ds }}}}'"
    chosen = ",\n".join(each.format(name) for name in columns(count))
    text = f"SELECT\n{chosen}\nFROM {table} o\nWHERE o.placed_at > '2026-11-20'"
    return facet(sender, "SQLJobFacet", query=text, dialect="ansi")

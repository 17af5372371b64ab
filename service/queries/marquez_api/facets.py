"""Facets of a run and of its job, rebuilt from what the catalog keeps of them."""

from typing import Any, Literal

from lineage.catalog.reader import CatalogReader
from service.queries.marquez_api.runs import find_run
from service.queries.marquez_api.shapes import MarquezRunFacets
from service.queries.timestamps import iso
from service.queries.visibility import Visibility

_SPEC = "https://openlineage.io/spec/facets"
_SCHEMAS = {
    "nominalTime": f"{_SPEC}/1-0-1/NominalTimeRunFacet.json#/$defs/NominalTimeRunFacet",
    "parent": f"{_SPEC}/1-0-1/ParentRunFacet.json#/$defs/ParentRunFacet",
    "processing_engine": (
        f"{_SPEC}/1-1-1/ProcessingEngineRunFacet.json#/$defs/ProcessingEngineRunFacet"
    ),
    "errorMessage": f"{_SPEC}/1-0-1/ErrorMessageRunFacet.json#/$defs/ErrorMessageRunFacet",
    "jobType": f"{_SPEC}/2-0-3/JobTypeJobFacet.json#/$defs/JobTypeJobFacet",
    "sourceCodeLocation": (
        f"{_SPEC}/1-0-1/SourceCodeLocationJobFacet.json#/$defs/SourceCodeLocationJobFacet"
    ),
}
_COLUMNS = (
    *("parent_run_id", "root_run_id", "root_job_namespace", "root_job_name", "nominal_start_at"),
    *("engine", "engine_version", "adapter_version", "error_message", "producer", "integration"),
    *("processing_type", "job_type", "code_url", "code_path", "code_version", "code_tag"),
    "code_branch",
)
_BY_KEY = f"SELECT {', '.join(_COLUMNS)} FROM run WHERE run_key = :run_key"  # noqa: S608 - columns
_Facet = dict[str, Any]


def facets_of_run(
    reader: CatalogReader, visibility: Visibility, run_id: str, kind: Literal["run", "job"]
) -> MarquezRunFacets:
    """Return what is known of a run's facets, or of its job's.

    Raises:
        UnknownNodeError: there is no run of this id that the token may see.
    """
    row = find_run(reader, run_id, visibility)
    (values,) = reader.rows(_BY_KEY, {"run_key": row.run_key})
    known = dict(zip(_COLUMNS, values, strict=True))
    if not visibility.is_whole:
        known["error_message"] = None  # may name anything
        # The root may have touched what is hidden, and be named after it.
        known |= dict.fromkeys(("root_job_namespace", "root_job_name"))
    facets = _of_run(known) if kind == "run" else _of_job(known)
    return MarquezRunFacets(
        run_id, {name: _whole(name, one, known) for name, one in facets.items() if one}
    )


def _of_run(known: _Facet) -> dict[str, _Facet]:
    nominal = iso(known["nominal_start_at"])
    return {
        "nominalTime": {"nominalStartTime": nominal} if nominal else {},
        "parent": _parent(known) if known["parent_run_id"] else {},
        "processing_engine": _named(
            known,
            name="engine",
            version="engine_version",
            openlineageAdapterVersion="adapter_version",
        ),
        "errorMessage": _named(known, message="error_message"),
    }


def _parent(known: _Facet) -> _Facet:
    """Return the parent's run and the root; of the parent's own job the catalog knows nothing."""
    job = _named(known, namespace="root_job_namespace", name="root_job_name")
    root = {"run": {"runId": known["root_run_id"]}, "job": job}
    return {"run": {"runId": known["parent_run_id"]}, "root": root}


def _of_job(known: _Facet) -> dict[str, _Facet]:
    return {
        "jobType": _named(
            known,
            processingType="processing_type",
            integration="integration",
            jobType="job_type",
        ),
        "sourceCodeLocation": _named(
            known,
            url="code_url",
            path="code_path",
            version="code_version",
            tag="code_tag",
            branch="code_branch",
        ),
    }


def _named(known: _Facet, **columns: str) -> _Facet:
    return {name: known[column] for name, column in columns.items() if known[column] is not None}


def _whole(name: str, facet: _Facet, known: _Facet) -> _Facet:
    return {"_producer": known["producer"], "_schemaURL": _SCHEMAS[name], **facet}

"""Body that the benchmark sends: size and shape of the Spark listener's, with invented names."""

import json
import uuid
from typing import Any

_PRODUCER = "https://github.com/OpenLineage/OpenLineage/tree/1.53.0/integration/spark"
_SPEC = "https://openlineage.io/spec"
_COLUMNS = ("order_id", "customer_id", "placed_at", "amount", "currency", "channel")
_PLACE = "00000000-0000-7000-8000-000000000000"


def _facet(kind: str, fields: dict[str, Any]) -> dict[str, Any]:
    schema = f"{_SPEC}/facets/1-0-1/{kind}.json#/$defs/{kind}"
    return {"_producer": _PRODUCER, "_schemaURL": schema, **fields}


def _dataset(name: str, facets: dict[str, Any]) -> dict[str, Any]:
    fields = [{"name": column, "type": "string"} for column in _COLUMNS]
    schema = _facet("SchemaDatasetFacet", {"fields": fields})
    source = _facet("DatasourceDatasetFacet", {"name": "file", "uri": "file"})
    return {
        "namespace": "file",
        "name": name,
        "facets": {"schema": schema, "dataSource": source, **facets},
    }


def _columns(upstream: str) -> dict[str, Any]:
    origin = {"namespace": "file", "name": upstream}
    fields = {column: {"inputFields": [origin | {"field": column}]} for column in _COLUMNS}
    return {"columnLineage": _facet("ColumnLineageDatasetFacet", {"fields": fields})}


def _event() -> dict[str, Any]:
    upstream = "/srv/lake/raw/orders"
    root = {"run": {"runId": str(uuid.UUID(int=7))}, "job": {"namespace": "shop", "name": "daily"}}
    engine = {"version": "4.3.0", "name": "spark", "openlineageAdapterVersion": "1.53.0"}
    job_type = {"processingType": "BATCH", "integration": "SPARK", "jobType": "SQL_JOB"}
    return {
        "eventTime": "2026-11-21T09:00:00.123Z",
        "producer": _PRODUCER,
        "schemaURL": f"{_SPEC}/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "eventType": "COMPLETE",
        "run": {
            "runId": _PLACE,
            "facets": {
                "parent": _facet("ParentRunFacet", root),
                "processing_engine": _facet("ProcessingEngineRunFacet", engine),
            },
        },
        "job": {
            "namespace": "shop",
            "name": "daily.execute_insert_into_hadoop_fs_relation_command.core_orders",
            "facets": {"jobType": _facet("JobTypeJobFacet", job_type)},
        },
        "inputs": [_dataset(upstream, {})],
        "outputs": [_dataset("/srv/lake/core/orders", _columns(upstream))],
    }


def halves() -> tuple[bytes, bytes]:
    """Return the body before and after the last 12 digits of its runId.

    The digits before them are this process's own.
    """
    own = str(uuid.uuid4())[:-12]
    text = json.dumps(_event(), separators=(",", ":")).replace(_PLACE, own + "@")
    before, after = text.encode().split(b"@", 1)
    return before, after

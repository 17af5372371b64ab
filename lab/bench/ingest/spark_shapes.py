"""Bodies in the shapes of OpenLineage's listener for Spark 3.5 and 4, and of streams."""

from typing import Any

from lab.bench.ingest import facets
from lab.bench.ingest.facets import facet

_PRODUCER = facets.producer("spark")
_LAKE = "s3a://lake"
_KAFKA = "kafka://broker:9092"
_EXPRESSION = "org.apache.spark.sql.catalyst.expressions"


def application(state: str) -> dict[str, Any]:
    """Return an event of an application: START has its properties."""
    names = [f"spark.sql.shuffle.option{number}" for number in range(20)]
    properties = facet(_PRODUCER, "SparkPropertyFacet", properties=dict.fromkeys(names, "200"))
    run = {"spark_properties": properties} if state == "START" else {}
    return _event(state, "daily_orders", run, kind="APPLICATION")


def query(  # noqa: PLR0913 - one argument for each property that differs
    state: str,
    version: str,
    columns: int,
    *,
    inputs: int = 2,
    lineage: bool = True,
    plan: int = 0,
) -> dict[str, Any]:
    """Return an event of a query that writes one table.

    Args:
        state: `eventType`.
        version: of Spark; that of 3.5 is an old listener.
        columns: of each table.
        inputs: tables that it reads.
        lineage: whether it has column lineage.
        plan: nodes of the logical plan that the run facet holds.
    """
    is_old = version.startswith("3.")
    read = [_table(f"raw/orders{each}", columns, is_old=is_old) for each in range(inputs)]
    output = _table("core/orders", columns, is_old=is_old)
    if lineage:
        upstream = (_LAKE, "warehouse/raw/orders0")
        how = facets.column_lineage(_PRODUCER, columns, upstream, is_old=is_old)
        output["facets"]["columnLineage"] = how
    if state == "COMPLETE":
        statistics = facet(_PRODUCER, "OutputStatisticsOutputDatasetFacet", rowCount=1, size=2)
        output["outputFacets"] = {"outputStatistics": statistics}
    run = {"spark.logicalPlan": _plan(plan)} if plan else {}
    event = _event(state, "daily_orders.execute_insert_into.core_orders", run, version=version)
    return event | {"inputs": read, "outputs": [output]}


def micro_batch(state: str) -> dict[str, Any]:
    """Return an event of a batch of a stream: a topic into a table."""
    topic = facets.dataset(_KAFKA, "orders.v1", dataSource=_source(_KAFKA))
    event = _event(state, "orders_stream.append_data", {}, processing="STREAMING")
    return event | {"inputs": [topic], "outputs": [_table("bronze/orders", 14, is_old=False)]}


def _event(  # noqa: PLR0913 - one argument for each field that differs
    state: str,
    name: str,
    run: dict[str, Any],
    *,
    kind: str = "SQL_JOB",
    version: str = "4.0.1",
    processing: str = "BATCH",
) -> dict[str, Any]:
    own = {"processing_engine": facets.engine(_PRODUCER, "spark", version)}
    if kind != "APPLICATION":
        own["parent"] = facets.parent(_PRODUCER, "spark", "daily_orders")
    job = {"jobType": facets.job_type(_PRODUCER, "SPARK", kind, processing)}
    return {
        "eventTime": "2026-11-27T09:00:00.123Z",
        "producer": _PRODUCER,
        "schemaURL": f"{facets.SPEC}/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "eventType": state,
        "run": {"runId": facets.BENCH_RUN_ID, "facets": own | run},
        "job": {"namespace": "spark", "name": name, "facets": job},
        "inputs": [],
        "outputs": [],
    }


def _source(uri: str) -> dict[str, Any]:
    return facet(_PRODUCER, "DatasourceDatasetFacet", name=uri, uri=uri)


def _table(path: str, columns: int, *, is_old: bool) -> dict[str, Any]:
    name = f"warehouse/{path}"
    table = facets.dataset(
        _LAKE, name, schema=facets.schema(_PRODUCER, columns), dataSource=_source(_LAKE)
    )
    identifier = {"namespace": "hive://metastore:9083", "name": path, "type": "TABLE"}
    symlinks = facet(_PRODUCER, "SymlinksDatasetFacet", identifiers=[identifier])
    catalog = facet(_PRODUCER, "CatalogDatasetFacet", framework="iceberg", type="hive", name="lake")
    table["facets"] |= {"symlinks": symlinks} if is_old else {"catalog": catalog}
    return table


def _plan(nodes: int) -> dict[str, Any]:
    """Return a logical plan: a flat list of nodes, each with a tree of expressions."""
    return facet(_PRODUCER, "LogicalPlanFacet", plan=[_node(number) for number in range(nodes)])


def _node(number: int) -> dict[str, Any]:
    expressions = [[_attribute(f"{name}#{number}") for name in facets.columns(3)]]
    return {
        "class": "org.apache.spark.sql.catalyst.plans.logical.Project",
        "num-children": 1,
        "projectList": expressions,
        "child": 0,
    }


def _attribute(name: str) -> dict[str, Any]:
    return {
        "class": f"{_EXPRESSION}.AttributeReference",
        "num-children": 0,
        "name": name,
        "dataType": "string",
        "nullable": True,
        "metadata": {},
        "exprId": {"product-class": f"{_EXPRESSION}.ExprId", "id": 1, "jvmId": name},
        "qualifier": ["spark_catalog", "raw", "orders"],
    }

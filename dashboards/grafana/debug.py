"""The debug dashboard: how events fare on their way, and one dataset with all around it."""

from dashboards.grafana import links
from dashboards.grafana.debug_flow import evidence, growth, spool, stages, unparsed
from dashboards.grafana.spec import Asked, Board, Column, Panel, Row

_CHOSEN = "dataset_namespace=${dataset_namespace:percentencode}&dataset=${dataset:percentencode}"
_ARCS = tuple(Column(f"arc__{one}", "number") for one in ("bad", "unknown", "learning", "good"))
_NODES = Asked(
    url=f"/api/v1/graph/nodes?{_CHOSEN}&depth=2",
    root="nodes",
    form="node-graph-nodes",
    columns=(
        *(Column(name) for name in ("id", "title", "subtitle", "mainstat", "secondarystat")),
        *_ARCS,
        *(Column(name, text=f"detail__{name}") for name in ("tier", "owner")),
        Column("dataset_namespace"),
        Column("dataset"),
        Column("highlighted", "boolean"),
    ),
)
_EDGES = Asked(
    url=f"/api/v1/graph/edges?{_CHOSEN}&depth=2",
    root="edges",
    form="node-graph-edges",
    columns=(
        *(Column(name) for name in ("id", "source", "target", "mainstat")),
        Column("job_names", text="detail__job_names"),
    ),
)
_RUNS = Asked(
    url=f"/api/v1/runs?{_CHOSEN}&limit=50",
    root="runs",
    columns=(
        Column("status"),
        Column("job_name"),
        Column("direction"),
        Column("started_at", "timestamp"),
        Column("duration_seconds", "number", unit="s"),
        Column("inputs", "number"),
        Column("outputs", "number"),
        Column("first_event_at", "timestamp"),
        Column("last_event_at", "timestamp"),
        Column("landed_at", "timestamp"),
        Column("evidence"),
        Column("adapter_version"),
        Column("run_id"),
    ),
)


def debug() -> Board:
    """For whoever looks for the event that did not arrive."""
    return Board(
        uid=links.DEBUG,
        title="Lineage: how events fare",
        description="For whoever mends Lineward or a producer: spool, lag, parsing, evidence.",
        since="now-3h",
        refresh="30s",
        single=True,
        rows=(
            Row("The chosen dataset", (_graph(), _runs())),
            Row("Spool", spool()),
            Row("Lag by stage", stages()),
            Row("What did not parse", unparsed()),
            Row("Evidence against what was reported", evidence()),
            Row("Growth", growth()),
        ),
    )


def _graph() -> Panel:
    return Panel(
        kind="graph",
        title="What it is made of, and what is made of it",
        description=(
            "The chosen dataset, two steps both ways, the nearest 200, each coloured by its worst"
            " state: red bad, orange unknown, blue learning, green good. When the pipeline is dead"
            " nothing is green. From /api/v1/graph, by the Infinity data source."
        ),
        unit="string",
        queries=(_NODES, _EDGES),
        no_value="choose a dataset",
        width=24,
        height=12,
        links=(links.of_variable(), links.on_call(then=True)),
        data_links=links.of_dataset(),
    )


def _runs() -> Panel:
    return Panel(
        kind="table",
        title="Its recent runs",
        description=(
            "The newest 50 that read or wrote it: how they ended, how many inputs and outputs they"
            " told, when their first and last event were (the producer's clock) and when that was"
            " committed (ours). `alone` in evidence: no event came. Outputs without inputs: see M1."
        ),
        unit="short",
        queries=(_RUNS,),
        no_value="none",
        width=24,
        height=10,
        links=(links.of_variable(), links.runbook("failed")),
        data_links=links.of_run(),
    )

"""Debug dashboard: the way of events, and one dataset with everything around it."""

from dashboards.grafana import links
from dashboards.grafana.debug_flow import (
    evidence_panels,
    growth_panels,
    spool_panels,
    stage_panels,
    unparsed_panel,
)
from dashboards.grafana.spec import ApiQuery, Board, Column, Panel, PanelRow

_CHOSEN = "dataset_namespace=${dataset_namespace:percentencode}&dataset=${dataset:percentencode}"
_ARCS = tuple(Column(f"arc__{one}", "number") for one in ("bad", "unknown", "learning", "good"))
_NODES = ApiQuery(
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
_EDGES = ApiQuery(
    url=f"/api/v1/graph/edges?{_CHOSEN}&depth=2",
    root="edges",
    form="node-graph-edges",
    columns=(
        *(Column(name) for name in ("id", "source", "target", "mainstat")),
        Column("job_names", text="detail__job_names"),
    ),
)
_RUNS = ApiQuery(
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


def debug_dashboard() -> Board:
    """Return the dashboard for a search after a missing event."""
    return Board(
        uid=links.DEBUG,
        title="Lineage: debug",
        description="For people who run Lineward or producers: spool, lag, parsing, evidence.",
        since="now-3h",
        refresh="30s",
        single=True,
        rows=(
            PanelRow("Selected dataset", (_graph(), _runs())),
            PanelRow("Spool", spool_panels()),
            PanelRow("Lag by stage", stage_panels()),
            PanelRow("Events that failed", unparsed_panel()),
            PanelRow("Verification of reported edges", evidence_panels()),
            PanelRow("Growth", growth_panels()),
        ),
    )


def _graph() -> Panel:
    return Panel(
        kind="graph",
        title="Lineage",
        description=(
            "The selected dataset with two hops upstream and downstream, at most 200 datasets."
            " Colour shows the most severe state: red bad, orange unknown, blue learning, green"
            " good. Nothing is green while the pipeline is down. From /api/v1/graph, through the"
            " Infinity data source."
        ),
        unit="string",
        queries=(_NODES, _EDGES),
        no_value="select a dataset",
        width=24,
        height=12,
        links=(links.of_variable(), links.on_call(then=True)),
        data_links=links.of_dataset(),
    )


def _runs() -> Panel:
    return Panel(
        kind="table",
        title="Recent runs",
        description=(
            "The newest 50 runs that read or wrote the dataset: status, number of reported"
            " inputs and outputs, time of first and last event (producer clock), and commit time"
            " (server clock). Evidence `alone`: no event was received. Outputs without inputs:"
            " see M1."
        ),
        unit="short",
        queries=(_RUNS,),
        no_value="none",
        width=24,
        height=10,
        links=(links.of_variable(), links.runbook("failed")),
        data_links=links.of_run(),
    )

"""Panels and dashboards in the SDK's words."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from grafana_foundation_sdk.builders import (
    bargauge,
    common,
    heatmap,
    nodegraph,
    prometheus,
    stat,
    table,
    timeseries,
)
from grafana_foundation_sdk.models.common import (
    BigValueColorMode,
    BigValueGraphMode,
    DataSourceRef,
    GraphThresholdsStyleMode,
    LegendDisplayMode,
    VizOrientation,
)
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

from dashboards.grafana import infinity
from dashboards.grafana.infinity import InfinityBuilder
from dashboards.grafana.sdk import dashboard as sdk
from dashboards.grafana.sdk import models
from dashboards.grafana.spec import ApiQuery, Link, Panel, Query

SOURCE: Final = DataSourceRef(type_val="prometheus", uid="${prometheus}")
_REFS: Final = "ABCDEFGH"
_BUILDERS: Final[dict[str, Any]] = {
    "stat": stat.Panel,
    "trend": timeseries.Panel,
    "bars": bargauge.Panel,
    "table": table.Panel,
    "heat": heatmap.Panel,
    "graph": nodegraph.Panel,
}
_ARCS: Final = {"bad": "red", "unknown": "orange", "learning": "blue", "good": "green"}
_DASH: Final = "\N{EN DASH}"
_RATIO: Final = "percentunit"
_DECIMALS: Final = 2  # of 98.96 % beside an objective of 99 %
_NOW: Final = ("stat", "bars", "table")  # of one instant; the others of a span


def place_panel(panel: Panel, number: int, x: int, y: int) -> Any:  # noqa: ANN401 - each kind has its own builder
    """Place a panel and give it a unique id."""
    made: Any = _BUILDERS[panel.kind]()
    made.id(number).title(panel.title).description(panel.description).unit(panel.unit)
    made.grid_pos(models.GridPos(h=panel.height, w=panel.width, x=x, y=y))
    # A cell without a sample is not a table without rows.
    made.no_value(panel.no_value)
    made.mappings([_nothing(_DASH if panel.kind == "table" else panel.no_value)])
    made.thresholds(sdk.ThresholdsConfig().mode(models.ThresholdsMode.ABSOLUTE).steps(
        [models.Threshold(value=value, color=color) for value, color in panel.steps]
    ))  # fmt: skip
    made.links([_link(one) for one in panel.links])
    if panel.kind != "graph":
        made.data_links([_link(one) for one in panel.data_links])
    asks_api = any(isinstance(one, ApiQuery) for one in panel.queries)
    made.datasource(infinity.SOURCE if asks_api else SOURCE)
    queries: Sequence[Query | ApiQuery] = panel.queries
    for ref_id, query in zip(_REFS, queries, strict=False):
        made.with_target(_target(panel, ref_id, query))
    _bound(made, panel)
    _SHAPED[panel.kind](made, panel)
    return made


def _bound(made: Any, panel: Panel) -> None:  # noqa: ANN401 - as above
    if panel.unit == _RATIO:
        made.decimals(_DECIMALS)
    if panel.back is not None:
        made.time_from(panel.back)
    if panel.lowest is not None:
        made.min(panel.lowest)
    if panel.highest is not None:
        made.max(panel.highest)


def _nothing(text: str) -> models.ValueMapping:
    """Return the mapping of no sample to a word in grey, never in the colour of a value."""
    result = models.ValueMappingResult(text=text, color="gray", index=0)
    options = sdk.DashboardSpecialValueMapOptions()
    options.match(models.SpecialValueMatch.NULL_AND_NAN).result(result)
    return models.SpecialValueMap(options=options.build())


def _link(one: Link) -> sdk.DashboardLink:
    link = sdk.DashboardLink(one.title).type(models.DashboardLinkType.LINK).url(one.url)
    return link.target_blank(not one.url.startswith("/d/"))


def _target(panel: Panel, ref_id: str, query: Query | ApiQuery) -> Any:  # noqa: ANN401 - of either data source
    if isinstance(query, ApiQuery):
        return InfinityBuilder(ref_id, query)
    made = prometheus.Dataquery().ref_id(ref_id).expr(query.expr).datasource(SOURCE)
    made.legend_format(query.legend or "__auto")
    made = made.instant() if panel.kind in _NOW else made.range()
    if panel.kind == "table":
        made.format(PromQueryFormat.TABLE)
    if panel.kind == "heat" and query.expr.count("_bucket"):
        made.format(PromQueryFormat.HEATMAP)
    return made


def _stat(made: stat.Panel, _panel: Panel) -> None:
    made.color_mode(BigValueColorMode.BACKGROUND).graph_mode(BigValueGraphMode.NONE)
    made.reduce_options(common.ReduceDataOptions().calcs(["last"]).values(False))  # noqa: FBT003 - the SDK's


def _bars(made: bargauge.Panel, _panel: Panel) -> None:
    made.orientation(VizOrientation.HORIZONTAL)
    made.reduce_options(common.ReduceDataOptions().calcs(["last"]).values(False))  # noqa: FBT003 - the SDK's


def _trend(made: timeseries.Panel, panel: Panel) -> None:
    legend = common.VizLegendOptions().show_legend(True)  # noqa: FBT003 - the SDK's
    made.legend(legend.display_mode(LegendDisplayMode.LIST).calcs(["last"]))
    # A gap in what was measured stays a gap.
    made.span_nulls(False).line_width(1).fill_opacity(8)  # noqa: FBT003 - as above
    if len(panel.steps) > 1:
        style = common.GraphThresholdsStyleConfig().mode(GraphThresholdsStyleMode.DASHED)
        made.thresholds_style(style)


def _heat(made: heatmap.Panel, panel: Panel) -> None:
    expressions = [one.expr for one in panel.queries if isinstance(one, Query)]
    # A histogram has its buckets; of a gauge Grafana makes them.
    made.calculate(not any("_bucket" in expr for expr in expressions))
    made.y_axis(heatmap.YAxisConfig().unit(panel.unit))  # a panel's own unit is not looked at
    made.show_value("never")  # type: ignore[arg-type]


def _graph(made: nodegraph.Panel, panel: Panel) -> None:
    arcs = [
        nodegraph.ArcOption().field(f"arc__{state}").color(color) for state, color in _ARCS.items()
    ]
    made.nodes(nodegraph.NodeOptions().arcs(list(arcs)))
    # Links of the panel would stand in a node's menu once for each of its fields, and in an edge's.
    leads = [{"title": one.title, "url": one.url} for one in panel.data_links]
    made.override_by_name("dataset", [models.DynamicConfigValue("links", leads)])


def _table(made: table.Panel, panel: Panel) -> None:
    made.filterable(True)  # noqa: FBT003 - the SDK's
    made.sort_by([_sorted(one) for one in panel.sorted_by])
    for name, unit in _units(panel):
        made.override_by_name(name, _as_unit(unit))
    if any(isinstance(one, ApiQuery) for one in panel.queries):
        return
    values = dict(_values(panel))
    shown = [*panel.columns, *values]
    made.with_transformation(models.DataTransformerConfig("merge", options={}))
    kept = {"include": {"names": shown}}
    made.with_transformation(models.DataTransformerConfig("filterFieldsByName", options=kept))
    order = {name: place for place, name in enumerate(shown)}
    options = {"indexByName": order, "renameByName": values, "excludeByName": {}}
    made.with_transformation(models.DataTransformerConfig("organize", options=options))


def _sorted(column: str) -> common.TableSortByFieldState:
    name = column.removeprefix("-")
    return common.TableSortByFieldState().display_name(name).desc(name != column)


def _as_unit(unit: str) -> list[models.DynamicConfigValue]:
    found = [models.DynamicConfigValue("unit", unit)]
    return [*found, models.DynamicConfigValue("decimals", _DECIMALS)] if unit == _RATIO else found


def _values(panel: Panel) -> Iterator[tuple[str, str]]:
    """Return Grafana's name of each query's column, and ours."""
    queries = [one for one in panel.queries if isinstance(one, Query)]
    for ref_id, query in zip(_REFS, queries, strict=False):
        yield ("Value" if len(queries) == 1 else f"Value #{ref_id}"), query.legend


def _units(panel: Panel) -> Iterable[tuple[str, str]]:
    """Yield columns with a unit of their own; as text, a name of digits is no number."""
    yield from ((name, "string") for name in panel.columns)
    for query in panel.queries:
        if isinstance(query, Query):
            if query.unit is not None:
                yield query.legend, query.unit
            continue
        for column in query.columns:
            unit = "string" if column.kind == "string" else column.unit
            if unit is not None:
                yield column.text or column.selector, unit


_SHAPED: Final[dict[str, Any]] = {
    "stat": _stat,
    "trend": _trend,
    "bars": _bars,
    "table": _table,
    "heat": _heat,
    "graph": _graph,
}

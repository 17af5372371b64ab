"""Variables, annotations and links around the panels of each dashboard."""

from collections.abc import Iterator
from typing import Final

from dashboards.grafana import infinity, links
from dashboards.grafana.building import SOURCE
from dashboards.grafana.queries import NAMED, recent_changes, service_max
from dashboards.grafana.sdk import dashboard as sdk
from dashboards.grafana.sdk import models

_ALL: Final = models.VariableOption(selected=True, text="All", value="$__all")
_OWNED: Final = "lineage_(datasets_without_lineage|dataset_state|incident_open)"
_LABELS: Final = {
    "tier": ("Tier", "label_values(lineage_sli_objective_ratio, tier)"),
    "owner": ("Owner", f'label_values({{__name__=~"{_OWNED}"}}, owner)'),
    "dataset_namespace": (
        "Dataset namespace",
        'label_values(lineage_dataset_state{tier=~"$tier"}, dataset_namespace)',
    ),
    "dataset": (
        "Dataset",
        'label_values(lineage_dataset_state{dataset_namespace%s"$dataset_namespace"}, dataset)',
    ),
}


def dashboard_variables(url: str, *, single: bool) -> Iterator[sdk.QueryVariable]:
    """Return data sources, Lineward's address, and the filters of panels.

    Args:
        url: of Lineward's pages, as readers reach them.
        single: one dataset is chosen; it may be one that no series names.
    """
    yield sdk.DatasourceVariable("prometheus").label("Prometheus").type("prometheus")  # type: ignore[misc]
    if single:
        yield sdk.DatasourceVariable("infinity").label("Lineward's API").type(infinity.TYPE)  # type: ignore[misc]
    yield sdk.ConstantVariable("lineward").value(url)  # type: ignore[misc]
    for name, (label, query) in _LABELS.items():
        # Grafana escapes a value for a regular expression only where there may be several.
        asked = query.replace("%s", "=" if single else "=~")
        made = sdk.QueryVariable(name).label(label).query(asked).datasource(SOURCE)
        # Queried again with each refresh, what is chosen and no longer bad would become another.
        made.refresh(models.VariableRefresh.ON_DASHBOARD_LOAD)
        made.sort(models.VariableSort.ALPHABETICAL_ASC).allow_custom_value(True)  # noqa: FBT003 - the SDK's
        if not (single and name in NAMED):
            made.multi(True).include_all(True).all_value(".*").current(_ALL)  # noqa: FBT003 - as above
        yield made


def annotations() -> Iterator[sdk.AnnotationQuery]:
    """Return deployments, suppression windows and incidents, as spans or instants."""
    yield (
        _annotation(
            "Incidents",
            "red",
            'max by (incident, severity, owner) (lineage_incident_open{owner=~"$owner"})',
        )
        .title_format("Incident {{incident}}")
        .text_format("{{severity}}, {{owner}}")
    )
    yield (
        _annotation(
            "Suppression windows",
            "blue",
            f"{service_max('lineage_suppression_active', 'name')} > 0",
        )
        .title_format("Planned: {{name}}")
        .text_format("incidents suppressed")
    )
    deployed = _annotation("Deployments", "green", recent_changes('change="code"'))
    deployed.title_format("New code writes {{dataset}}").text_format("{{dataset_namespace}}")
    yield deployed.use_value_for_time(True)  # noqa: FBT003 - the SDK's


def _annotation(name: str, color: str, expr: str) -> sdk.AnnotationQuery:
    made = sdk.AnnotationQuery().name(name).datasource(SOURCE).enable(True).icon_color(color)  # noqa: FBT003 - the SDK's
    return made.expr(expr).step("60s")


def onward(uid: str) -> Iterator[sdk.DashboardLink]:
    """Yield links to the other dashboards and to the explorer."""
    titles = {links.EXECUTIVE: "Trust", links.ON_CALL: "Broken", links.DEBUG: "Events"}
    for other, title in titles.items():
        if other != uid:
            link = sdk.DashboardLink(title).type(models.DashboardLinkType.LINK)
            # The executive one is of a month: neither there nor from there is a time the same.
            yield link.url(links.board(other, then=links.EXECUTIVE not in {uid, other}))
    home = sdk.DashboardLink("Explorer").type(models.DashboardLinkType.LINK)
    yield home.url(f"{links.BASE}/").target_blank(True)  # noqa: FBT003 - as above

"""Rows of the executive dashboard on compliance: what lacks lineage, owners or tags."""

from dashboards.grafana import links
from dashboards.grafana.queries import SELECTED_TIER, WITHOUT_LINEAGE, service_max
from dashboards.grafana.spec import (
    GREEN,
    RED,
    YELLOW,
    ObjectiveLookup,
    Panel,
    Query,
    bad_from,
    good_from,
)

_WITHOUT_OWNER = service_max("lineage_datasets_without_owner", "tier", where=SELECTED_TIER)


def provenance_panels(asked: ObjectiveLookup) -> tuple[Panel, ...]:
    """Return the datasets without a known origin: how many, since when, and whose."""
    rate = service_max("lineage_missing_provenance_ratio", "tier", where=SELECTED_TIER)
    named = 'label_replace({}, "owner", "(nobody)", "owner", "^$")'
    by_owner = named.format(f"sum by (owner) ({WITHOUT_LINEAGE})")
    return (
        Panel(
            kind="bars",
            title="Unsourced reads",
            description=(
                "M5, last 24 hours: reads of datasets without a known writer, over all reads. 0"
                " is best. Above the objective: find the jobs that write these datasets."
            ),
            unit="percentunit",
            queries=(Query(rate, "{{tier}}"),),
            no_value="no data",
            steps=bad_from(float(1 - asked("missing_provenance", "critical"))),
            width=6,
            lowest=0,
            highest=1,
            links=(links.on_call(), links.runbook("LineageProvenanceBurn")),
        ),
        Panel(
            kind="trend",
            title="Datasets without lineage, 7 days",
            description=(
                "Datasets that are bad in M1, by tier. The number should fall. A step up means"
                " a job without its listener, or a renamed dataset."
            ),
            unit="short",
            queries=(Query(f"sum by (tier) ({WITHOUT_LINEAGE})", "{{tier}}"),),
            no_value="unknown",
            width=10,
            back="7d",
            lowest=0,
            links=(links.on_call(), links.runbook("LineageCoverageBurn")),
        ),
        Panel(
            kind="bars",
            title="Datasets without lineage by owner",
            description=(
                "Datasets that are bad in M1 for each of the 50 largest owners; the rest is"
                " (other). (nobody): neither the policy nor an event names an owner."
            ),
            unit="short",
            queries=(Query(f"sort_desc({by_owner})", "{{owner}}"),),
            no_value="unknown",
            steps=((None, GREEN), (1, YELLOW)),
            width=8,
            lowest=0,
            links=(links.on_call(), links.page("All bad datasets", "/datasets?state=bad")),
        ),
    )


def compliance_panels(asked: ObjectiveLookup) -> tuple[Panel, ...]:
    """Return panels for auditors."""
    regulated = 'tier="regulated"'
    return (
        Panel(
            kind="stat",
            title="Required fields reported",
            description=(
                "M3a of regulated datasets: reported fields over required fields. No data: no"
                " rule of the policy says regulated."
            ),
            unit="percentunit",
            queries=(Query(service_max("lineage_node_completeness_ratio", where=regulated)),),
            no_value="no data",
            steps=good_from(asked("node_completeness", "regulated")),
            width=5,
            height=6,
            links=(links.on_call(), links.runbook("NodeCompletenessBurn")),
        ),
        Panel(
            kind="stat",
            title="Expected edges reported",
            description=(
                "M3b of regulated datasets: edges reported within their limits over expected"
                " edges. No data: no rule of the policy says regulated."
            ),
            unit="percentunit",
            queries=(Query(service_max("lineage_edge_completeness_ratio", where=regulated)),),
            no_value="no data",
            steps=good_from(asked("edge_completeness", "regulated")),
            width=5,
            height=6,
            links=(links.on_call(), links.runbook("EdgeCompletenessBurn")),
        ),
        Panel(
            kind="stat",
            title="Datasets without an owner",
            description=(
                "Neither the policy nor an event names an owner. The platform team is notified"
                " about these datasets. Set an owner in lineward.yaml."
            ),
            unit="short",
            queries=(Query(f"sum({_WITHOUT_OWNER})"),),
            no_value="unknown",
            steps=((None, GREEN), (1, YELLOW)),
            width=4,
            height=6,
            links=(links.page("Datasets", "/datasets"), links.on_call()),
        ),
        Panel(
            kind="stat",
            title="Personal data without a tag",
            description=(
                "Datasets that the policy declares as pii and that have no tag pii. Their"
                " producer should send the tags facet. `none declared`: no rule says pii."
            ),
            unit="short",
            queries=(Query(service_max("lineage_pii_datasets", where='tagged="no"')),),
            no_value="none declared",
            steps=((None, GREEN), (1, RED)),
            width=4,
            height=6,
            links=(links.page("Datasets", "/datasets"), links.on_call()),
        ),
        Panel(
            kind="trend",
            title="Unauthorized accesses by reason",
            description=(
                "M10: requests per day that were allowed against the policy, or not audited."
                " Empty: no such requests, or no audit (see the first row)."
            ),
            unit="short",
            queries=(
                Query(
                    "max by (reason) (increase(lineage_access_unauthorized_total[1d]))",
                    "{{reason}}",
                ),
            ),
            no_value="none",
            steps=bad_from(0.5),
            width=6,
            height=6,
            lowest=0,
            links=(links.on_call(), links.runbook("UnauthorizedAccess")),
        ),
    )
